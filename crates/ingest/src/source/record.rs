//! One block record `{block, receipts, traces?}` in JSON-RPC shapes, or a block alone → a block.

use model::raw::{Block, Malformed, read_geth_traces, read_parity_traces, read_receipts};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, default)]
    block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    receipts: Option<&'a RawValue>,
    #[serde(borrow, default)]
    traces: Option<&'a RawValue>,
}

pub fn read_record(text: &[u8]) -> Result<Block, Malformed> {
    let record: Record =
        serde_json::from_slice(text).map_err(|e| Malformed::new("record", &e.to_string()))?;
    // A block alone, without the record around it, is good enough where it has no transactions.
    let block = record.block.map_or(text, |block| block.get().as_bytes());
    let mut block = Block::read(block)?.ok_or_else(|| Malformed::new("record", "block is null"))?;
    if let Some(receipts) = record.receipts {
        block.set_receipts(read_receipts(receipts.get().as_bytes())?)?;
    }
    if let Some(traces) = record.traces {
        block.traces = read_traces(traces.get(), block.txs.len())?;
    }
    Ok(block)
}

/// The records of a list, or the one that it is.
pub fn split_list(text: &[u8]) -> Result<Vec<&[u8]>, Malformed> {
    if text.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[') {
        return Ok(vec![text]);
    }
    let list: Vec<&RawValue> =
        serde_json::from_slice(text).map_err(|e| Malformed::new("list", &e.to_string()))?;
    Ok(list.into_iter().map(|record| record.get().as_bytes()).collect())
}

/// Either dialect: geth wraps each transaction's tree in `result` beside no `action`.
fn read_traces(
    text: &str,
    tx_count: usize,
) -> Result<Option<Vec<Vec<model::raw::Frame>>>, Malformed> {
    let head = text.trim_start();
    if head == "null" {
        return Ok(None);
    }
    let parity = text.contains("\"traceAddress\"") || text.contains("\"action\"");
    let frames = if parity || tx_count == 0 {
        read_parity_traces(text, tx_count)
    } else {
        read_geth_traces(text, tx_count)
    };
    frames.map(Some)
}
