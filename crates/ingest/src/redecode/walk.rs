//! The way through all stored blocks: groups from the newest down, read and decoded on several
//! threads, written in order by one task.

use std::collections::VecDeque;
use std::sync::Arc;

use decode::Decoder;
use model::chain::{Chain, ChainId};
use store::{Coverage, Decoded, FactsRebuild, Store};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::progress::RedecodeProgress;
use crate::error::Error;
use crate::panic;

/// Blocks written at once: commits wait for no more than this.
const GROUP_BLOCKS: u64 = 32;
/// Groups that are read but not yet written, or still being read, for each thread.
const AHEAD: usize = 3;

pub struct Walk {
    reader: Arc<GroupReader>,
    threads: usize,
}

struct GroupReader {
    store: Store,
    chain: ChainId,
    decoder: Decoder,
    /// One for each thread.
    permits: Semaphore,
}

/// Blocks from the highest down to `lowest`, as they were read.
struct DecodedGroup {
    lowest: u64,
    size: u64,
    blocks: Vec<Decoded>,
}

impl Walk {
    pub fn new(store: &Store, chain: &Chain, threads: usize) -> Self {
        let threads = threads.max(1);
        let reader = GroupReader {
            store: store.clone(),
            chain: chain.id,
            decoder: Decoder::new(chain),
            permits: Semaphore::new(threads),
        };
        Walk { reader: Arc::new(reader), threads }
    }

    /// False when it was stopped on the way. Groups are written in order, so that one number tells how
    /// far it came.
    pub async fn run(
        &self,
        coverage: &Coverage,
        rebuild: &FactsRebuild,
        progress: &RedecodeProgress,
    ) -> Result<bool, Error> {
        let mut groups = groups(coverage, rebuild.reached());
        let mut reading: VecDeque<JoinHandle<Result<DecodedGroup, Error>>> = VecDeque::new();
        loop {
            while reading.len() < self.threads * AHEAD
                && let Some((highest, lowest)) = groups.next()
            {
                reading.push_back(tokio::spawn(read_group(self.reader.clone(), highest, lowest)));
            }
            let Some(group) = reading.pop_front() else { return Ok(true) };
            let group = group.await.map_err(|error| panic::ended(error, "decoding")).flatten();
            if progress.is_stopped() || group.is_err() {
                reading.iter().for_each(JoinHandle::abort);
            }
            let DecodedGroup { lowest, size, blocks } = group?;
            if progress.is_stopped() {
                return Ok(false);
            }
            rebuild.write(blocks, lowest).await?;
            progress.add(size);
        }
    }
}

/// Reading unpacks and decoding computes: work for a thread of its own.
async fn read_group(
    reader: Arc<GroupReader>,
    highest: u64,
    lowest: u64,
) -> Result<DecodedGroup, Error> {
    let readers = reader.clone();
    let _permit = readers.permits.acquire().await.map_err(|_| Error::Stopped)?;
    let handle = Handle::current();
    let work = move || handle.block_on(reader.read(highest, lowest));
    tasks::spawn_background(work).await.map_err(|error| panic::ended(error, "decoding"))?
}

impl GroupReader {
    async fn read(&self, highest: u64, lowest: u64) -> Result<DecodedGroup, Error> {
        // A look of its own for each group: one that lasts would keep the store from tidying up.
        let view = self.store.view().await?;
        let mut blocks = Vec::with_capacity(GROUP_BLOCKS as usize);
        for number in (lowest..=highest).rev() {
            // Reverted meanwhile: what comes in its place is written when it comes.
            let Some((block, _)) = view.whole_block(self.chain, number).await? else { continue };
            let facts = self.decoder.decode(&block);
            blocks.push(Decoded { number, hash: block.hash, facts });
        }
        Ok(DecodedGroup { lowest, size: highest - lowest + 1, blocks })
    }
}

/// Newest first, each with its highest and lowest block; below `reached` where that is given.
fn groups(coverage: &Coverage, reached: Option<u64>) -> impl Iterator<Item = (u64, u64)> + '_ {
    let below = coverage.ranges().iter().rev().filter_map(move |(from, to)| {
        let to = match reached {
            Some(reached) => (*to).min(reached.checked_sub(1)?),
            None => *to,
        };
        (*from <= to).then_some((*from, to))
    });
    below.flat_map(|(from, to)| {
        let count = (to - from) / GROUP_BLOCKS + 1;
        (0..count).map(move |n| {
            let highest = to - n * GROUP_BLOCKS;
            (highest, highest.saturating_sub(GROUP_BLOCKS - 1).max(from))
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn groups_are_every_stored_block_below_once_and_in_falling_order(
            numbers in prop::collection::btree_set(0u64..400, 0..300),
            reached in prop::option::of(0u64..450),
            at_the_end in any::<bool>(),
        ) {
            let mut coverage = Coverage::default();
            let shift = if at_the_end { u64::MAX - 399 } else { 0 };
            let numbers: Vec<u64> = numbers.iter().map(|n| n + shift).collect();
            numbers.iter().for_each(|n| coverage.insert(*n));
            let reached = reached.map(|n| n.saturating_add(shift));
            let walked: Vec<u64> = groups(&coverage, reached)
                .inspect(|(highest, lowest)| assert!(highest - lowest < GROUP_BLOCKS))
                .flat_map(|(highest, lowest)| (lowest..=highest).rev())
                .collect();
            let is_left = |n: &u64| reached.is_none_or(|reached| *n < reached);
            let expected: Vec<u64> = numbers.iter().rev().copied().filter(is_left).collect();
            prop_assert_eq!(walked, expected);
        }
    }
}
