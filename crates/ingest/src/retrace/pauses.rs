//! When a block without traces is asked for again. Pure: told what happened and when.
//!
//! Each failure doubles a block's pause. Where a node no longer has the state of a block, it has that of
//! no older one either: they wait together.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

const PAUSE_MIN: Duration = Duration::from_secs(1);
/// Blocks that never trace (bor's with a state-sync transaction) must not keep a node busy.
const PAUSE_MAX: Duration = Duration::from_secs(3_600);
/// Blocks with a pause of their own; beyond this, older ones wait together.
const BLOCKS_MAX: usize = 65_536;

#[derive(Clone, Copy)]
struct BlockPause {
    length: Duration,
    until: Instant,
}

impl BlockPause {
    fn after(before: Option<BlockPause>, now: Instant) -> Self {
        let length = before.map_or(PAUSE_MIN, |before| (before.length * 2).min(PAUSE_MAX));
        BlockPause { length, until: now + length }
    }
}

#[derive(Default)]
pub struct Pauses {
    blocks: BTreeMap<u64, BlockPause>,
    /// This block and all older ones.
    older: Option<(u64, BlockPause)>,
}

impl Pauses {
    pub fn is_due(&self, number: u64, now: Instant) -> bool {
        let own = self.blocks.get(&number).is_some_and(|pause| now < pause.until);
        let with_older =
            self.older.is_some_and(|(newest, pause)| number <= newest && now < pause.until);
        !own && !with_older
    }

    /// Nobody could trace this block.
    pub fn failed(&mut self, number: u64, now: Instant) {
        if self.blocks.len() >= BLOCKS_MAX {
            // Not asked for since: reverted, or traced by somebody else.
            self.blocks.retain(|_, pause| now < pause.until + PAUSE_MAX);
        }
        if self.blocks.len() >= BLOCKS_MAX {
            return self.failed_with_older(number, now);
        }
        let before = self.blocks.get(&number).copied();
        self.blocks.insert(number, BlockPause::after(before, now));
    }

    /// No node has what it takes to trace this block, and so none will trace an older one.
    pub fn failed_with_older(&mut self, number: u64, now: Instant) {
        let before = self.older.filter(|(newest, _)| number <= *newest).map(|(_, pause)| pause);
        self.older = Some((number, BlockPause::after(before, now)));
    }

    pub fn succeeded(&mut self, number: u64) {
        self.blocks.remove(&number);
        // One that was thought to be out of reach was not.
        self.older = self.older.filter(|(newest, _)| number > *newest);
    }

    /// Somebody can do more than before.
    pub fn clear(&mut self) {
        *self = Pauses::default();
    }

    /// When the next pause ends.
    pub fn next_due(&self, now: Instant) -> Option<Instant> {
        let older = self.older.map(|(_, pause)| pause.until);
        let ends = self.blocks.values().map(|pause| pause.until).chain(older);
        ends.filter(|until| *until > now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_double_up_to_an_hour_for_each_block_alone() {
        let (mut pauses, mut now) = (Pauses::default(), Instant::now());
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600] {
            assert!(pauses.is_due(7, now));
            pauses.failed(7, now);
            assert!(pauses.is_due(6, now) && pauses.is_due(8, now));
            assert_eq!(pauses.next_due(now), Some(now + seconds * SECOND));
            now += seconds * SECOND - Duration::from_millis(1);
            assert!(!pauses.is_due(7, now));
            now += Duration::from_millis(1);
        }
        pauses.succeeded(7);
        pauses.failed(7, now);
        assert_eq!(pauses.next_due(now), Some(now + SECOND), "a success forgets");
    }

    #[test]
    fn what_is_out_of_reach_waits_with_all_that_is_older() {
        let (mut pauses, now) = (Pauses::default(), Instant::now());
        pauses.failed_with_older(100, now);
        assert!(pauses.is_due(101, now) && !pauses.is_due(100, now) && !pauses.is_due(0, now));
        let later = now + SECOND;
        assert!(pauses.is_due(100, later));
        // The same again, a little further down: the pause grows.
        pauses.failed_with_older(98, later);
        assert!(pauses.is_due(99, later) && !pauses.is_due(98, later + SECOND));
        assert_eq!(pauses.next_due(later), Some(later + 2 * SECOND));
        pauses.succeeded(99);
        assert!(!pauses.is_due(50, later));
        pauses.succeeded(60);
        assert!(pauses.is_due(50, later), "it is not out of reach after all");
        pauses.failed_with_older(40, later);
        pauses.clear();
        assert!(pauses.is_due(40, later) && pauses.next_due(later).is_none());
    }

    #[test]
    fn pauses_need_no_more_memory_than_they_may() {
        let (mut pauses, now) = (Pauses::default(), Instant::now());
        for number in (0..BLOCKS_MAX as u64 + 10).rev() {
            pauses.failed(number, now);
        }
        assert_eq!(pauses.blocks.len(), BLOCKS_MAX);
        assert!(!pauses.is_due(0, now), "it waits with the older ones");
        let much_later = now + 3 * PAUSE_MAX;
        pauses.failed(3, much_later);
        assert_eq!(pauses.blocks.len(), 1, "what nobody asked for again is forgotten");
    }
}
