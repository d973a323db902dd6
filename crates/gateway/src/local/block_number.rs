//! `eth_blockNumber`: the newest block's number.

use super::{LocalAnswer, Question};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(question: &Question<'_>) -> Result<LocalAnswer, Failure> {
    Params::read(question.params, 0)?;
    let view = question.view().await?;
    let newest = question.head.stored(&view, question.chain).await?;
    Ok(newest.map_or(LocalAnswer::AskNode, LocalAnswer::quantity))
}
