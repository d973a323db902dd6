//! `eth_sendRawTransaction`: the same signed bytes may arrive anywhere and count once, so where a node broke off
//! another is sent them. One that knows them already then has them from the first.

use std::sync::Arc;

use alloy_primitives::{Bytes as HexBytes, keccak256};
use model::raw::json_value::JsonValue;
use rpc::{ByteBudget, Call, Forward, Pool, Repeat, Route};
use serde_json::value::RawValue;

use super::ask;
use crate::answer::Outcome;

/// How nodes say that they have it.
const KNOWN: [&str; 4] =
    ["already known", "already imported", "known transaction", "already exists"];

/// The signed bytes that a call sends, where they are all that it does.
pub fn raw_transaction(call: &Call) -> Option<HexBytes> {
    if call.method() != "eth_sendRawTransaction" {
        return None;
    }
    let list: Vec<&RawValue> = serde_json::from_str(call.params()).ok()?;
    let [raw] = list.as_slice() else { return None };
    HexBytes::read_json(raw.get().as_bytes()).map(|(bytes, _)| bytes)
}

pub async fn send_raw_transaction(
    pool: &Pool,
    call: Call,
    raw: HexBytes,
    budget: &Arc<ByteBudget>,
) -> Outcome {
    let forward = Forward { call, batch: Some(budget), route: Route::default() };
    let forwarded = pool.forward_once(forward, Repeat::SameBytes).await;
    if let Ok(told) = &forwarded
        && let Err(failure) = &told.answer
        && told.may_be_known
        && KNOWN.iter().any(|words| failure.message.to_ascii_lowercase().contains(words))
        && let Some(hash) = hash_of(&raw)
    {
        return Ok(format!("\"{hash}\"").into());
    }
    ask::told(forwarded, "eth_sendRawTransaction")
}

/// What the node that took it would have said. The hash of one with blobs does not cover these; of types that are
/// not known nothing is.
fn hash_of(raw: &[u8]) -> Option<alloy_primitives::B256> {
    let first = raw.first()?;
    (matches!(first, 1 | 2 | 4) || *first >= 0xc0).then(|| keccak256(raw))
}
