//! `eth_getLogs`: logs by address, topics and range, or of one block by its hash.

use store::{LogsQuery, View};

use super::log_filter::{LogFilter, LogRange};
use super::question::Named;
use super::{LocalAnswer, Question};
use crate::answer::Failure;
use crate::params::{BlockTag, Params};

pub async fn answer(question: &Question<'_>) -> Result<LocalAnswer, Failure> {
    let params = Params::read(question.params, 1)?;
    logs_of(question, LogFilter::read(params.raw(0), question.config)?).await
}

pub async fn logs_of(question: &Question<'_>, filter: LogFilter) -> Result<LocalAnswer, Failure> {
    let view = question.view().await?;
    let Some((from, to)) = range(question, &view, &filter).await? else {
        return Ok(LocalAnswer::AskNode);
    };
    logs(question, &view, filter, (from, to)).await
}

/// The blocks to look at, if all of them are stored with their receipts.
async fn range(
    question: &Question<'_>,
    view: &View,
    filter: &LogFilter,
) -> Result<Option<(u64, u64)>, Failure> {
    let (from, to) = match &filter.range {
        LogRange::Block(hash) => match question.of_hash(view, *hash).await? {
            Named::Stored(number) => (number, number),
            Named::Absent => return Err(Failure::new(-32000, "unknown block")),
            Named::Unknown => return Ok(None),
        },
        LogRange::Blocks { from, to } => {
            let ends = (end(question, view, from).await?, end(question, view, to).await?);
            let (Some(from), Some(to)) = ends else { return Ok(None) };
            if from > to {
                return Err(Failure::new(-32602, "invalid block range params"));
            }
            let newest = view.coverage(question.chain).await?.newest();
            if !question.head.has_nodes() && newest.is_some_and(|newest| to > newest) {
                let why = "block range extends beyond current head block";
                return Err(Failure::new(-32602, why));
            }
            (from, to)
        }
    };
    let is_stored = view.coverage(question.chain).await?.covers(from, to)
        && view.first_receiptless(question.chain, from, to).await?.is_none();
    if !is_stored {
        return Ok(None);
    }
    let (blocks, max) = ((to - from).saturating_add(1), question.config.logs_blocks_max);
    if blocks > max {
        let range = format!("fromBlock {from:#x} to toBlock {to:#x}");
        let why = format!(
            "{range} are {blocks} blocks; at most {max} are taken (gateway.logs_blocks_max)"
        );
        return Err(Failure::params(&why));
    }
    Ok(Some((from, to)))
}

async fn end(question: &Question<'_>, view: &View, tag: &BlockTag) -> Result<Option<u64>, Failure> {
    if let BlockTag::Number(number) = tag {
        return Ok(Some(*number));
    }
    Ok(match question.of_tag(view, *tag).await? {
        Named::Stored(number) => Some(number),
        Named::Absent | Named::Unknown => None,
    })
}

async fn logs(
    question: &Question<'_>,
    view: &View,
    filter: LogFilter,
    (from_block, to_block): (u64, u64),
) -> Result<LocalAnswer, Failure> {
    let max = question.config.logs_max;
    let LogFilter { addresses, topics, .. } = filter;
    let chain = question.chain;
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
