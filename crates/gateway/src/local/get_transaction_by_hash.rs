//! `eth_getTransactionByHash`: one transaction of a stored block. What is pending is a node's to tell.

use super::{LocalAnswer, Question};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(question: &Question<'_>) -> Result<LocalAnswer, Failure> {
    let hash = Params::read(question.params, 1)?.hash(0)?;
    let view = question.view().await?;
    let Some((number, index)) = view.place_of_tx(question.chain, hash).await? else {
        return Ok(question.not_found(&view.coverage(question.chain).await?).not_stored());
    };
    let Some(row) = view.transaction(question.chain, number, index).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    let mut json = Vec::with_capacity(1024);
    row.tx.write_json(&mut json);
    Ok(LocalAnswer::Known(json))
}
