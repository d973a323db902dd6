//! Blocks at the head that were fetched and will be written in a moment. What can wait does not begin to write meanwhile,
//! so that such a block finds neither the turn taken nor the processors busy with what nobody waits for.
//!
//! Only an expectation: a block that turns out to be wrong never comes, so nobody waits for long.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::chain::ChainId;

/// Checking a block takes a fraction of this, and longer where the processors are busy.
const COMES_WITHIN: Duration = Duration::from_millis(80);
/// However many blocks are expected, of however many chains: one write waits no longer.
pub const WAIT_MAX: Duration = COMES_WITHIN;

#[derive(Default)]
pub struct ExpectedHeads {
    /// When each is no longer waited for.
    expected: Mutex<Vec<(ChainId, Instant)>>,
    changed: Condvar,
}

impl ExpectedHeads {
    pub fn expect(&self, chain: ChainId) {
        let mut expected = self.lock();
        // The newest of a chain alone: those that never come would be many one day.
        expected.retain(|(of, _)| *of != chain);
        expected.push((chain, Instant::now() + COMES_WITHIN));
        drop(expected);
        self.changed.notify_all();
    }

    /// What was expected of the chain is written.
    pub fn came(&self, chain: ChainId) {
        self.lock().retain(|(of, _)| *of != chain);
        self.changed.notify_all();
    }

    /// Until none is expected, or until then. Whoever holds what the heads of a chain need waits for nobody once one of
    /// those is expected, since it waits as well.
    pub fn wait(&self, held: Option<ChainId>, until: Instant) {
        let mut expected = self.lock();
        loop {
            let now = Instant::now();
            expected.retain(|(_, end)| *end > now);
            let is_held = expected.iter().any(|(chain, _)| Some(*chain) == held);
            let last = expected.iter().map(|(_, end)| *end).max();
            let Some(end) = last.map(|end| end.min(until)).filter(|end| *end > now && !is_held)
            else {
                return;
            };
            let woken = self.changed.wait_timeout(expected, end - now);
            expected = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(ChainId, Instant)>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: ChainId = ChainId(1);
    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn nobody_waits_who_keeps_a_head_waiting_or_has_no_time() {
        let heads = ExpectedHeads::default();
        heads.wait(None, Instant::now() + LONG);
        for chain in [CHAIN, ChainId(2)] {
            heads.lock().push((chain, Instant::now() + LONG));
        }
        heads.wait(Some(CHAIN), Instant::now() + LONG);
        heads.wait(None, Instant::now());
        assert_eq!(heads.lock().len(), 2, "they were not waited for");
    }

    #[test]
    fn waiting_ends_when_the_block_came_and_when_it_does_not_come() {
        let heads = ExpectedHeads::default();
        heads.lock().push((CHAIN, Instant::now() + LONG));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| heads.wait(None, Instant::now() + LONG));
            heads.came(CHAIN);
            waiting.join().unwrap();
        });
        heads.lock().push((CHAIN, Instant::now() + LONG));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| heads.wait(Some(ChainId(2)), Instant::now() + LONG));
            heads.expect(ChainId(2));
            waiting.join().unwrap();
        });
        heads.came(CHAIN);
        heads.came(ChainId(2));
        heads.expect(CHAIN);
        heads.wait(None, Instant::now() + LONG);
        assert!(heads.lock().is_empty(), "it was waited for until it came no more");
    }
}
