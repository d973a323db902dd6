//! `web3_sha3`: Keccak-256 of the bytes given.

use alloy_primitives::keccak256;
use serde_json::value::RawValue;

use super::LocalAnswer;
use crate::answer::Failure;
use crate::params::Params;

pub fn answer(params: Option<&RawValue>) -> Result<LocalAnswer, Failure> {
    let bytes = Params::read(params, 1)?.bytes(0)?;
    Ok(LocalAnswer::Known(format!("\"{}\"", keccak256(&bytes)).into()))
}
