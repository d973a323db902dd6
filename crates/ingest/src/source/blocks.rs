//! Blocks from nodes: asked for, parsed, and sent through the pipeline.
//!
//! In: block numbers. Out: prepared blocks, in that order, and who gave them. A node that
//! contradicts itself is asked once more for the same block, since its head may have moved between
//! two calls; the second contradiction is reported to the pool with the evidence and another node is
//! asked. Traces that cannot be had keep no block back.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use model::raw::Block;
use rpc::UpstreamId;
use store::{BlockHead, Origin, PreparedBlock};
use tokio::task::JoinHandle;

use super::answers::{self, Problem, ReadBlock};
use super::link::{Child, PARENT_LINK};
use super::no_traces::NoTraces;
use super::node::NodeSource;
use super::question::{Answered, AskTraces};
use super::traces::{FirstTry, LackingBlock, TraceEffort};
use crate::audit::Doubts;
use crate::error::{BlockFault, Error};
use crate::panic;
use crate::pipeline::{Pipeline, Refused};
use crate::verify::{Lie, Senders, is_about_traces};

/// How often a block is asked for before the caller is told that it cannot be had now.
const TRIALS: usize = 3;

/// A verified block, ready to be committed, and who gave it.
pub(crate) struct FetchedBlock {
    pub block: PreparedBlock,
    pub upstream: UpstreamId,
    /// None where it has traces, or nothing to trace.
    pub no_traces: Option<NoTraces>,
}

/// How blocks are to be asked for.
#[derive(Clone, Copy)]
pub(crate) struct BlockRequest {
    /// What they are for: the head does not wait for history.
    pub origin: Origin,
    pub senders: Senders,
    pub traces: TraceEffort,
    /// Nobody else will do: what this node said before is being followed up.
    pub only: Option<UpstreamId>,
    /// Anybody else rather: this one is on another branch.
    pub avoid: Option<UpstreamId>,
}

/// A block that was read: ready, or in want of traces.
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one")]
enum Read {
    Ready(PreparedBlock, Option<NoTraces>),
    Lacking(Box<LackingBlock>),
}

impl Read {
    fn child(&self) -> Child {
        match self {
            Read::Ready(block, _) => {
                let BlockHead { number, hash, parent_hash, .. } = **block;
                Child { number, hash, parent_hash }
            }
            Read::Lacking(lacking) => {
                let block = &lacking.block;
                Child { number: block.number, hash: block.hash, parent_hash: block.parent_hash }
            }
        }
    }
}

impl FetchedBlock {
    pub fn child(&self) -> Child {
        let BlockHead { number, hash, parent_hash, .. } = *self.block;
        Child { number, hash, parent_hash }
    }
}

impl NodeSource {
    /// Blocks of neighbouring numbers, rising or falling, hang together in what this returns.
    pub async fn blocks(
        &self,
        numbers: &[u64],
        request: BlockRequest,
    ) -> Result<Vec<FetchedBlock>, Error> {
        let best = self.best(numbers, request).await?;
        let best = self.better_at_head(numbers, request, best).await;
        Ok(self.as_lowered(best))
    }

    /// As well proven as anybody has them who may be asked.
    pub(super) async fn best(
        &self,
        numbers: &[u64],
        request: BlockRequest,
    ) -> Result<Vec<FetchedBlock>, Error> {
        let mut not = request.only.map_or(Vec::new(), |one| self.pool.others(one));
        not.extend(request.avoid.filter(|_| self.pool.upstreams().len() > 1));
        let mut last = None;
        // The best so far of what is less than this chain's blocks usually are.
        let mut lowered: Option<Vec<FetchedBlock>> = None;
        for _ in 0..TRIALS {
            let answered = match self.ask_for(numbers, &not, request.traces).await {
                Ok(answered) => answered,
                Err(error) => {
                    // Nobody is left to ask; what the one before said tells more.
                    return lowered.ok_or(last.unwrap_or(error));
                }
            };
            let upstream = answered.upstream;
            let read = match self.read(numbers, answered, request).await {
                Ok(read) => self.complete_traces(read, upstream, request).await,
                Err(problem) => Err(problem),
            };
            last = match read {
                Ok(blocks) if self.missing_proof(&blocks).is_empty() => return Ok(blocks),
                Ok(blocks) => {
                    not.push(upstream);
                    let better = lowered.take().filter(|kept| {
                        self.missing_proof(kept).count() <= self.missing_proof(&blocks).count()
                    });
                    lowered = Some(better.unwrap_or(blocks));
                    if request.only.is_some() || not.len() >= self.pool.upstreams().len() {
                        break;
                    }
                    None
                }
                Err(Problem::Fault(number, fault)) => {
                    let lie = fault.into_lie(number);
                    Some(self.ask_again(upstream, request, lie).await)
                }
                Err(Problem::Other(error)) => {
                    not.push(upstream);
                    Some(error)
                }
            };
        }
        lowered.ok_or(last.unwrap_or(Error::Stopped))
    }

    /// Blocks of a range at the head, rising and linked to each other.
    pub async fn linked_range(
        &self,
        range: RangeInclusive<u64>,
        only: Option<UpstreamId>,
        segment_blocks: usize,
    ) -> Result<Vec<FetchedBlock>, Error> {
        let request = BlockRequest {
            origin: Origin::Head,
            senders: Senders::All,
            traces: TraceEffort::Head,
            only,
            avoid: None,
        };
        let mut blocks: Vec<FetchedBlock> = Vec::new();
        let numbers: Vec<u64> = range.collect();
        for part in numbers.chunks(segment_blocks.max(1)) {
            for next in self.blocks(part, request).await? {
                if blocks.last().is_some_and(|parent| parent.block.hash != next.block.parent_hash) {
                    // From two answers: either the chain moved between them, or this one is wrong.
                    self.check_parent_link(next.upstream, next.child()).await?;
                    return Err(Error::Moved { number: next.block.number });
                }
                blocks.push(next);
            }
        }
        Ok(blocks)
    }

    /// A second contradiction about the same block is no accident.
    async fn ask_again(&self, upstream: UpstreamId, request: BlockRequest, first: Lie) -> Error {
        let number = first.block;
        let numbers = match number.checked_sub(1) {
            Some(below) if first.check == PARENT_LINK => vec![below, number],
            _ => vec![number],
        };
        let second = match self.ask(&numbers, &self.pool.others(upstream), AskTraces::Yes).await {
            Ok(answered) => self.read(&numbers, answered, request).await.err(),
            Err(_) => None,
        };
        match second {
            Some(Problem::Fault(number, fault)) => self.report(upstream, fault.into_lie(number)),
            _ => Error::Moved { number },
        }
    }

    /// With traces, where they are asked for at all. Where they may be what makes the answer late or too
    /// large, without.
    async fn ask_for(
        &self,
        numbers: &[u64],
        not: &[UpstreamId],
        effort: TraceEffort,
    ) -> Result<Answered, Error> {
        if !self.traces_are_asked(effort) {
            return self.ask(numbers, not, AskTraces::No).await;
        }
        if !self.can_trace() {
            return self.ask(numbers, not, AskTraces::Yes).await;
        }
        let traces = match effort {
            TraceEffort::History => AskTraces::Within(self.history_traces_within),
            // As long as the node's own timeout, but once: one block that never comes must not keep the others
            // that wait, nor look like a node that is slow.
            TraceEffort::Retrace => AskTraces::Within(Duration::MAX),
            TraceEffort::Head => AskTraces::Yes,
        };
        let asked = self.ask(numbers, not, traces);
        let why = if effort == TraceEffort::Head {
            match tokio::time::timeout(self.head_traces_within, asked).await {
                Ok(Ok(answered)) => return Ok(answered),
                Ok(Err(error)) => NoTraces::Failed(blamed_on_traces(error)?),
                Err(_) => {
                    NoTraces::TooSlow(format!("no traces within {:?}", self.head_traces_within))
                }
            }
        } else {
            match asked.await {
                Ok(answered) => return Ok(answered),
                Err(error) => NoTraces::Failed(blamed_on_traces(error)?),
            }
        };
        let mut answered = self.ask(numbers, not, AskTraces::No).await?;
        answered.no_traces = Some(why);
        Ok(answered)
    }

    /// Parsing and hashing are work for a thread of their own.
    async fn read(
        &self,
        numbers: &[u64],
        answered: Answered,
        request: BlockRequest,
    ) -> Result<Vec<Read>, Problem> {
        let (numbers, pipeline) = (numbers.to_vec(), self.pipeline.clone());
        let checking = Checking { pipeline: pipeline.clone(), doubts: self.doubts.clone() };
        let (from, to) = (numbers.first().copied(), numbers.last().copied());
        let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
        let senders = request.senders;
        let label = self.pool.label(answered.upstream).to_owned();
        if request.origin == Origin::Head {
            pipeline.expect_head();
        }
        let work = move || {
            let judge = |block: &Block| pipeline.verify(block, senders).err();
            let mut all: Vec<Read> = Vec::with_capacity(numbers.len());
            for (i, number) in numbers.iter().enumerate() {
                let lies = |lie| Problem::Fault(*number, BlockFault::Lie(lie));
                let answers = answered.of_block(i);
                let read = answers::read_block(*number, &answers, &label, &judge)?;
                all.push(check_read(&checking, read, senders).map_err(lies)?);
            }
            check_linked(&all)?;
            Ok(all)
        };
        match compute(request.origin, work).await {
            Ok(result) => result,
            Err(error) => {
                let doing = format!("reading block {from} to {to}");
                Err(Problem::Other(panic::ended(error, doing)))
            }
        }
    }

    /// Tries again for the traces that are missing; what cannot be had is left out.
    async fn complete_traces(
        &self,
        read: Vec<Read>,
        upstream: UpstreamId,
        request: BlockRequest,
    ) -> Result<Vec<FetchedBlock>, Problem> {
        let mut lacking = Vec::new();
        // In the order in which they were asked for; a block in want of traces leaves its place.
        let mut places: Vec<Option<FetchedBlock>> = Vec::with_capacity(read.len());
        for read in read {
            places.push(match read {
                Read::Ready(block, no_traces) => Some(FetchedBlock { block, upstream, no_traces }),
                Read::Lacking(block) => {
                    lacking.push(*block);
                    None
                }
            });
        }
        let mut traced = self.trace_again(lacking, upstream, request.traces).await?.into_iter();
        let mut blocks = Vec::with_capacity(places.len());
        for place in places {
            let lacking = if place.is_none() { traced.next() } else { None };
            match (place, lacking) {
                (Some(ready), _) => blocks.push(ready),
                (None, Some(lacking)) => {
                    blocks.push(self.prepare(lacking, upstream, request).await?);
                }
                (None, None) => return Err(Problem::Other(Error::Stopped)),
            }
        }
        // Blocks without transactions say nothing.
        let is_traced = |it: &FetchedBlock| it.block.has_traces && it.block.tx_count > 0;
        let is_failed = |it: &FetchedBlock| it.no_traces.as_ref().is_some_and(NoTraces::is_failure);
        let (traced, failed) = (blocks.iter().any(is_traced), blocks.iter().any(is_failed));
        self.note_tracing(request.traces, traced, failed);
        Ok(blocks)
    }

    async fn prepare(
        &self,
        LackingBlock { block, why, .. }: LackingBlock,
        upstream: UpstreamId,
        BlockRequest { origin, senders, .. }: BlockRequest,
    ) -> Result<FetchedBlock, Problem> {
        let (pipeline, number) = (self.pipeline.clone(), block.number);
        let run = compute(origin, move || pipeline.run(block, senders));
        let ended = |error| panic::ended(error, format!("reading block {number}"));
        let block = run.await.map_err(|error| Problem::Other(ended(error)))?;
        let block = block.map_err(|no| Problem::Fault(number, BlockFault::Lie(no.lie)))?;
        if let Some(why) = &why {
            let chain = self.chain.id.0;
            tracing::debug!(chain.id = chain, block.number = number, %why, "no traces of this block");
        }
        Ok(FetchedBlock { block, upstream, no_traces: why.map(NoTraces::Failed) })
    }
}

/// The head waits for nobody; history is worked at by as many threads as there are processors: more would only hold
/// more blocks in memory.
fn compute<T: Send + 'static>(
    origin: Origin,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    match origin {
        Origin::Head => tokio::task::spawn_blocking(work),
        Origin::History | Origin::Import => tasks::spawn_background(work),
    }
}

struct Checking {
    pipeline: Arc<Pipeline>,
    doubts: Arc<Doubts>,
}

/// Verifies a block that was read. One of which all but the traces holds is good without them.
fn check_read(source: &Checking, read: ReadBlock, senders: Senders) -> Result<Read, Lie> {
    let Checking { pipeline, doubts } = source;
    let ReadBlock { block, no_traces } = read;
    let misfit = |block: Block, lie: &Lie| {
        let block = Block { traces: None, ..block };
        let (first, why) = (FirstTry::Misfit, Some(lie.to_string()));
        Read::Lacking(Box::new(LackingBlock { block, why, first }))
    };
    if let Some(lie) = doubts.lie_about(&block) {
        return Ok(misfit(block, &lie));
    }
    let first = match &no_traces {
        Some(NoTraces::Failed(_)) => FirstTry::Failed,
        Some(NoTraces::Unbound) => FirstTry::Unbound,
        _ => {
            return match pipeline.run(block, senders) {
                Ok(block) => Ok(Read::Ready(block, no_traces)),
                Err(Refused { lie, block }) if is_about_traces(&lie) => Ok(misfit(*block, &lie)),
                Err(Refused { lie, .. }) => Err(lie),
            };
        }
    };
    // Nobody is asked for the traces of a block that is wrong itself.
    pipeline.verify(&block, senders)?;
    let why = no_traces.as_ref().and_then(NoTraces::reason).map(str::to_owned);
    Ok(Read::Lacking(Box::new(LackingBlock { block, why, first })))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Problem::Other(error)
    }
}

/// An answer that was late, too large or broken off may have been so for its traces; the error itself
/// where that cannot be.
fn blamed_on_traces(error: Error) -> Result<String, Error> {
    match &error {
        Error::Upstream(
            cause @ (rpc::Error::Timeout { .. }
            | rpc::Error::TooLarge { bound: rpc::Bound::Answer, .. }
            | rpc::Error::Interrupted { .. }
            | rpc::Error::Malformed { .. }
            | rpc::Error::Http { .. }),
        ) => Ok(cause.to_string()),
        _ => Err(error),
    }
}

/// What one node gave in one answer is one chain, or a contradiction.
fn check_linked(blocks: &[Read]) -> Result<(), Problem> {
    for (a, b) in blocks.iter().zip(blocks.iter().skip(1)) {
        let (a, b) = (a.child(), b.child());
        let (parent, child) = if a.number < b.number { (a, b) } else { (b, a) };
        if child.number - parent.number == 1 && child.parent_hash != parent.hash {
            let (expected, got) = (parent.hash.to_string(), child.parent_hash.to_string());
            let lie = Lie { block: child.number, check: PARENT_LINK, expected, got };
            return Err(Problem::Fault(child.number, BlockFault::Lie(lie)));
        }
    }
    Ok(())
}
