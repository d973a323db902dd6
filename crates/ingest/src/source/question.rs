//! What a node is asked about blocks, by what it can do, and its answers sorted by block.

use std::time::Duration;

use alloy_primitives::B256;
use model::raw::Header;
use rpc::{
    Call, CallResult, Capabilities, Fetched, Needs, Plan, RECENT_BLOCKS, RawAnswer, Receipts,
    RpcFailureKind, State, Traces, UpstreamId,
};

use super::no_traces::NoTraces;
use super::node::NodeSource;
use crate::config::TraceUse;
use crate::error::Error;

/// How long, and how often, to look whether upstreams have been tried.
const SETTLING_TRIALS: usize = 150;
const SETTLING_PAUSE: Duration = Duration::from_millis(20);
/// How often to ask again for what a node does not have yet, a little later each time.
const COMPLETING_ROUNDS: u32 = 4;
const COMPLETING_PAUSE: Duration = Duration::from_millis(10);

/// Whether traces are asked for together with blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskTraces {
    No,
    Yes,
    /// The blocks are wanted without, where the node takes longer.
    Within(Duration),
}

/// What one node said about some blocks.
pub struct Answered {
    pub upstream: UpstreamId,
    blocks: Vec<CallResult>,
    receipts: Vec<CallResult>,
    traces: Vec<CallResult>,
    dialect: Traces,
    traces_may_lack: bool,
    /// Why traces were not asked for, where somebody might have them.
    pub no_traces: Option<NoTraces>,
}

/// The part of it that is about one block.
pub struct BlockAnswers<'a> {
    pub block: Option<&'a CallResult>,
    pub receipts: Option<&'a CallResult>,
    pub traces: Option<&'a CallResult>,
    pub dialect: Traces,
    /// The block is so old that a node may have forgotten the state to trace it with.
    pub traces_may_lack: bool,
    pub no_traces: Option<&'a NoTraces>,
}

impl Answered {
    pub fn of_block(&self, i: usize) -> BlockAnswers<'_> {
        BlockAnswers {
            block: self.blocks.get(i),
            receipts: self.receipts.get(i),
            traces: self.traces.get(i),
            dialect: self.dialect,
            traces_may_lack: self.traces_may_lack,
            no_traces: self.no_traces.as_ref(),
        }
    }
}

impl NodeSource {
    /// Waits, for a while, until every upstream was tried once: blocks asked for before the one that
    /// traces is in use would be stored without traces.
    pub(crate) async fn settled(&self) {
        let is_starting = || {
            self.pool.status().upstreams.iter().any(|upstream| upstream.state == State::Starting)
        };
        for _ in 0..SETTLING_TRIALS {
            if !is_starting() {
                return;
            }
            tokio::time::sleep(SETTLING_PAUSE).await;
        }
    }

    /// Whether this upstream can give blocks as whole as any other could.
    pub(crate) fn can_give(&self, upstream: UpstreamId) -> bool {
        let traces = self.pool.capabilities(upstream).map(|able| able.traces);
        match traces {
            None => false,
            Some(Traces::None) => !self.can_trace(),
            Some(_) => true,
        }
    }

    /// Whether some upstream in use traces, and traces are wanted.
    pub(super) fn can_trace(&self) -> bool {
        let tracing = Needs { traces: true, ..Needs::default() };
        self.traces == TraceUse::Auto && self.pool.can(&tracing)
    }

    /// With traces where they are to be had; without, blocks and receipts only.
    pub(super) async fn ask(
        &self,
        numbers: &[u64],
        not: &[UpstreamId],
        traces: AskTraces,
    ) -> Result<Answered, Error> {
        let with_traces = traces != AskTraces::No;
        let within = match traces {
            AskTraces::Within(limit) => Some(limit),
            AskTraces::Yes | AskTraces::No => None,
        };
        let head = self.pool.head_number();
        let oldest = numbers.iter().min().copied().unwrap_or_default();
        let is_old = oldest.saturating_add(RECENT_BLOCKS) < head;
        let wants_traces = with_traces && self.traces == TraceUse::Auto;
        let dialect = |able: &Capabilities| {
            if wants_traces && (able.traces_old_blocks || !is_old) {
                able.traces
            } else {
                Traces::None
            }
        };
        let needs = Needs {
            // Better traced by another than not at all, and better untraced than not at all.
            traces: with_traces && self.can_trace(),
            block: numbers.iter().max().copied(),
            ..Needs::default()
        };
        let plan = |able: &Capabilities| calls(numbers, able.receipts, dialect(able));
        let plan_of = Plan { calls: &plan, not, needs, lane: self.lane, within };
        let mut fetched = self.pool.fetch_planned(plan_of).await?;
        let upstream = fetched.upstream;
        let calls = plan(&fetched.capabilities);
        self.complete(&mut fetched, &calls, is_old).await?;
        let (able, count) = (&fetched.capabilities, numbers.len());
        let dialect = dialect(able);
        let mut answers = fetched.answers.into_iter();
        let blocks: Vec<CallResult> = answers.by_ref().take(count).collect();
        let receipts = match able.receipts {
            Receipts::Block => answers.by_ref().take(count).collect(),
            Receipts::Transaction => self.receipts_one_by_one(upstream, &blocks).await?,
        };
        let traces = answers.collect();
        let (traces_may_lack, no_traces) = (is_old, None);
        Ok(Answered { upstream, blocks, receipts, traces, dialect, traces_may_lack, no_traces })
    }

    /// Asks again for what was not there. Behind one address there may be several nodes, of which
    /// some are a little late, and one answer in two may come from those.
    async fn complete(
        &self,
        fetched: &mut Fetched,
        calls: &[Call],
        is_old: bool,
    ) -> Result<(), Error> {
        let others = self.pool.others(fetched.upstream);
        let needs = Needs::default();
        for round in 1..=COMPLETING_ROUNDS {
            let late: Vec<usize> = (0..calls.len())
                .filter(|i| fetched.answers.get(*i).is_some_and(|answer| is_late(answer, is_old)))
                .collect();
            if late.is_empty() || late.len() == calls.len() {
                return Ok(());
            }
            tokio::time::sleep(COMPLETING_PAUSE * round).await;
            let calls = late.iter().filter_map(|i| calls.get(*i).cloned()).collect();
            let fetch = rpc::Fetch { calls, not: &others, needs, lane: self.lane };
            let again = self.pool.fetch(fetch).await?;
            for (i, answer) in late.into_iter().zip(again.answers) {
                if let Some(place) = fetched.answers.get_mut(i) {
                    *place = answer;
                }
            }
        }
        Ok(())
    }

    /// For nodes without `eth_getBlockReceipts`: per block one list, as that method would give it.
    async fn receipts_one_by_one(
        &self,
        upstream: UpstreamId,
        blocks: &[CallResult],
    ) -> Result<Vec<CallResult>, Error> {
        let others = self.pool.others(upstream);
        let mut lists = Vec::with_capacity(blocks.len());
        for block in blocks {
            let hashes = block.as_ref().ok().and_then(|block| transaction_hashes(block.json()));
            let calls: Vec<Call> = hashes.iter().flatten().map(Call::transaction_receipt).collect();
            let answers = if calls.is_empty() {
                Vec::new()
            } else {
                let needs = Needs::default();
                let fetch = rpc::Fetch { calls, not: &others, needs, lane: self.lane };
                self.pool.fetch(fetch).await?.answers
            };
            lists.push(join(answers));
        }
        Ok(lists)
    }
}

/// Old blocks are there or will never be; the state to trace them with may be gone for good.
fn is_late(answer: &CallResult, is_old: bool) -> bool {
    match answer {
        Ok(answer) => answer.is_null(),
        Err(failure) => !is_old && failure.kind() == RpcFailureKind::StateMissing,
    }
}

/// All blocks, then all receipts, then all traces.
fn calls(numbers: &[u64], receipts: Receipts, traces: Traces) -> Vec<Call> {
    let mut calls = Vec::with_capacity(numbers.len() * 3);
    calls.extend(numbers.iter().map(|number| Call::block_by_number(*number, true)));
    if receipts == Receipts::Block {
        calls.extend(numbers.iter().map(|number| Call::block_receipts(*number)));
    }
    match traces {
        Traces::DebugTraceBlock => {
            calls.extend(numbers.iter().map(|number| Call::debug_trace_block(*number)));
        }
        Traces::TraceBlock => calls.extend(numbers.iter().map(|number| Call::trace_block(*number))),
        Traces::None => {}
    }
    calls
}

fn transaction_hashes(block: &[u8]) -> Option<Vec<B256>> {
    let header: Header = serde_json::from_slice(block).ok()?;
    header.transactions?.into_iter().map(|tx| tx.hash).collect()
}

/// One list of all; `null` where a receipt is not there (yet).
fn join(receipts: Vec<CallResult>) -> CallResult {
    let mut list = vec![b'['];
    for receipt in receipts {
        let receipt = receipt?;
        if receipt.is_null() {
            return Ok(receipt);
        }
        if list.len() > 1 {
            list.push(b',');
        }
        list.extend_from_slice(receipt.json());
    }
    list.push(b']');
    Ok(RawAnswer::from(list))
}
