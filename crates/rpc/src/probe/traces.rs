//! Whether a node traces, and how.
//!
//! Only a node that does not know the methods cannot. Right after mining, and on chains with transactions
//! of their own kind, lists are short or empty, late, or an error: that is no reason never to ask again.
//! What was not as it should be is told as a doubt, so that the node is probed again.

use super::questions::{Questions, Sample, list_length};
use super::{Failure, Traces};
use crate::call::{Call, CallResult, RpcFailureKind};
use crate::config::TraceChoice;
use crate::error::Error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceProbe {
    pub traces: Traces,
    pub old_blocks: bool,
    /// None when everything was as it should be, or traces are not wanted of this node.
    pub doubt: Option<TraceDoubt>,
}

/// Why a node counts as one that does not trace, or may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceDoubt {
    /// It does not know the methods. Only another version or configuration of it can change that.
    MethodsMissing,
    /// It knows them, but the answer was not what it should be. That may pass.
    Failed(String),
}

impl TraceDoubt {
    /// For /status.
    pub fn reason(&self) -> String {
        match self {
            Self::MethodsMissing => "the node does not know the methods for traces".to_owned(),
            Self::Failed(why) => why.clone(),
        }
    }
}

/// What the node said about a block's traces.
enum TraceAnswer {
    Said(CallResult),
    /// Too slow or too large for our limits: the node stays, but is not asked for traces meanwhile.
    Unfit(String),
}

/// What one method gave.
#[derive(Debug, PartialEq, Eq)]
enum Trial {
    Whole,
    /// It knows the method.
    Odd(String),
    Unfit(String),
    Missing,
}

impl Trial {
    /// Lower is better.
    fn rank(&self) -> u8 {
        match self {
            Trial::Whole => 0,
            Trial::Odd(_) => 1,
            Trial::Unfit(_) => 2,
            Trial::Missing => 3,
        }
    }
}

/// In what order methods are tried.
pub fn order(choice: TraceChoice, client: &str) -> &'static [Traces] {
    const DEBUG: Traces = Traces::DebugTraceBlock;
    const PARITY: Traces = Traces::TraceBlock;
    match choice {
        TraceChoice::None => &[],
        TraceChoice::DebugTraceBlock => &[DEBUG],
        TraceChoice::TraceBlock => &[PARITY],
        // anvil's debug_traceBlock takes time with the square of the block's size.
        TraceChoice::Auto if client.to_ascii_lowercase().contains("anvil") => &[PARITY, DEBUG],
        TraceChoice::Auto => &[DEBUG, PARITY],
    }
}

impl Questions<'_> {
    /// The first method that gives all, else the first that the node knows.
    pub async fn recent_traces(
        &self,
        sample: &Sample,
        order: &[Traces],
    ) -> Result<TraceProbe, Failure> {
        let mut best: Option<(Trial, Traces)> = None;
        for traces in order {
            let trial = self.try_tracing(*traces, sample).await?;
            let is_whole = trial == Trial::Whole;
            if best.as_ref().is_none_or(|(other, _)| trial.rank() < other.rank()) {
                best = Some((trial, *traces));
            }
            if is_whole {
                break;
            }
        }
        let (traces, doubt) = match best {
            None => (Traces::None, None),
            Some((Trial::Whole, traces)) => (traces, None),
            Some((Trial::Odd(why), traces)) => (traces, Some(TraceDoubt::Failed(why))),
            Some((Trial::Unfit(why), _)) => (Traces::None, Some(TraceDoubt::Failed(why))),
            Some((Trial::Missing, _)) => (Traces::None, Some(TraceDoubt::MethodsMissing)),
        };
        Ok(TraceProbe { traces, old_blocks: false, doubt })
    }

    /// The same for a block in the middle of what the node has. Not block 1: the state of the genesis is
    /// kept even by nodes that prune all other.
    pub async fn old_traces(
        &self,
        mut recent: TraceProbe,
        head: u64,
        oldest_block: u64,
    ) -> Result<TraceProbe, Failure> {
        if recent.traces == Traces::None {
            return Ok(recent);
        }
        let number = (head / 2).max(oldest_block);
        let middle = Sample { number, hash: None, transactions: 0 };
        let doubt = match self.ask_for_traces(recent.traces, &middle).await? {
            TraceAnswer::Unfit(why) => Some(why),
            // That is what a node says that keeps no old state.
            TraceAnswer::Said(Err(failure)) if failure.kind() == RpcFailureKind::StateMissing => {
                None
            }
            TraceAnswer::Said(Err(failure)) => Some(failure.to_string()),
            TraceAnswer::Said(answer) => {
                recent.old_blocks = list_length(&answer).is_some();
                None
            }
        };
        if let Some(why) = doubt {
            recent.doubt.get_or_insert(TraceDoubt::Failed(format!("block {number}: {why}")));
        }
        Ok(recent)
    }

    async fn try_tracing(&self, traces: Traces, sample: &Sample) -> Result<Trial, Failure> {
        let (number, wanted) = (sample.number, sample.transactions);
        let answer = match self.ask_for_traces(traces, sample).await? {
            TraceAnswer::Said(answer) => answer,
            TraceAnswer::Unfit(why) => return Ok(Trial::Unfit(format!("block {number}: {why}"))),
        };
        if let Err(failure) = &answer {
            return Ok(match failure.kind() {
                RpcFailureKind::MethodMissing => Trial::Missing,
                _ => Trial::Odd(format!("block {number}: {failure}")),
            });
        }
        Ok(match list_length(&answer) {
            Some(length) if length >= wanted => Trial::Whole,
            Some(length) => {
                Trial::Odd(format!("block {number}: {length} traces of {wanted} transactions"))
            }
            None => Trial::Odd(format!("block {number}: the traces are no list")),
        })
    }

    async fn ask_for_traces(
        &self,
        traces: Traces,
        sample: &Sample,
    ) -> Result<TraceAnswer, Failure> {
        let call = match traces {
            Traces::DebugTraceBlock => Call::debug_trace_block(sample.number),
            Traces::TraceBlock => Call::trace_block(sample.number),
            Traces::None => return Ok(TraceAnswer::Unfit("no method to ask for them".to_owned())),
        };
        match self.ask_until_answered(call).await {
            Ok(answer) => Ok(TraceAnswer::Said(answer)),
            Err(error @ (Error::Timeout { .. } | Error::TooLarge { .. })) => {
                Ok(TraceAnswer::Unfit(error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }
}
