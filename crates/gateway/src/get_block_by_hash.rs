//! `eth_getBlockByHash`: the block with this hash, with whole transactions or their hashes.

use model::chain::ChainId;
use serde_json::value::RawValue;
use store::View;

use crate::answer::Failure;
use crate::local::LocalAnswer;
use crate::params::Params;

pub async fn answer(
    view: &View,
    chain: ChainId,
    params: Option<&RawValue>,
) -> Result<LocalAnswer, Failure> {
    let params = Params::read(params, 2)?;
    let (hash, whole) = (params.hash(0)?, params.boolean(1)?);
    let Some(number) = view.number_of(chain, hash).await? else { return Ok(LocalAnswer::AskNode) };
    let Some(block) = view.block(chain, number).await? else { return Ok(LocalAnswer::AskNode) };
    let mut json = Vec::with_capacity(1024 + block.txs.len() * if whole { 1024 } else { 68 });
    block.write_json(whole, &mut json);
    Ok(LocalAnswer::Known(json))
}
