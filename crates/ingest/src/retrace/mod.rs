//! Completes blocks that were stored without traces, as soon as a node can trace them.
//!
//! In: the store's retracer of untraced blocks, newest first, and nodes that trace. Out: amended blocks.
//! One small request at a time, so that neither the head nor history is held up; what cannot be traced
//! is asked for again after growing pauses.

mod pauses;
mod untraced;

use rpc::Capabilities;
use store::Origin;
use tokio::time::{Instant, sleep_until};

use crate::config::TraceUse;
use crate::context::Context;
use crate::error::Error;
use crate::progress::{Task, TraceFailure};
use crate::source::{BlockRequest, FetchedBlock, NoTraces, TraceEffort};
use crate::verify::Senders;
use pauses::Pauses;

/// Blocks asked for in one request.
const GROUP_BLOCKS: usize = 4;
/// Blocks of the retracer looked at in one go.
const PAGE: usize = 256;

/// Ends where traces are off, or with an error that does not heal by asking again.
pub(crate) async fn run(context: Context) -> Result<(), Error> {
    if context.config.traces == TraceUse::Off {
        return Ok(());
    }
    context.source.settled().await;
    tokio::select! {
        ended = complete(&context) => ended,
        () = untraced::watch(&context) => Ok(()),
    }
}

async fn complete(context: &Context) -> Result<(), Error> {
    let mut upstreams = context.source.pool.changes();
    let mut written = context.written();
    let mut retracer = Retracer::new(context);
    let mut failures = 0;
    loop {
        upstreams.mark_unchanged();
        written.mark_unchanged();
        let step = retracer.step().await;
        if step.is_ok() {
            failures = 0;
            context.progress.set_waiting(Task::Retrace, None);
        }
        match step {
            Ok(RetraceStep::Asked) => {}
            Ok(RetraceStep::Idle { until }) => {
                let pause = async {
                    match until {
                        Some(until) => sleep_until(until).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    _ = upstreams.changed() => {}
                    _ = written.changed() => {}
                    () = pause => {}
                }
            }
            Err(error) if error.is_retryable() => {
                failures += 1;
                context.wait_because(Task::Retrace, &error);
                context.pause(failures).await;
            }
            Err(error) => return Err(error),
        }
    }
}

enum RetraceStep {
    Asked,
    /// There is nothing to ask for before this moment, unless upstreams or the store change.
    Idle {
        until: Option<Instant>,
    },
}

struct Retracer<'a> {
    context: &'a Context,
    pauses: Pauses,
    /// What each upstream could do when it was last looked at.
    known: Vec<Option<Capabilities>>,
}

impl<'a> Retracer<'a> {
    fn new(context: &'a Context) -> Self {
        Retracer { context, pauses: Pauses::default(), known: Vec::new() }
    }

    async fn step(&mut self) -> Result<RetraceStep, Error> {
        self.look_at_upstreams();
        let now = Instant::now();
        let group = self.next_group(now).await?;
        if group.is_empty() {
            return Ok(RetraceStep::Idle { until: self.pauses.next_due(now) });
        }
        self.retrace(&group).await?;
        Ok(RetraceStep::Asked)
    }

    /// An upstream that is new, or can do something new, may trace what none could before.
    fn look_at_upstreams(&mut self) {
        let pool = &self.context.source.pool;
        let able: Vec<_> = pool.upstreams().into_iter().map(|id| pool.capabilities(id)).collect();
        if able != self.known {
            self.pauses.clear();
            self.known = able;
        }
    }

    /// The newest blocks that are due and that some node in use can trace.
    async fn next_group(&self, now: Instant) -> Result<Vec<u64>, Error> {
        let mut group = Vec::new();
        let Some(oldest) = self.context.source.pool.traceable_from() else { return Ok(group) };
        let (view, chain) = (self.context.store.view().await?, self.context.chain_id());
        let mut below = u64::MAX;
        loop {
            let page = view.untraced_blocks(chain, below, PAGE).await?;
            for number in page.iter().copied().filter(|number| *number >= oldest) {
                if self.pauses.is_due(number, now) {
                    group.push(number);
                }
                if group.len() == GROUP_BLOCKS {
                    return Ok(group);
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE && *last > oldest => below = *last,
                _ => return Ok(group),
            }
        }
    }

    /// One block that cannot be traced must not keep the others of its group from it.
    async fn retrace(&mut self, group: &[u64]) -> Result<(), Error> {
        match self.fetch(group).await {
            Ok(blocks) if group.len() > 1 && failed_as_one(&blocks) => {
                self.retrace_one_by_one(group).await
            }
            Ok(blocks) => self.amend(blocks).await,
            Err(error) => {
                tracing::debug!(chain.id = self.context.chain_id().0, ?group, %error, "these blocks cannot be traced now");
                match group {
                    [number] => self.failed(*number, error.to_string(), Instant::now()),
                    _ => self.retrace_one_by_one(group).await?,
                }
                Ok(())
            }
        }
    }

    async fn retrace_one_by_one(&mut self, group: &[u64]) -> Result<(), Error> {
        for number in group {
            match self.fetch(&[*number]).await {
                Ok(blocks) => self.amend(blocks).await?,
                Err(error) => self.failed(*number, error.to_string(), Instant::now()),
            }
        }
        Ok(())
    }

    async fn fetch(&self, numbers: &[u64]) -> Result<Vec<FetchedBlock>, Error> {
        let (origin, senders, traces) = (Origin::History, Senders::All, TraceEffort::Retrace);
        let request = BlockRequest { origin, senders, traces, only: None, avoid: None };
        self.context.source.blocks(numbers, request).await
    }

    async fn amend(&mut self, blocks: Vec<FetchedBlock>) -> Result<(), Error> {
        let mut traced = Vec::with_capacity(blocks.len());
        let now = Instant::now();
        // The newest of which a node said that it has no longer the state to trace it with.
        let mut gone = None;
        for FetchedBlock { block, no_traces, .. } in blocks {
            match no_traces {
                _ if block.has_traces => traced.push(block),
                Some(NoTraces::StateGone | NoTraces::NotAsked) | None => {
                    gone = gone.max(Some(block.number));
                }
                Some(why) => {
                    let why = why.reason().unwrap_or_default().to_owned();
                    self.failed(block.number, why, now);
                }
            }
        }
        let numbers: Vec<u64> = traced.iter().map(|block| block.number).collect();
        let turn = self.context.committer.turn().await;
        let amended = turn.amend(Origin::History, traced).await?;
        drop(turn);
        for number in numbers {
            if amended.contains(&number) {
                self.pauses.succeeded(number);
            } else {
                // The node is on another branch, or the block was reverted and is no longer asked for.
                self.pauses.failed(number, now);
            }
        }
        if let Some(newest) = gone {
            self.pauses.failed_with_older(newest, now);
        }
        Ok(())
    }

    /// Nobody could trace this block; the newest reason is shown.
    fn failed(&mut self, number: u64, reason: String, now: Instant) {
        self.pauses.failed(number, now);
        self.context.progress.set_trace_failure(Some(TraceFailure { block: number, reason }));
    }
}

/// Blocks that were asked for together share what becomes of the request: which of them it was cannot be told.
fn failed_as_one(blocks: &[FetchedBlock]) -> bool {
    let reason = |it: &FetchedBlock| it.no_traces.as_ref()?.reason().map(str::to_owned);
    let first = blocks.first().and_then(reason);
    first.is_some() && blocks.iter().all(|it| reason(it) == first)
}
