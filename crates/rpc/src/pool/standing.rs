//! What an upstream's word about its head is worth.
//!
//! Anybody can announce any block. A head that was announced and not given is doubted for a while, longer
//! each time: heads of others come first meanwhile. Pure: told what happened and when.

use std::time::Duration;
use tasks::Backoff;
use tokio::time::Instant;

/// So many heads in a row that were announced and not given are no accident.
pub const UNDELIVERED_MAX: u32 = 5;

#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Heads that it announced and did not give, in a row.
    undelivered: u32,
    doubted_until: Option<Instant>,
}

impl Standing {
    /// It, or another that has the same head, gave the block.
    pub fn delivered(&mut self) {
        *self = Standing::default();
    }

    /// Behind one address there may be several nodes, of which some are late: once says little.
    pub fn not_delivered(&mut self, backoff: Backoff, now: Instant) -> u32 {
        let pause = backoff.wait(self.undelivered, 0.0);
        self.undelivered = self.undelivered.saturating_add(1);
        self.doubt(pause, now);
        self.undelivered
    }

    /// Others come first for so long.
    pub fn doubt(&mut self, pause: Duration, now: Instant) {
        self.doubted_until = Some(now + pause);
    }

    pub fn undelivered(&self) -> u32 {
        self.undelivered
    }

    pub fn is_doubted(&self, now: Instant) -> bool {
        self.doubted_until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_grow_until_a_block_is_given() {
        let backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_secs(60) };
        let (mut standing, now) = (Standing::default(), Instant::now());
        for (times, seconds) in [(1, 1), (2, 2), (3, 4), (4, 8)] {
            assert_eq!(standing.not_delivered(backoff, now), times);
            assert!(standing.is_doubted(now + Duration::from_secs(seconds) / 2));
            assert!(!standing.is_doubted(now + Duration::from_secs(seconds)));
        }
        standing.delivered();
        assert!(!standing.is_doubted(now));
        assert_eq!(standing.not_delivered(backoff, now), 1, "it starts anew");
    }
}
