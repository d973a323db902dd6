//! `eth_getTransactionByHash`, and the same as raw bytes: one transaction of a stored block. What is pending is a node's to
//! tell.

use super::{LocalAnswer, StoreCall, TxForm};
use crate::answer::Failure;
use crate::params::Params;

pub async fn answer(call: &StoreCall<'_>, form: TxForm) -> Result<LocalAnswer, Failure> {
    let hash = Params::read(call.params, 1)?.hash(0)?;
    let view = call.view().await?;
    let Some((number, index)) = view.place_of_tx(call.chain, hash).await? else {
        return Ok(call.not_found(&view.coverage(call.chain).await?).not_stored());
    };
    let Some(row) = view.transaction(call.chain, number, index).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    Ok(form(&row.tx).map_or(LocalAnswer::AskNode, LocalAnswer::Known))
}
