//! A node's answers about one block → the block, and why it has no traces where it has none.
//!
//! What is missing may come later (the node lags, or its head moved) and is told apart from what is
//! wrong. Traces that cannot be had are neither: the block is good without them.

use model::raw::{Block, BlockTraces, Malformed, TraceFault, Tx, read_header, read_receipt_list};
use rpc::{CallResult, RawAnswer, RpcFailure, RpcFailureKind, Traces};

use super::no_traces::NoTraces;
use super::question::BlockAnswers;
use crate::error::{BlockFault, Error};
use crate::verify::Lie;

pub enum Problem {
    /// The block's number and what is wrong with it.
    Fault(u64, BlockFault),
    Other(Error),
}

/// A block as a node gave it.
pub struct ReadBlock {
    pub block: Block,
    /// None where it has traces, or nothing to trace.
    pub no_traces: Option<NoTraces>,
}

/// `judge` says what else is wrong with a block of which a later part cannot be read: a root that
/// does not fit tells more than a list that is too short.
pub fn read_block(
    number: u64,
    answers: &BlockAnswers,
    upstream: &str,
    judge: &dyn Fn(&Block) -> Option<Lie>,
) -> Result<ReadBlock, Problem> {
    let source = BlockReader { number, upstream };
    let answer = source.take(answers.block, "a block")?.ok_or_else(|| source.not_there())?;
    let mut block = answer
        .read(read_header)
        .ok_or_else(|| Malformed::text("block", answer.json()))
        .and_then(Block::from_header)
        .map_err(|m| Problem::Fault(number, BlockFault::Malformed(m)))?;
    if block.number != number {
        return Err(source.lie("block number", number.to_string(), block.number.to_string()));
    }
    let malformed = |block: &Block, m| {
        let fault = judge(block).map_or(BlockFault::Malformed(m), BlockFault::Lie);
        Problem::Fault(number, fault)
    };
    let count = block.txs.len();
    match source.take(answers.receipts, "receipts")? {
        // An empty list and none at all are the same to some nodes.
        None if count == 0 => {}
        None => return Err(source.not_there()),
        Some(list) => {
            let receipts = list
                .read(read_receipt_list)
                .ok_or_else(|| malformed(&block, Malformed::text("receipts", list.json())))?;
            block.set_receipts(receipts).map_err(|m| malformed(&block, m))?;
        }
    }
    if !block.has_all_receipts() {
        let got = block.receipts.iter().flatten().count().to_string();
        return Err(source.lie("receipt count", format!("{count} receipts"), got));
    }
    // Where there are no transactions, nothing happened, and tracers differ in what they say of genesis.
    let nothing = || BlockTraces { frames: Vec::new(), form: None };
    let traces = if count == 0 { Ok(nothing()) } else { traces(answers, &block.txs) };
    let no_traces = traces.as_ref().err().cloned();
    block.set_traces(traces.ok());
    Ok(ReadBlock { block, no_traces })
}

/// The frames of every transaction, or why there are none.
fn traces(answers: &BlockAnswers, txs: &[Tx]) -> Result<BlockTraces, NoTraces> {
    if answers.dialect == Traces::None {
        return Err(answers.no_traces.cloned().unwrap_or(NoTraces::NotAsked));
    }
    match answers.traces {
        Some(answer) => {
            let is_gone = |failure: &RpcFailure| answers.traces_may_lack && is_gone(failure);
            if answer.as_ref().is_err_and(is_gone) {
                return Err(NoTraces::StateGone);
            }
            read_traces(answer, answers.dialect, txs, AskedBy::Number)
        }
        None => Err(NoTraces::Failed("no answer about its traces".to_owned())),
    }
}

/// What a question about traces named: by a block's hash they are of that block, whatever they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedBy {
    Number,
    Hash,
}

/// One answer about a block's traces; the error says why it is of no use.
pub fn read_traces(
    answer: &CallResult,
    dialect: Traces,
    txs: &[Tx],
    asked: AskedBy,
) -> Result<BlockTraces, NoTraces> {
    let failed = |why: &str| NoTraces::Failed(why.to_owned());
    let answer = match answer {
        Ok(answer) if answer.is_null() => return Err(failed("the node has no traces of it yet")),
        Ok(answer) => answer,
        Err(failure) => return Err(NoTraces::Failed(failure.to_string())),
    };
    let mut why = None;
    let traces = answer.read(|reader| {
        if asked == AskedBy::Number && !is_bound(reader.rest(), dialect) {
            why = Some(NoTraces::Unbound);
            return None;
        }
        let traces = match dialect {
            Traces::None => Err(failed("the node does not trace")),
            Traces::TraceBlock => reader
                .value()
                .ok_or_else(|| failed("its answer is cut off"))
                .and_then(|rows| told(BlockTraces::read_trace_block(text_of(rows), txs))),
            Traces::DebugTraceBlock => told(BlockTraces::next_call_tracer(reader, txs)),
        };
        traces.map_err(|fault| why = Some(fault)).ok()
    });
    // Its end is none of an answer.
    traces.ok_or_else(|| why.unwrap_or_else(|| failed("its answer is no JSON")))
}

fn told(traces: Result<BlockTraces, TraceFault>) -> Result<BlockTraces, NoTraces> {
    traces.map_err(|fault| NoTraces::Failed(fault.to_string()))
}

/// Whether traces say of which block or transactions they are. Older nodes of geth's dialect do not.
fn is_bound(text: &[u8], dialect: Traces) -> bool {
    let has = |name: &str| memchr::memmem::find(text, name.as_bytes()).is_some();
    // What holds no frame is of nothing: its reader says what is missing.
    match dialect {
        Traces::None => true,
        Traces::TraceBlock => {
            has("\"blockHash\"") || has("\"transactionHash\"") || !has("\"action\"")
        }
        Traces::DebugTraceBlock => has("\"txHash\"") || !has("\"result\""),
    }
}

/// Whether the node says that it has this no longer, or not yet.
fn is_gone(failure: &RpcFailure) -> bool {
    match failure.kind() {
        RpcFailureKind::StateMissing => true,
        RpcFailureKind::MethodMissing => false,
        _ => says_gone(&failure.message),
    }
}

/// What nodes say of blocks, receipts and states that they no longer have, beside what every caller of
/// a node must know (`RpcFailureKind::StateMissing`).
const GONE: [&str; 6] = [
    // erigon: states and receipts below its prune distance.
    "due to pruning",
    "data before",
    // nethermind: receipts and states below its barriers.
    "neither stored nor reproducible",
    "no state available",
    // Chains on Cosmos, and old bodies of some forks of geth.
    "lowest height is",
    "body not found",
];

fn says_gone(message: &str) -> bool {
    let text = message.to_ascii_lowercase();
    GONE.iter().any(|part| text.contains(part))
}

struct BlockReader<'a> {
    number: u64,
    upstream: &'a str,
}

impl BlockReader<'_> {
    /// `None` for JSON `null`.
    fn take<'a>(
        &self,
        answer: Option<&'a CallResult>,
        what: &'static str,
    ) -> Result<Option<&'a RawAnswer>, Problem> {
        match answer {
            Some(Ok(answer)) => Ok(Some(answer).filter(|answer| !answer.is_null())),
            Some(Err(failure)) if is_gone(failure) => Err(self.not_there()),
            Some(Err(failure)) => Err(Problem::Other(Error::Refused {
                upstream: self.upstream.to_owned(),
                what,
                message: failure.message.clone(),
            })),
            None => Err(self.not_there()),
        }
    }

    fn not_there(&self) -> Problem {
        Problem::Other(Error::NotThere { number: self.number })
    }

    fn lie(&self, check: &'static str, expected: String, got: String) -> Problem {
        Problem::Fault(
            self.number,
            BlockFault::Lie(Lie { block: self.number, check, expected, got }),
        )
    }
}

/// JSON is UTF-8; text that is not reads as nothing and fails as malformed.
fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pruned_nodes_say_is_understood() {
        for message in [
            "getReceipt error: ReceiptsGen: PrepareEnv: bn=71837901, old data not available due to pruning",
            "seek with txNum=1962853355 but data before txNum=2662500000 is not available",
            "Receipts for block 7 (0xab) are neither stored nor reproducible from state history.",
            "No state available for block 0xab",
            "height 7 is not available, lowest height is 900",
            "body not found for block 7",
        ] {
            assert!(says_gone(message), "{message}");
        }
        for message in ["execution timeout", "intrinsic gas too low: have 0, want 21000", ""] {
            assert!(!says_gone(message), "{message}");
        }
    }
}
