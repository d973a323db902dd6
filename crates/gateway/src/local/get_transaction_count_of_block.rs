//! `eth_getBlockTransactionCountByHash`, `eth_getBlockTransactionCountByNumber`.

use super::question::Named;
use super::{LocalAnswer, Question};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(question: &Question<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(question.params, 1)?;
    let view = question.view().await?;
    let named = question.named(&view, &params).await?;
    let Named::Stored(number) = named else { return Ok(named.not_stored()) };
    let block = view.block_summary(question.chain, number).await?;
    Ok(block.map_or(LocalAnswer::AskNode, |b| LocalAnswer::quantity(b.tx_count.into())))
}
