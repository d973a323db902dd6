//! `eth_getBlockTransactionCountByHash`, `eth_getBlockTransactionCountByNumber`.

use super::store_call::NamedBlock;
use super::{LocalAnswer, StoreCall};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(call.params, 1)?;
    let view = call.view().await?;
    let named = call.named(&view, &params).await?;
    let NamedBlock::Stored(number) = named else { return Ok(named.not_stored()) };
    let block = view.block_summary(call.chain, number).await?;
    Ok(block.map_or(LocalAnswer::AskNode, |b| LocalAnswer::quantity(b.tx_count.into())))
}
