//! Blocks from nodes: asked for, parsed, verified, decoded and turned into rows.
//!
//! In: block numbers. Out: prepared blocks, in that order, and who gave them. A node that
//! contradicts itself is asked once more for the same block, since its head may have moved between
//! two calls; the second contradiction is reported to the pool with the evidence and another node is
//! asked.

use std::sync::Arc;

use decode::Decoder;
use model::chain::{Chain, ChainId};
use model::raw::Block;
use rpc::{Pool, UpstreamId};
use store::{PreparedBlock, Store, VerifiedBlock};
use tokio::sync::Semaphore;

use super::answers::{self, Problem};
use super::question::Answered;
use crate::config::TraceUse;
use crate::error::{Error, Fault, all_but, evidence};
use crate::verify::{Lie, Rules, Senders, verify};

/// How often a block is asked for before the caller is told that it cannot be had now.
const TRIALS: usize = 3;
/// A block and the one below it do not hang together.
pub(crate) const PARENT_LINK: &str = "parent link";

#[derive(Clone)]
pub struct NodeSource {
    pub pool: Arc<Pool>,
    pub chain: Arc<Chain>,
    pub traces: TraceUse,
    store: Store,
    decoder: Arc<Decoder>,
    /// As many readers as there are processors: more would only hold more blocks in memory.
    readers: Arc<Semaphore>,
}

/// A verified block, and who gave it.
pub struct Sourced {
    pub block: PreparedBlock,
    pub upstream: UpstreamId,
}

/// How blocks are to be asked for.
#[derive(Clone, Copy)]
pub struct Ask {
    pub senders: Senders,
    /// Nobody else will do: what this node said before is being followed up.
    pub only: Option<UpstreamId>,
    /// Anybody else rather: this one is on another branch.
    pub rather_not: Option<UpstreamId>,
}

impl NodeSource {
    pub fn new(pool: Arc<Pool>, chain: Arc<Chain>, store: Store, traces: TraceUse) -> Self {
        let processors = std::thread::available_parallelism().map_or(2, |n| n.get());
        let decoder = Arc::new(Decoder::new(&chain));
        let readers = Arc::new(Semaphore::new(processors));
        NodeSource { pool, chain, traces, store, decoder, readers }
    }

    pub fn chain_id(&self) -> ChainId {
        self.chain.id
    }

    /// Blocks of neighbouring numbers, rising or falling, hang together in what this returns.
    pub async fn blocks(&self, numbers: &[u64], ask: Ask) -> Result<Vec<Sourced>, Error> {
        let mut not = ask.only.map_or(Vec::new(), |one| all_but(&self.pool, one));
        not.extend(ask.rather_not.filter(|_| self.pool.upstreams().len() > 1));
        let mut last = None;
        for _ in 0..TRIALS {
            let answered = match self.ask(numbers, &not).await {
                Ok(answered) => answered,
                // Nobody is left to ask; what the one before said tells more.
                Err(error) => return Err(last.unwrap_or(error)),
            };
            let upstream = answered.upstream;
            last = match self.read(numbers, answered, ask.senders).await {
                Ok(blocks) => {
                    let named = |block| Sourced { block, upstream };
                    return Ok(blocks.into_iter().map(named).collect());
                }
                Err(Problem::Fault(number, fault)) => {
                    let lie = fault.into_lie(number);
                    Some(self.ask_again(upstream, ask.senders, lie).await)
                }
                Err(Problem::Other(error)) => {
                    not.push(upstream);
                    Some(error)
                }
            };
        }
        Err(last.unwrap_or(Error::Stopped))
    }

    /// A second contradiction about the same block is no accident.
    async fn ask_again(&self, upstream: UpstreamId, senders: Senders, first: Lie) -> Error {
        let number = first.block;
        let numbers = match number.checked_sub(1) {
            Some(below) if first.check == PARENT_LINK => vec![below, number],
            _ => vec![number],
        };
        let others = all_but(&self.pool, upstream);
        let second = match self.ask(&numbers, &others).await {
            Ok(answered) => self.read(&numbers, answered, senders).await.err(),
            Err(_) => None,
        };
        match second {
            Some(Problem::Fault(number, fault)) => self.report(upstream, fault.into_lie(number)),
            _ => Error::Moved { number },
        }
    }

    /// Tells the pool who lied, and about what.
    pub(super) fn report(&self, upstream: UpstreamId, lie: Lie) -> Error {
        metrics::counter!("headwater_lies_total", "chain" => self.chain.slug.clone(), "check" => lie.check)
            .increment(1);
        self.pool.report_lie(upstream, evidence(&lie));
        Error::Lie { upstream: self.pool.label(upstream).to_owned(), lie }
    }

    /// Parsing and hashing are work for a thread of their own.
    async fn read(
        &self,
        numbers: &[u64],
        answered: Answered,
        senders: Senders,
    ) -> Result<Vec<PreparedBlock>, Problem> {
        let (verification, chain) = (self.chain.verification, self.chain.id);
        let rules = Rules { verification, chain_id: chain.0, senders };
        let is_history = numbers.len() > 1;
        let (numbers, decoder) = (numbers.to_vec(), self.decoder.clone());
        let (slug, store) = (self.chain.slug.clone(), self.store.clone());
        let label = self.pool.label(answered.upstream).to_owned();
        let work = move || {
            let judge = |block: &Block| verify(block, &rules).err();
            let mut prepared: Vec<PreparedBlock> = Vec::with_capacity(numbers.len());
            for (i, number) in numbers.iter().enumerate() {
                let answers = answered.of_block(i);
                let block = answers::read_block(*number, &answers, &label, &judge)?;
                let proof = verify(&block, &rules)
                    .map_err(|lie| Problem::Fault(*number, Fault::Lie(lie)))?;
                let facts = crate::facts::decode(&decoder, &slug, &block);
                prepared.push(store.prepare(chain, VerifiedBlock { block, proof, facts }));
            }
            linked(&prepared)?;
            Ok(prepared)
        };
        // A single block is the head's, and the head does not wait for history.
        let _turn = match is_history {
            true => self.readers.acquire().await.ok(),
            false => None,
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(_) => Err(Problem::Other(Error::Stopped)),
        }
    }
}

/// What one node gave in one answer is one chain, or a contradiction.
fn linked(blocks: &[PreparedBlock]) -> Result<(), Problem> {
    for (a, b) in blocks.iter().zip(blocks.iter().skip(1)) {
        let (parent, child) = if a.number < b.number { (a, b) } else { (b, a) };
        if child.number - parent.number == 1 && child.parent_hash != parent.hash {
            let (expected, got) = (parent.hash.to_string(), child.parent_hash.to_string());
            let lie = Lie { block: child.number, check: PARENT_LINK, expected, got };
            return Err(Problem::Fault(child.number, Fault::Lie(lie)));
        }
    }
    Ok(())
}
