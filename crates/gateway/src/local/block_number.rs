//! `eth_blockNumber`: the newest block's number.

use super::{LocalAnswer, StoreCall};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
    Params::read(call.params, 0)?;
    let view = call.view().await?;
    let newest = call.head.stored(&view, call.chain).await?;
    Ok(newest.map_or(LocalAnswer::AskNode, LocalAnswer::quantity))
}
