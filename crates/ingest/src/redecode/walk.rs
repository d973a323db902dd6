//! The way through all stored blocks: groups from the newest down, read and decoded by several
//! workers, written in order by one.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use decode::Decoder;
use model::chain::Chain;
use store::{Coverage, Decoded, Fingerprint, Store};

use super::Progress;
use crate::error::Error;

/// Blocks written at once: commits wait for no more than this.
const GROUP_BLOCKS: u64 = 32;
/// Groups that a worker may be ahead of the writer.
const AHEAD: usize = 2;

pub struct Walk<'a> {
    pub store: &'a Store,
    pub chain: &'a Chain,
    pub decoder: Fingerprint,
    pub coverage: &'a Coverage,
    /// Where an earlier walk came to.
    pub reached: Option<u64>,
}

/// Blocks from the highest down to `lowest`, as they were read.
struct Group {
    lowest: u64,
    size: u64,
    blocks: Vec<Decoded>,
}

impl Walk<'_> {
    /// False when it was stopped on the way.
    pub fn run(
        &self,
        decoder: &Decoder,
        threads: usize,
        progress: &Progress,
    ) -> Result<bool, Error> {
        let threads = threads.max(1);
        std::thread::scope(|scope| {
            let mut queues = Vec::with_capacity(threads);
            for worker in 0..threads {
                let (sender, receiver) = sync_channel(AHEAD);
                let mine = groups(self.coverage, self.reached).skip(worker).step_by(threads);
                scope.spawn(move || self.read(mine, decoder, &sender, progress));
                queues.push(receiver);
            }
            self.write(queues, progress)
        })
    }

    /// Ends when all is read, or nobody wants more.
    fn read(
        &self,
        groups: impl Iterator<Item = (u64, u64)>,
        decoder: &Decoder,
        sender: &SyncSender<Result<Group, store::Error>>,
        progress: &Progress,
    ) {
        for (highest, lowest) in groups {
            if progress.is_stopped() {
                return;
            }
            let group = self.read_group(highest, lowest, decoder);
            let failed = group.is_err();
            if sender.send(group).is_err() || failed {
                return;
            }
        }
    }

    fn read_group(
        &self,
        highest: u64,
        lowest: u64,
        decoder: &Decoder,
    ) -> Result<Group, store::Error> {
        // A look of its own for each group: one that lasts would keep the store from tidying up.
        let view = self.store.view();
        let mut blocks = Vec::with_capacity(GROUP_BLOCKS as usize);
        for number in (lowest..=highest).rev() {
            // Taken back meanwhile: what comes in its place is written when it comes.
            let Some((block, _)) = view.whole_block(self.chain.id, number)? else { continue };
            let facts = decoder.decode(&block);
            blocks.push(Decoded { number, hash: block.hash, facts });
        }
        Ok(Group { lowest, size: highest - lowest + 1, blocks })
    }

    /// In order, so that one number tells how far it came. Each worker has a queue of its own, and
    /// the groups are dealt out in turn.
    fn write(
        &self,
        // Owned: workers that wait to hand over a group must notice when writing ends early.
        queues: Vec<Receiver<Result<Group, store::Error>>>,
        progress: &Progress,
    ) -> Result<bool, Error> {
        let expected = groups(self.coverage, self.reached);
        for (_, queue) in expected.zip(queues.iter().cycle()) {
            let Ok(group) = queue.recv() else {
                return if progress.is_stopped() { Ok(false) } else { Err(Error::Stopped) };
            };
            let Group { lowest, size, blocks } = group?;
            if progress.is_stopped() {
                return Ok(false);
            }
            self.store.write_generation(self.chain.id, self.decoder, &blocks, lowest)?;
            progress.add(size);
        }
        Ok(true)
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
