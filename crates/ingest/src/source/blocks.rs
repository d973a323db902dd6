//! Blocks from nodes: asked for, parsed, and sent through the pipeline.
//!
//! In: block numbers. Out: prepared blocks, in that order, and who gave them. A node that
//! contradicts itself is asked once more for the same block, since its head may have moved between
//! two calls; the second contradiction is reported to the pool with the evidence and another node is
//! asked.

use std::ops::RangeInclusive;

use model::raw::Block;
use rpc::UpstreamId;
use store::{BlockHead, Origin, PreparedBlock};

use super::answers::{self, Problem};
use super::link::{Child, PARENT_LINK};
use super::node::NodeSource;
use super::question::Answered;
use crate::error::{BlockFault, Error};
use crate::panic;
use crate::verify::{Lie, Senders};

/// How often a block is asked for before the caller is told that it cannot be had now.
const TRIALS: usize = 3;

/// A verified block, ready to be committed, and who gave it.
pub(crate) struct FetchedBlock {
    pub block: PreparedBlock,
    pub upstream: UpstreamId,
}

/// How blocks are to be asked for.
#[derive(Clone, Copy)]
pub(crate) struct BlockRequest {
    /// What they are for: the head does not wait for history.
    pub origin: Origin,
    pub senders: Senders,
    /// Nobody else will do: what this node said before is being followed up.
    pub only: Option<UpstreamId>,
    /// Anybody else rather: this one is on another branch.
    pub avoid: Option<UpstreamId>,
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
        let mut not = request.only.map_or(Vec::new(), |one| self.pool.others(one));
        not.extend(request.avoid.filter(|_| self.pool.upstreams().len() > 1));
        let mut last = None;
        for _ in 0..TRIALS {
            let answered = match self.ask(numbers, &not).await {
                Ok(answered) => answered,
                // Nobody is left to ask; what the one before said tells more.
                Err(error) => return Err(last.unwrap_or(error)),
            };
            let upstream = answered.upstream;
            last = match self.read(numbers, answered, request).await {
                Ok(blocks) => {
                    let fetched = |block| FetchedBlock { block, upstream };
                    return Ok(blocks.into_iter().map(fetched).collect());
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
        Err(last.unwrap_or(Error::Stopped))
    }

    /// Blocks of a range at the head, rising and linked to each other.
    pub async fn linked_range(
        &self,
        range: RangeInclusive<u64>,
        only: Option<UpstreamId>,
        segment_blocks: usize,
    ) -> Result<Vec<FetchedBlock>, Error> {
        let request =
            BlockRequest { origin: Origin::Head, senders: Senders::All, only, avoid: None };
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
        let second = match self.ask(&numbers, &self.pool.others(upstream)).await {
            Ok(answered) => self.read(&numbers, answered, request).await.err(),
            Err(_) => None,
        };
        match second {
            Some(Problem::Fault(number, fault)) => self.report(upstream, fault.into_lie(number)),
            _ => Error::Moved { number },
        }
    }

    /// Parsing and hashing are work for a thread of their own.
    async fn read(
        &self,
        numbers: &[u64],
        answered: Answered,
        request: BlockRequest,
    ) -> Result<Vec<PreparedBlock>, Problem> {
        let (numbers, pipeline) = (numbers.to_vec(), self.pipeline.clone());
        let (from, to) = (numbers.first().copied(), numbers.last().copied());
        let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
        let senders = request.senders;
        let label = self.pool.label(answered.upstream).to_owned();
        let work = move || {
            let judge = |block: &Block| pipeline.verify(block, senders).err();
            let mut prepared: Vec<PreparedBlock> = Vec::with_capacity(numbers.len());
            for (i, number) in numbers.iter().enumerate() {
                let answers = answered.of_block(i);
                let block = answers::read_block(*number, &answers, &label, &judge)?;
                let block = pipeline.run(block, senders);
                prepared.push(block.map_err(|lie| Problem::Fault(*number, BlockFault::Lie(lie)))?);
            }
            check_linked(&prepared)?;
            Ok(prepared)
        };
        let _permit =
            if request.origin == Origin::Head { None } else { self.readers.acquire().await.ok() };
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => {
                let doing = format!("reading block {from} to {to}");
                Err(Problem::Other(Error::Panicked { doing, message: panic::message(error) }))
            }
            Err(_) => Err(Problem::Other(Error::Stopped)),
        }
    }
}

/// What one node gave in one answer is one chain, or a contradiction.
fn check_linked(blocks: &[PreparedBlock]) -> Result<(), Problem> {
    for (a, b) in blocks.iter().zip(blocks.iter().skip(1)) {
        let (parent, child) = if a.number < b.number { (a, b) } else { (b, a) };
        if child.number - parent.number == 1 && child.parent_hash != parent.hash {
            let (expected, got) = (parent.hash.to_string(), child.parent_hash.to_string());
            let lie = Lie { block: child.number, check: PARENT_LINK, expected, got };
            return Err(Problem::Fault(child.number, BlockFault::Lie(lie)));
        }
    }
    Ok(())
}
