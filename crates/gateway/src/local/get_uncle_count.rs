//! `eth_getUncleCountByBlockHash`, `eth_getUncleCountByBlockNumber`.

use super::store_call::NamedBlock;
use super::{LocalAnswer, StoreCall};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(call.params, 1)?;
    let view = call.view().await?;
    let named = call.named(&view, &params).await?;
    let NamedBlock::Stored(number) = named else { return Ok(named.not_stored()) };
    let header = view.header(call.chain, number).await?;
    let uncles = header.and_then(|header| header.uncles);
    Ok(uncles.map_or(LocalAnswer::AskNode, |list| LocalAnswer::quantity(list.len() as u64)))
}
