//! One block record `{block, receipts, traces?}` in JSON-RPC shapes, a block alone, or a genesis file → a block.

use super::rlp::genesis_json;
use model::raw::{Block, BlockTraces, Malformed, TraceFault, Tx, read_receipts};
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
    /// Only a genesis file has it.
    #[serde(borrow, default)]
    alloc: Option<&'a RawValue>,
}

pub fn read_record(text: &[u8]) -> Result<Block, Malformed> {
    let record: Record =
        serde_json::from_slice(text).map_err(|e| Malformed::new("record", &e.to_string()))?;
    if record.block.is_none() && record.alloc.is_some() {
        let text =
            std::str::from_utf8(text).map_err(|e| Malformed::new("record", &e.to_string()))?;
        let block = Block::read(genesis_json(text)?.to_string().as_bytes())?;
        return block.ok_or_else(|| Malformed::new("genesis", "no block"));
    }
    // A block alone, without the record around it, is good enough where it has no transactions.
    let block = record.block.map_or(text, |block| block.get().as_bytes());
    let mut block = Block::read(block)?.ok_or_else(|| Malformed::new("record", "block is null"))?;
    if let Some(receipts) = record.receipts {
        block.set_receipts(read_receipts(receipts.get().as_bytes())?)?;
    }
    if let Some(traces) = record.traces {
        block.set_traces(read_traces(traces.get(), &block.txs)?);
    }
    Ok(block)
}

/// Either dialect: geth wraps each transaction's tree in `result` beside no `action`. A list that lacks the
/// trace of some transaction is as good as none.
fn read_traces(text: &str, txs: &[Tx]) -> Result<Option<BlockTraces>, Malformed> {
    let head = text.trim_start();
    if head == "null" {
        return Ok(None);
    }
    let parity = text.contains("\"traceAddress\"") || text.contains("\"action\"");
    let traces = if parity || txs.is_empty() {
        BlockTraces::read_trace_block(text, txs)
    } else {
        BlockTraces::read_call_tracer(text, txs)
    };
    match traces {
        Ok(traces) => Ok(Some(traces)),
        Err(TraceFault::Missing { .. }) => Ok(None),
        Err(TraceFault::Malformed(malformed)) => Err(malformed),
    }
}
