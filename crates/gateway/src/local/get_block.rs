//! `eth_getBlockByHash`, `eth_getBlockByNumber`: a block, with whole transactions or their hashes.

use super::store_call::NamedBlock;
use super::{LocalAnswer, StoreCall};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(call.params, 2)?;
    let whole = params.boolean(1)?;
    let view = call.view().await?;
    let named = call.named(&view, &params).await?;
    let NamedBlock::Stored(number) = named else { return Ok(named.not_stored()) };
    let Some(block) = view.block(call.chain, number).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    let mut json = Vec::with_capacity(1024 + block.txs.len() * if whole { 1024 } else { 68 });
    block.write_json(whole, &mut json);
    Ok(LocalAnswer::Known(json))
}
