//! `eth_getTransactionByBlockNumberAndIndex`: one transaction by its place; null where a stored block has none there.

use model::chain::ChainId;
use serde_json::value::RawValue;
use store::View;

use crate::answer::Failure;
use crate::local::LocalAnswer;
use crate::params::{BlockTag, Params};

/// `is_current`: whether the store's newest block is the chain's newest, as far as anyone knows.
pub async fn answer(
    view: &View,
    chain: ChainId,
    params: Option<&RawValue>,
    is_current: impl FnOnce(u64) -> bool,
) -> Result<LocalAnswer, Failure> {
    let params = Params::read(params, 2)?;
    let (tag, index) = (params.block(0)?, params.quantity(1)?);
    let number = match tag {
        BlockTag::Number(number) => number,
        BlockTag::Earliest => 0,
        BlockTag::Latest => match view.coverage(chain).await?.newest() {
            Some(newest) if is_current(newest) => newest,
            _ => return Ok(LocalAnswer::AskNode),
        },
        BlockTag::Pending | BlockTag::NodeOnly => return Ok(LocalAnswer::AskNode),
    };
    let Some(block) = view.block_summary(chain, number).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    // An index no block can have is out of range like any other.
    let Some(index) = u32::try_from(index).ok().filter(|i| *i < block.tx_count) else {
        return Ok(LocalAnswer::Known(b"null".to_vec()));
    };
    let Some(row) = view.transaction(chain, number, index).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    let mut json = Vec::with_capacity(1024);
    row.tx.write_json(&mut json);
    Ok(LocalAnswer::Known(json))
}
