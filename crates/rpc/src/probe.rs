//! Finds out what a node can do, at start and whenever it comes back.
//!
//! Asks a handful of calls. A node of another chain is refused here; everything else that is
//! missing (receipts per block, traces, old blocks) only narrows what the node is asked for.

use crate::call::{Call, CallResult, RpcFailureKind};
use crate::config::TraceChoice;
use crate::error::Error;
use crate::head::{Head, quantity};
use crate::upstream::Upstream;
use crate::upstream_id::UpstreamId;
use model::printable;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::sleep;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// `web3_clientVersion`, empty when the node does not say.
    pub client: String,
    pub receipts: Receipts,
    pub traces: Traces,
    /// The oldest block the node still has; 0 when its history is whole.
    pub oldest_block: u64,
    /// Whether old blocks can be traced, not only those whose state is still in memory.
    pub traces_old_blocks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Receipts {
    /// `eth_getBlockReceipts`
    Block,
    /// `eth_getTransactionReceipt`, one by one.
    Transaction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Traces {
    /// `debug_traceBlockByNumber` with callTracer.
    DebugTraceBlock,
    TraceBlock,
    None,
}

pub struct Probed {
    pub capabilities: Capabilities,
    pub head: Head,
}

#[derive(Debug)]
pub enum Failure {
    WrongChain {
        got: String,
    },
    /// It answered, but not to what every node must answer.
    Useless(String),
    Unreachable(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Unreachable(error)
    }
}

/// What the operator expects of the node.
#[derive(Clone, Copy)]
pub struct Expected {
    pub chain_id: u64,
    pub traces: TraceChoice,
}

/// How many blocks back a block with transactions is looked for.
const LOOK_BACK: u64 = 8;
/// How often a node that stumbles over a question is asked it, a little later each time.
const TRIALS: u32 = 3;
const AGAIN_AFTER: Duration = Duration::from_millis(100);

pub async fn probe(
    upstream: &Upstream,
    id: UpstreamId,
    expected: Expected,
) -> Result<Probed, Failure> {
    upstream.batch.forget();
    let probe = Probe { upstream };
    probe.check_chain(expected.chain_id).await?;
    let head = probe.head(id).await?;
    let client = probe.client().await?;
    let (receipts, traces) = probe.methods(head.number, expected.traces, &client).await?;
    let oldest_block = probe.oldest_block(head.number).await?;
    let traces_old_blocks = match traces {
        Traces::None => false,
        // Not block 1: the state of the genesis is kept even by nodes that prune all other.
        found => {
            let middle = (head.number / 2).max(oldest_block);
            probe.can_trace(found, &Sample { number: middle, hash: None, transactions: 0 }).await?
        }
    };
    let capabilities = Capabilities { client, receipts, traces, oldest_block, traces_old_blocks };
    Ok(Probed { capabilities, head })
}

struct Probe<'a> {
    upstream: &'a Upstream,
}

/// As much of a block as a sample needs.
#[derive(Deserialize)]
struct Body {
    hash: Box<str>,
    transactions: Vec<IgnoredAny>,
}

/// A recent block to try methods on, best one with transactions: an empty one proves little.
struct Sample {
    number: u64,
    /// As written.
    hash: Option<Box<str>>,
    transactions: usize,
}

impl Probe<'_> {
    async fn ask(&self, call: Call) -> Result<CallResult, Error> {
        self.upstream.poll(&call).await
    }

    /// For questions whose refusal would be taken as an answer: an error in the node or a plea to
    /// slow down is none, and is asked about again.
    async fn ask_until_answered(&self, call: Call) -> Result<CallResult, Error> {
        let mut answer = self.ask(call.clone()).await?;
        for trial in 1..TRIALS {
            let kind = answer.as_ref().err().map(|failure| failure.kind());
            if !matches!(kind, Some(RpcFailureKind::Internal | RpcFailureKind::RateLimited)) {
                break;
            }
            sleep(AGAIN_AFTER * trial).await;
            answer = self.ask(call.clone()).await?;
        }
        Ok(answer)
    }

    async fn check_chain(&self, expected: u64) -> Result<(), Failure> {
        let answer = self.ask(Call::chain_id()).await?;
        let answer = answer.map_err(|e| Failure::Useless(format!("eth_chainId failed: {e}")))?;
        let text: &str = answer.parse().unwrap_or_default();
        match quantity(text) {
            Some(id) if id == expected => Ok(()),
            Some(id) => Err(Failure::WrongChain { got: id.to_string() }),
            None => Err(Failure::Useless("eth_chainId is no number".to_owned())),
        }
    }

    async fn head(&self, id: UpstreamId) -> Result<Head, Failure> {
        let answer = self.ask(Call::latest_block()).await?;
        let answer = answer.map_err(|e| Failure::Useless(format!("latest block failed: {e}")))?;
        let head = Head::parse(answer.json(), id);
        head.ok_or_else(|| Failure::Useless("the node has no latest block".to_owned()))
    }

    async fn client(&self) -> Result<String, Failure> {
        let answer = self.ask(Call::client_version()).await?.ok();
        let name = answer.and_then(|a| a.parse::<String>().ok()).unwrap_or_default();
        Ok(printable(&name, 120))
    }

    /// How the node gives receipts and traces, tried on a block. A block that is replaced by another
    /// meanwhile shows nothing: its successor has more transactions, or fewer.
    async fn methods(
        &self,
        head: u64,
        choice: TraceChoice,
        client: &str,
    ) -> Result<(Receipts, Traces), Failure> {
        let mut trial = 1;
        loop {
            let sample = self.sample(head).await?;
            let receipts = self.receipts(&sample).await?;
            let traces = self.traces(&sample, choice, client).await?;
            let now = self.body(sample.number).await?.map(|body| body.hash);
            if now == sample.hash || trial == TRIALS {
                return Ok((receipts, traces));
            }
            trial += 1;
        }
    }

    async fn body(&self, number: u64) -> Result<Option<Body>, Failure> {
        let answer = self.ask(Call::block_by_number(number, false)).await?;
        Ok(answer.ok().and_then(|answer| answer.parse().ok()))
    }

    async fn sample(&self, head: u64) -> Result<Sample, Failure> {
        let mut newest = None;
        for number in (head.saturating_sub(LOOK_BACK)..=head).rev() {
            let Some(body) = self.body(number).await? else { continue };
            let hash = Some(body.hash);
            if !body.transactions.is_empty() {
                return Ok(Sample { number, hash, transactions: body.transactions.len() });
            }
            newest = newest.or(hash);
        }
        Ok(Sample { number: head, hash: newest, transactions: 0 })
    }

    async fn receipts(&self, sample: &Sample) -> Result<Receipts, Failure> {
        let answer = self.ask_until_answered(Call::block_receipts(sample.number)).await?;
        let found = list_length(&answer) == Some(sample.transactions);
        Ok(if found { Receipts::Block } else { Receipts::Transaction })
    }

    async fn traces(
        &self,
        sample: &Sample,
        choice: TraceChoice,
        client: &str,
    ) -> Result<Traces, Failure> {
        let (debug, parity) = (Traces::DebugTraceBlock, Traces::TraceBlock);
        let order: &[Traces] = match choice {
            TraceChoice::None => &[],
            TraceChoice::DebugTraceBlock => &[debug],
            TraceChoice::TraceBlock => &[parity],
            // anvil's debug_traceBlock takes time with the square of the block's size.
            TraceChoice::Auto if client.to_ascii_lowercase().contains("anvil") => &[parity, debug],
            TraceChoice::Auto => &[debug, parity],
        };
        for traces in order {
            if self.can_trace(*traces, sample).await? {
                return Ok(*traces);
            }
        }
        Ok(Traces::None)
    }

    async fn can_trace(&self, traces: Traces, sample: &Sample) -> Result<bool, Failure> {
        let call = match traces {
            Traces::DebugTraceBlock => Call::debug_trace_block(sample.number),
            Traces::TraceBlock => Call::trace_block(sample.number),
            Traces::None => return Ok(false),
        };
        match self.ask_until_answered(call).await {
            Ok(answer) => Ok(list_length(&answer).is_some_and(|n| n >= sample.transactions)),
            // Too slow or too large for our limits: the node stays, but not for traces.
            Err(Error::Timeout { .. } | Error::TooLarge { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Halves its way to the oldest block; two calls when the history is whole.
    async fn oldest_block(&self, head: u64) -> Result<u64, Failure> {
        if head == 0 || self.has_block(1).await? {
            return Ok(0);
        }
        let (mut missing, mut there) = (1, head);
        while there - missing > 1 {
            let middle = missing + (there - missing) / 2;
            if self.has_block(middle).await? {
                there = middle;
            } else {
                missing = middle;
            }
        }
        Ok(there)
    }

    async fn has_block(&self, number: u64) -> Result<bool, Failure> {
        let answer = self.ask(Call::block_by_number(number, false)).await?;
        Ok(answer.is_ok_and(|block| !block.is_null()))
    }
}

fn list_length(answer: &CallResult) -> Option<usize> {
    let list: Vec<IgnoredAny> = answer.as_ref().ok()?.parse().ok()?;
    Some(list.len())
}
