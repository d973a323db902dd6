//! `eth_getLogs`: logs by address, topics and range, or of one block by its hash.

use store::{LogsQuery, View};

use super::log_filter::{LogFilter, LogRange};
use super::store_call::NamedBlock;
use super::{LocalAnswer, StoreCall};
use crate::answer::Failure;
use crate::params::{BlockTag, Params};

pub async fn answer(call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(call.params, 1)?;
    logs_of(call, LogFilter::read(params.raw(0), call.config)?).await
}

pub async fn logs_of(call: &StoreCall<'_>, filter: LogFilter) -> Result<LocalAnswer, Failure> {
    let view = call.view().await?;
    let Some((from, to)) = range(call, &view, &filter).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    logs(call, &view, filter, (from, to)).await
}

/// The blocks to look at, if all of them are stored with their receipts.
async fn range(
    call: &StoreCall<'_>,
    view: &View,
    filter: &LogFilter,
) -> Result<Option<(u64, u64)>, Failure> {
    let (from, to) = match &filter.range {
        LogRange::Block(hash) => match call.of_hash(view, *hash).await? {
            NamedBlock::Stored(number) => (number, number),
            NamedBlock::Absent => return Err(Failure::new(-32000, "unknown block")),
            NamedBlock::Unknown => return Ok(None),
        },
        LogRange::Blocks { from, to } => {
            let ends = (end(call, view, from).await?, end(call, view, to).await?);
            let (Some(from), Some(to)) = ends else { return Ok(None) };
            if from > to {
                return Err(Failure::new(-32602, "invalid block range params"));
            }
            let newest = view.coverage(call.chain).await?.newest();
            if !call.head.has_nodes() && newest.is_some_and(|newest| to > newest) {
                let why = "block range extends beyond current head block";
                return Err(Failure::new(-32602, why));
            }
            (from, to)
        }
    };
    let is_stored = view.coverage(call.chain).await?.covers(from, to)
        && view.first_receiptless(call.chain, from, to).await?.is_none();
    if !is_stored {
        return Ok(None);
    }
    let (blocks, max) = ((to - from).saturating_add(1), call.config.logs_blocks_max);
    if blocks > max {
        let range = format!("fromBlock {from:#x} to toBlock {to:#x}");
        let why = format!(
            "{range} are {blocks} blocks; at most {max} are taken (gateway.logs_blocks_max)"
        );
        return Err(Failure::params(&why));
    }
    Ok(Some((from, to)))
}

async fn end(call: &StoreCall<'_>, view: &View, tag: &BlockTag) -> Result<Option<u64>, Failure> {
    if let BlockTag::Number(number) = tag {
        return Ok(Some(*number));
    }
    Ok(match call.of_tag(view, *tag).await? {
        NamedBlock::Stored(number) => Some(number),
        NamedBlock::Absent | NamedBlock::Unknown => None,
    })
}

async fn logs(
    call: &StoreCall<'_>,
    view: &View,
    filter: LogFilter,
    (from_block, to_block): (u64, u64),
) -> Result<LocalAnswer, Failure> {
    let max = call.config.logs_max;
    let LogFilter { addresses, topics, .. } = filter;
    let chain = call.chain;
    let limit = max.saturating_add(1);
    let query = LogsQuery { chain, from_block, to_block, addresses, topics, limit };
    let page = view.logs(&query).await?;
    // One block is given whole: it could not be asked for in parts.
    let block_of = |log: &model::raw::Log| log.block_number;
    let blocks = page.logs.first().map(block_of) != page.logs.last().map(block_of);
    if page.logs.len() > max && (blocks || page.next_block.is_some()) {
        return Err(too_many(&page.logs, (from_block, max)));
    }
    let mut json = Vec::with_capacity(2 + page.logs.len() * 512);
    json.push(b'[');
    for (place, log) in page.logs.iter().enumerate() {
        if place > 0 {
            json.push(b',');
        }
        log.write_json(&mut json);
    }
    json.push(b']');
    Ok(LocalAnswer::Known(json))
}

/// The words that clients know, and a range that can be had.
fn too_many(logs: &[model::raw::Log], (from, max): (u64, usize)) -> Failure {
    let numbers = || logs.iter().filter_map(|log| log.block_number);
    let over = numbers().nth(max).unwrap_or(from);
    // The last block that ends before the limit does; at least the first.
    let to = over.saturating_sub(1).max(numbers().next().unwrap_or(from)).max(from);
    let why = format!(
        "query returned more than {max} results (gateway.logs_max); \
         ask for fromBlock {from:#x} to toBlock {to:#x}, and for the rest after it"
    );
    Failure::new(-32005, &why)
}
