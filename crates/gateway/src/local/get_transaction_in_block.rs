//! `eth_getTransactionByBlockHashAndIndex`, `eth_getTransactionByBlockNumberAndIndex`, and the same as raw bytes: one
//! transaction by its place; null where a stored block has none there.

use super::store_call::NamedBlock;
use super::{LocalAnswer, StoreCall, TxForm};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(call: &StoreCall<'_>, form: TxForm) -> Result<LocalAnswer, Failure> {
    let params = Params::read(call.params, 2)?;
    let index = params.quantity(1)?;
    let view = call.view().await?;
    let named = call.named(&view, &params).await?;
    let NamedBlock::Stored(number) = named else { return Ok(named.not_stored()) };
    let Some(block) = view.block_summary(call.chain, number).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    // An index no block can have is out of range like any other.
    let Some(index) = u32::try_from(index).ok().filter(|i| *i < block.tx_count) else {
        return Ok(LocalAnswer::null());
    };
    let Some(row) = view.transaction(call.chain, number, index).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    Ok(form(&row.tx).map_or(LocalAnswer::AskNode, LocalAnswer::Known))
}
