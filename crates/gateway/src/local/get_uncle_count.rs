//! `eth_getUncleCountByBlockHash`, `eth_getUncleCountByBlockNumber`.

use super::question::Named;
use super::{LocalAnswer, Question};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(question: &Question<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(question.params, 1)?;
    let view = question.view().await?;
    let named = question.named(&view, &params).await?;
    let Named::Stored(number) = named else { return Ok(named.not_stored()) };
    let header = view.header(question.chain, number).await?;
    let uncles = header.and_then(|header| header.uncles);
    Ok(uncles.map_or(LocalAnswer::AskNode, |list| LocalAnswer::quantity(list.len() as u64)))
}
