//! Traces that did not come with their blocks: asked for again, of every node that traces, a few times.
//!
//! In: blocks without traces, and the effort they are worth. Out: the same blocks, with traces where they
//! could be had. A block that stays without is stored untraced, and `retrace` asks for it later. What
//! speaks against a node's traces is kept as evidence, and the node stays in use: they are never proven, so a
//! client with habits of its own must not cost us its blocks. Traces that do not say of which block they are
//! are asked for by its hash.

use std::time::Duration;

use model::raw::{Block, BlockTraces};
use rpc::{Call, CallResult, Capabilities, Needs, Plan, RECENT_BLOCKS, Traces, UpstreamId};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::answers::{AskedBy, read_traces};
use super::no_traces::{NoTraces, UNBOUND};
use super::node::NodeSource;
use crate::error::Error;
use crate::lock::lock;
use crate::panic;
use crate::verify::{Lie, Senders, is_about_traces};

/// How hard to try for a block's traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceEffort {
    /// Following must not be held up by more than a moment.
    Head,
    History,
    /// Once: whoever asks waits and asks again.
    Retrace,
}

impl TraceEffort {
    /// The pause before each round, in which every node that traces is asked.
    fn pauses_ms(self) -> &'static [u64] {
        match self {
            TraceEffort::Head => &[0, 100],
            TraceEffort::History => &[0, 200, 800],
            TraceEffort::Retrace => &[0],
        }
    }

    /// How long one node may take for one block, with the time until it is asked.
    fn limit(self) -> Duration {
        match self {
            TraceEffort::Head => Duration::from_millis(1_000),
            TraceEffort::History | TraceEffort::Retrace => Duration::from_secs(30),
        }
    }
}

/// A block whose traces were asked for in vain.
pub(super) struct LackingBlock {
    pub block: Block,
    /// Why, as the one who was asked last said it; none once it has traces.
    pub why: Option<String>,
    pub first: FirstTry,
}

/// What came of the traces that were asked for together with the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstTry {
    /// Nothing of use: others are asked before the same node is.
    Failed,
    /// They do not say of which block they are: the same node is asked by hash.
    Unbound,
    /// They contradict the block. If the same node says so again, it is evidence.
    Misfit,
}

/// One node, asked for the traces of one block.
struct AskTracer {
    id: UpstreamId,
    dialect: Traces,
    effort: TraceEffort,
    number: u64,
    by: AskedBy,
}

/// Why a node that was asked said nothing.
enum NoAnswer {
    Failed(String),
    TooSlow(String),
}

/// One node's answer, as far as it is of use.
enum TraceTry {
    Got(Block),
    /// The block without traces, and why.
    Failed(Block, String),
    TooSlow(Block, String),
    /// They do not say of which block they are.
    Unbound(Block),
    Misfit(Block, Lie),
}

impl NodeSource {
    /// In the same order. `asked` has just been asked in vain.
    pub(super) async fn trace_again(
        &self,
        blocks: Vec<LackingBlock>,
        asked: UpstreamId,
        effort: TraceEffort,
    ) -> Result<Vec<LackingBlock>, Error> {
        let mut tries = JoinSet::new();
        for (i, lacking) in blocks.into_iter().enumerate() {
            let source = self.clone();
            tries.spawn(async move { (i, source.trace_one(lacking, asked, effort).await) });
        }
        let mut done = Vec::with_capacity(tries.len());
        while let Some(ended) = tries.join_next().await {
            let (i, lacking) = ended.map_err(|error| panic::ended(error, "asking for traces"))?;
            done.push((i, lacking?));
        }
        done.sort_by_key(|(i, _)| *i);
        Ok(done.into_iter().map(|(_, lacking)| lacking).collect())
    }

    async fn trace_one(
        &self,
        lacking: LackingBlock,
        asked: UpstreamId,
        effort: TraceEffort,
    ) -> Result<LackingBlock, Error> {
        let LackingBlock { mut block, mut why, first } = lacking;
        let mut not_again = Vec::new();
        let mut misfits = Vec::new();
        if first == FirstTry::Misfit {
            misfits.push(asked);
        }
        for (round, pause_ms) in effort.pauses_ms().iter().enumerate() {
            sleep(Duration::from_millis(*pause_ms)).await;
            let mut tracers = self.tracers(block.number);
            // The same node first, where it is asked at once.
            tracers.sort_by_key(|(id, _)| *id != asked);
            for (id, dialect) in tracers {
                let was_useless = round == 0 && id == asked && first == FirstTry::Failed;
                if was_useless || not_again.contains(&id) {
                    continue;
                }
                // By number it did not say of which block they are.
                let was_unbound = id == asked && first == FirstTry::Unbound;
                let by = if was_unbound && dialect == Traces::DebugTraceBlock {
                    AskedBy::Hash
                } else {
                    AskedBy::Number
                };
                let ask = AskTracer { id, dialect, effort, number: block.number, by };
                block = match self.try_tracing(block, ask).await? {
                    TraceTry::Got(block) => return Ok(LackingBlock { block, why: None, first }),
                    TraceTry::Failed(block, text) => {
                        why = Some(text);
                        block
                    }
                    TraceTry::Unbound(block) => {
                        why = Some(UNBOUND.to_owned());
                        block
                    }
                    TraceTry::TooSlow(block, text) => {
                        not_again.push(id);
                        why = Some(text);
                        block
                    }
                    TraceTry::Misfit(block, lie) => {
                        why = Some(lie.to_string());
                        if misfits.contains(&id) {
                            self.report_traces(id, &lie);
                            not_again.push(id);
                        }
                        misfits.push(id);
                        block
                    }
                };
            }
        }
        Ok(LackingBlock { block, why, first })
    }

    /// Upstreams that say they can trace this block, and how.
    fn tracers(&self, number: u64) -> Vec<(UpstreamId, Traces)> {
        let head = self.pool.heads().borrow().map_or(0, |head| head.number);
        let is_old = number.saturating_add(RECENT_BLOCKS) < head;
        let able = |id: UpstreamId| {
            let able = self.pool.capabilities(id)?;
            let traces = able.traces != Traces::None && (able.traces_old_blocks || !is_old);
            traces.then_some((id, able.traces))
        };
        self.pool.upstreams().into_iter().filter_map(able).collect()
    }

    async fn try_tracing(&self, block: Block, ask: AskTracer) -> Result<TraceTry, Error> {
        let has_other_way = ask.dialect == Traces::DebugTraceBlock && ask.by == AskedBy::Number;
        match self.try_once(block, &ask).await? {
            TraceTry::Unbound(block) if has_other_way => {
                self.try_once(block, &AskTracer { by: AskedBy::Hash, ..ask }).await
            }
            tried => Ok(tried),
        }
    }

    async fn try_once(&self, block: Block, ask: &AskTracer) -> Result<TraceTry, Error> {
        let call = match (ask.by, ask.dialect) {
            (AskedBy::Hash, _) => Call::debug_trace_block_by_hash(&block.hash),
            (AskedBy::Number, Traces::TraceBlock) => Call::trace_block(block.number),
            (AskedBy::Number, _) => Call::debug_trace_block(block.number),
        };
        let answer = match self.ask_tracer(ask, call).await {
            Ok(answer) => answer,
            Err(NoAnswer::Failed(why)) => return Ok(TraceTry::Failed(block, why)),
            Err(NoAnswer::TooSlow(why)) => return Ok(TraceTry::TooSlow(block, why)),
        };
        let (pipeline, doubts) = (self.pipeline.clone(), self.doubts.clone());
        let (dialect, by) = (ask.dialect, ask.by);
        let work = move || match read_traces(&answer, dialect, &block.txs, by) {
            Ok(traces) => fit(block, traces, &|block| {
                doubts.lie_about(block).or_else(|| pipeline.verify(block, Senders::Sample).err())
            }),
            Err(NoTraces::Unbound) => TraceTry::Unbound(block),
            Err(no) => TraceTry::Failed(block, no.reason().unwrap_or_default().to_owned()),
        };
        let work = match ask.effort {
            TraceEffort::Head => tokio::task::spawn_blocking(work),
            TraceEffort::History | TraceEffort::Retrace => tasks::spawn_background(work),
        };
        work.await.map_err(|error| panic::ended(error, "reading traces"))
    }

    async fn ask_tracer(&self, ask: &AskTracer, call: Call) -> Result<CallResult, NoAnswer> {
        let limit = ask.effort.limit();
        let within = match ask.effort {
            TraceEffort::Head => None,
            TraceEffort::History => Some(self.history_traces_within),
            TraceEffort::Retrace => Some(limit),
        };
        let others = self.pool.others(ask.id);
        let needs = Needs { block: Some(ask.number), ..Needs::default() };
        let calls = |_: &Capabilities| vec![call.clone()];
        let plan = Plan { lane: self.lane, calls: &calls, not: &others, needs, within };
        let answers = match timeout(limit, self.pool.fetch_planned(plan)).await {
            Ok(Ok(fetched)) => fetched.answers,
            Ok(Err(error @ rpc::Error::Timeout { .. })) => {
                return Err(NoAnswer::TooSlow(error.to_string()));
            }
            Ok(Err(error)) => return Err(NoAnswer::Failed(error.to_string())),
            Err(_) => {
                let why = format!("no traces within {} ms", limit.as_millis());
                return Err(NoAnswer::TooSlow(why));
            }
        };
        let nothing = || NoAnswer::Failed("no answer about its traces".to_owned());
        answers.into_iter().next().ok_or_else(nothing)
    }

    /// Whether traces are to be asked for together with blocks.
    pub(super) fn traces_are_asked(&self, effort: TraceEffort) -> bool {
        effort == TraceEffort::Retrace || lock(&self.trace_breaker).may_ask(Instant::now())
    }

    /// What became of the blocks of one request. What `retrace` asks for again may never be traced: only
    /// its successes tell something.
    pub(super) fn note_tracing(&self, effort: TraceEffort, traced: bool, failed: bool) {
        let mut breaker = lock(&self.trace_breaker);
        if traced {
            breaker.succeeded();
        } else if failed && effort != TraceEffort::Retrace {
            breaker.failed(Instant::now());
        }
    }
}

/// A lie that traces tell is theirs; any other was there before and is found by whoever stores the block.
fn fit(mut block: Block, traces: BlockTraces, verify: &dyn Fn(&Block) -> Option<Lie>) -> TraceTry {
    block.set_traces(Some(traces));
    match verify(&block).filter(is_about_traces) {
        Some(lie) => {
            block.set_traces(None);
            TraceTry::Misfit(block, lie)
        }
        None => TraceTry::Got(block),
    }
}
