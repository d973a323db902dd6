//! `debug_getRawHeader`, `debug_getRawBlock`, `debug_getRawReceipts`: the bytes that are hashed, made again from the fields
//! that are stored. Those that do not hash to what the block says are left to a node.

use alloy_primitives::hex;
use model::raw::Tx;

use super::store_call::NamedBlock;
use super::{LocalAnswer, StoreCall};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(call.params, 1)?;
    let view = call.view().await?;
    let named = call.named(&view, &params).await?;
    let NamedBlock::Stored(number) = named else { return Ok(named.not_stored()) };
    let json = match call.method.name {
        "debug_getRawReceipts" => {
            let block = view.block_with_receipts(call.chain, number).await?;
            let receipts = block.and_then(|block| verify::raw_receipts(&block));
            receipts
                .map(|all| format!("[{}]", all.iter().map(quoted).collect::<Vec<_>>().join(",")))
        }
        name => {
            let encode =
                if name == "debug_getRawBlock" { verify::raw_block } else { verify::raw_header };
            let block = view.block(call.chain, number).await?;
            block.and_then(|block| encode(&block)).as_ref().map(quoted)
        }
    };
    Ok(json.map_or(LocalAnswer::AskNode, |json| LocalAnswer::Known(json.into())))
}

/// `debug_getRawTransaction`, `eth_getRawTransaction…`.
pub fn transaction(tx: &Tx) -> Option<Vec<u8>> {
    verify::raw_transaction(tx).as_ref().map(quoted).map(String::into_bytes)
}

fn quoted(bytes: &Vec<u8>) -> String {
    format!("\"{}\"", hex::encode_prefixed(bytes))
}
