//! `eth_getTransactionReceipt`: what became of a transaction of a stored block.

use super::{LocalAnswer, StoreCall};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
    let hash = Params::read(call.params, 1)?.hash(0)?;
    let view = call.view().await?;
    let Some((number, index)) = view.place_of_tx(call.chain, hash).await? else {
        return Ok(call.not_found(&view.coverage(call.chain).await?).not_stored());
    };
    let Some(receipt) = view.receipt(call.chain, number, index).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    let mut json = Vec::with_capacity(1024);
    receipt.write_json(&mut json);
    Ok(LocalAnswer::Known(json))
}
