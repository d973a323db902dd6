//! `eth_getBlockReceipts`: all receipts of a block, in order.

use super::store_call::NamedBlock;
use super::{LocalAnswer, StoreCall};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(call.params, 1)?;
    let view = call.view().await?;
    let named = call.named(&view, &params).await?;
    let NamedBlock::Stored(number) = named else { return Ok(named.not_stored()) };
    let Some(block) = view.block_with_receipts(call.chain, number).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    let mut json = Vec::with_capacity(2 + block.receipts.len() * 1024);
    json.push(b'[');
    for (place, receipt) in block.receipts.iter().enumerate() {
        // A block may have been stored without them.
        let Some(receipt) = receipt else { return Ok(LocalAnswer::AskNode) };
        if place > 0 {
            json.push(b',');
        }
        receipt.write_json(&mut json);
    }
    json.push(b']');
    Ok(LocalAnswer::Known(json))
}
