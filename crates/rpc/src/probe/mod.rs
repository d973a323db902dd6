//! Finds out what a node can do, at start and whenever it comes back.
//!
//! Asks a handful of calls. A node of another chain is refused here; everything else that is
//! missing (receipts per block, traces, old blocks) only narrows what the node is asked for.

mod capabilities;
mod questions;
mod traces;

pub use capabilities::{Capabilities, Receipts, Traces};
pub use traces::{TraceDoubt, TraceProbe};

use crate::call::Call;
use crate::config::TraceChoice;
use crate::error::Error;
use crate::head::{Head, quantity};
use crate::upstream::Upstream;
use crate::upstream_id::UpstreamId;
use alloy_primitives::B256;
use model::printable;
use questions::{Questions, Sample, TRIALS, list_length};

pub struct Probed {
    pub capabilities: Capabilities,
    /// The hash of its block 0, asked of nodes nearby alone.
    pub genesis: Option<B256>,
    pub trace_doubt: Option<TraceDoubt>,
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

pub async fn probe(
    upstream: &Upstream,
    id: UpstreamId,
    expected: Expected,
) -> Result<Probed, Failure> {
    upstream.batch.forget();
    let node = Questions { upstream };
    node.check_chain(expected.chain_id).await?;
    let head = node.head(id).await?;
    let client = node.client().await?;
    let order = traces::order(expected.traces, &client);
    let (receipts, recent) = node.methods(head.number, order).await?;
    let oldest_block = node.oldest_block(head.number).await?;
    let genesis = if upstream.is_near { node.genesis().await? } else { None };
    let TraceProbe { traces, old_blocks, doubt } =
        node.old_traces(recent, head.number, oldest_block).await?;
    let traces_old_blocks = old_blocks;
    let capabilities = Capabilities { client, receipts, traces, oldest_block, traces_old_blocks };
    Ok(Probed { capabilities, genesis, trace_doubt: doubt, head })
}

/// Only whether the node serves this chain.
pub async fn check_chain(upstream: &Upstream, chain_id: u64) -> Result<(), Failure> {
    Questions { upstream }.check_chain(chain_id).await
}

/// Only whether a node that is in use traces: what it said before is in doubt.
pub async fn probe_traces(
    upstream: &Upstream,
    choice: TraceChoice,
    able: &Capabilities,
    head: u64,
) -> Result<TraceProbe, Failure> {
    let node = Questions { upstream };
    let order = traces::order(choice, &able.client);
    let sample = node.sample(head).await?;
    let recent = node.recent_traces(&sample, order).await?;
    node.old_traces(recent, head, able.oldest_block).await
}

impl Questions<'_> {
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
        order: &[Traces],
    ) -> Result<(Receipts, TraceProbe), Failure> {
        let mut trial = 1;
        loop {
            let sample = self.sample(head).await?;
            let receipts = self.receipts(&sample).await?;
            let traces = self.recent_traces(&sample, order).await?;
            let now = self.body(sample.number).await?.map(|body| body.hash);
            if now == sample.hash || trial == TRIALS {
                return Ok((receipts, traces));
            }
            trial += 1;
        }
    }

    async fn receipts(&self, sample: &Sample) -> Result<Receipts, Failure> {
        let answer = self.ask_until_answered(Call::block_receipts(sample.number)).await?;
        let found = list_length(&answer) == Some(sample.transactions);
        Ok(if found { Receipts::Block } else { Receipts::Transaction })
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

    async fn genesis(&self) -> Result<Option<B256>, Failure> {
        Ok(self.body(0).await?.and_then(|body| body.hash.parse().ok()))
    }

    async fn has_block(&self, number: u64) -> Result<bool, Failure> {
        let answer = self.ask(Call::block_by_number(number, false)).await?;
        Ok(answer.is_ok_and(|block| !block.is_null()))
    }
}
