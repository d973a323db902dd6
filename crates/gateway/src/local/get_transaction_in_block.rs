//! `eth_getTransactionByBlockHashAndIndex`, `eth_getTransactionByBlockNumberAndIndex`: one transaction by its place; null
//! where a stored block has none there.

use super::question::Named;
use super::{LocalAnswer, Question};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(question: &Question<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(question.params, 2)?;
    let index = params.quantity(1)?;
    let view = question.view().await?;
    let named = question.named(&view, &params).await?;
    let Named::Stored(number) = named else { return Ok(named.not_stored()) };
    let Some(block) = view.block_summary(question.chain, number).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    // An index no block can have is out of range like any other.
    let Some(index) = u32::try_from(index).ok().filter(|i| *i < block.tx_count) else {
        return Ok(LocalAnswer::null());
    };
    let Some(row) = view.transaction(question.chain, number, index).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    let mut json = Vec::with_capacity(1024);
    row.tx.write_json(&mut json);
    Ok(LocalAnswer::Known(json))
}
