//! A node's answers about one block → the block.
//!
//! What is missing may come later (the node lags, or its head moved) and is told apart from what is
//! wrong.

use model::raw::{
    Block, Frame, Malformed, read_geth_traces, read_header, read_parity_traces, read_receipt_list,
};
use rpc::{CallResult, RawAnswer, RpcFailureKind, Traces};

use super::question::BlockAnswers;
use crate::error::{BlockFault, Error};
use crate::verify::Lie;

pub enum Problem {
    /// The block's number and what is wrong with it.
    Fault(u64, BlockFault),
    Other(Error),
}

/// `judge` says what else is wrong with a block of which a later part cannot be read: a root that
/// does not fit tells more than a list that is too short.
pub fn read_block(
    number: u64,
    answers: &BlockAnswers,
    upstream: &str,
    judge: &dyn Fn(&Block) -> Option<Lie>,
) -> Result<Block, Problem> {
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
    let traces = source.traces(answers, count)?;
    block.traces = traces.map_err(|m| malformed(&block, m))?;
    Ok(block)
}

/// Whether the node says that it no longer holds what tracing needs.
fn is_forgotten(answer: Option<&CallResult>) -> bool {
    matches!(answer, Some(Err(failure)) if failure.kind() == RpcFailureKind::StateMissing)
}

type Frames = Result<Option<Vec<Vec<Frame>>>, Malformed>;

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
            Some(Err(failure)) => Err(Problem::Other(Error::Refused {
                upstream: self.upstream.to_owned(),
                what,
                message: failure.message.clone(),
            })),
            None => Err(self.not_there()),
        }
    }

    /// None where there are none to be had.
    fn traces(&self, answers: &BlockAnswers, count: usize) -> Result<Frames, Problem> {
        let read = match answers.dialect {
            Traces::None => return Ok(Ok(None)),
            // Nothing happened in it, and tracers differ in what they say of genesis.
            _ if count == 0 => return Ok(Ok(Some(Vec::new()))),
            _ if answers.traces_may_lack && is_forgotten(answers.traces) => return Ok(Ok(None)),
            Traces::TraceBlock => read_parity_traces,
            Traces::DebugTraceBlock => read_geth_traces,
        };
        let text = self.take(answers.traces, "traces")?.ok_or_else(|| self.not_there())?;
        Ok(read(text_of(text.json()), count).map(Some))
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
