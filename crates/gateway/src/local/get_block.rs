//! `eth_getBlockByHash`, `eth_getBlockByNumber`: a block, with whole transactions or their hashes.

use super::question::Named;
use super::{LocalAnswer, Question};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(question: &Question<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(question.params, 2)?;
    let whole = params.boolean(1)?;
    let view = question.view().await?;
    let named = question.named(&view, &params).await?;
    let Named::Stored(number) = named else { return Ok(named.not_stored()) };
    let Some(block) = view.block(question.chain, number).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    let mut json = Vec::with_capacity(1024 + block.txs.len() * if whole { 1024 } else { 68 });
    block.write_json(whole, &mut json);
    Ok(LocalAnswer::Known(json))
}
