//! Whose turn it is to write. A block at the head waits for one write that is under way, never for a second one of
//! those that fill history or tidy up; and those that fill history make ready what they write before their turn.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use alloy_primitives::map::HashMap;
use model::chain::ChainId;

use super::expected_heads::{ExpectedHeads, WAIT_MAX};

#[derive(Default)]
pub struct WriteTurns {
    /// Those of low priority wait for them.
    pub heads: ExpectedHeads,
    /// Held by whoever writes.
    writing: Mutex<()>,
    /// Held by the one who writes next: nobody else can slip in between.
    next: Mutex<()>,
    /// Held by those of low priority while they wait and write, so that only one of them stands before `next`.
    low: Mutex<()>,
    ended: Mutex<EndedTurns>,
}

/// How many turns of normal priority have ended.
#[derive(Default)]
struct EndedTurns {
    of_chain: HashMap<ChainId, u64>,
    /// Of those that did not say what they write.
    of_any: u64,
}

#[derive(Clone, Copy)]
pub enum Priority {
    Normal,
    /// Nobody waits for it.
    Low,
}

/// Ends when it is dropped.
pub struct WriteTurn<'a> {
    turns: &'a WriteTurns,
    /// None where it is of no chain alone.
    chain: Option<ChainId>,
    only_moves_a_reader: bool,
    _writing: MutexGuard<'a, ()>,
    low: Option<MutexGuard<'a, ()>>,
}

/// The time before a turn of low priority. Nobody else of low priority writes until the turn is over; others may.
pub struct Preparation<'a> {
    turns: &'a WriteTurns,
    chain: ChainId,
    ended_before: u64,
    /// Heads are waited for no longer.
    waits_until: Instant,
    low: MutexGuard<'a, ()>,
}

impl WriteTurns {
    /// For a write that may change anything.
    pub fn take(&self, priority: Priority) -> WriteTurn<'_> {
        self.take_for(None, priority)
    }

    /// For a write that changes nothing but what is of one chain.
    pub fn take_for(&self, chain: Option<ChainId>, priority: Priority) -> WriteTurn<'_> {
        let low = matches!(priority, Priority::Low).then(|| lock(&self.low));
        if low.is_some() {
            self.heads.wait(chain, Instant::now() + WAIT_MAX);
        }
        self.write(chain, low)
    }

    fn write<'a>(
        &'a self,
        chain: Option<ChainId>,
        low: Option<MutexGuard<'a, ()>>,
    ) -> WriteTurn<'a> {
        let _next = lock(&self.next);
        self.turn(chain, lock(&self.writing), low)
    }

    fn turn<'a>(
        &'a self,
        chain: Option<ChainId>,
        writing: MutexGuard<'a, ()>,
        low: Option<MutexGuard<'a, ()>>,
    ) -> WriteTurn<'a> {
        WriteTurn { turns: self, chain, only_moves_a_reader: false, _writing: writing, low }
    }

    /// For a write of low priority to a chain, of which everything is made ready before others have to wait for it.
    pub fn prepare(&self, chain: ChainId) -> Preparation<'_> {
        let low = lock(&self.low);
        let waits_until = Instant::now() + WAIT_MAX;
        self.heads.wait(Some(chain), waits_until);
        let ended_before = self.ended(chain);
        Preparation { turns: self, chain, ended_before, waits_until, low }
    }

    /// Turns that may have changed what is of the chain.
    fn ended(&self, chain: ChainId) -> u64 {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.of_any + ended.of_chain.get(&chain).copied().unwrap_or(0)
    }

    /// None while somebody writes.
    pub fn try_take(&self) -> Option<WriteTurn<'_>> {
        let writing = match self.writing.try_lock() {
            Ok(writing) => writing,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(self.turn(None, writing, None))
    }
}

impl<'a> Preparation<'a> {
    /// The turn, and whether what was found out since `prepare` still holds.
    pub fn take(self) -> (WriteTurn<'a>, bool) {
        self.turns.heads.wait(Some(self.chain), self.waits_until);
        let turn = self.turns.write(Some(self.chain), Some(self.low));
        let holds = self.turns.ended(self.chain) == self.ended_before;
        (turn, holds)
    }
}

impl WriteTurn<'_> {
    /// What others made ready holds all the same: a reader that is known only goes on, and they prune no more of the journal
    /// than it had passed before.
    pub fn only_moves_a_reader(&mut self) {
        self.only_moves_a_reader = true;
    }
}

impl Drop for WriteTurn<'_> {
    fn drop(&mut self) {
        // Of low priority: nobody prepares meanwhile.
        if self.low.is_some() || self.only_moves_a_reader {
            return;
        }
        // It still writes: whoever began to prepare before now may not have seen what it wrote.
        let mut ended = self.turns.ended.lock().unwrap_or_else(PoisonError::into_inner);
        match self.chain {
            Some(chain) => *ended.of_chain.entry(chain).or_default() += 1,
            None => ended.of_any += 1,
        }
    }
}

/// A thread that panicked while it had its turn has written nothing by halves: a write is one batch.
fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn those_of_low_priority_let_others_pass() {
        const LOW: usize = 8;
        let turns = WriteTurns::default();
        let (told, order) = channel();
        std::thread::scope(|scope| {
            let under_way = turns.take(Priority::Normal);
            for _ in 0..LOW {
                let told = told.clone();
                let turns = &turns;
                scope.spawn(move || {
                    let _turn = turns.take(Priority::Low);
                    told.send("low").unwrap();
                    std::thread::sleep(Duration::from_millis(20));
                });
            }
            // All of them wait by now; were one late, it would come even later.
            std::thread::sleep(Duration::from_millis(100));
            let head = scope.spawn(|| {
                let _turn = turns.take(Priority::Normal);
                told.send("head").unwrap();
            });
            std::thread::sleep(Duration::from_millis(50));
            drop(under_way);
            head.join().unwrap();
        });
        let order: Vec<_> = order.try_iter().collect();
        assert_eq!(order.len(), LOW + 1);
        // One of low priority may have stood before it.
        assert!(order[..2].contains(&"head"), "{order:?}");
    }

    #[test]
    fn one_writes_at_a_time_and_a_turn_that_is_taken_is_not_given_again() {
        let turns = WriteTurns::default();
        let turn = turns.take(Priority::Low);
        assert!(turns.try_take().is_none());
        drop(turn);
        drop(turns.try_take().unwrap());
        drop(turns.take(Priority::Normal));
    }

    #[test]
    fn what_is_prepared_holds_unless_somebody_wrote_to_the_chain_meanwhile() {
        let (mine, other) = (ChainId(1), ChainId(2));
        let turns = WriteTurns::default();
        let holds = |meanwhile: &dyn Fn()| {
            let preparing = turns.prepare(mine);
            meanwhile();
            preparing.take().1
        };
        assert!(holds(&|| ()));
        assert!(holds(&|| drop(turns.take_for(Some(other), Priority::Normal))));
        assert!(!holds(&|| drop(turns.take_for(Some(mine), Priority::Normal))));
        assert!(!holds(&|| drop(turns.take(Priority::Normal))));
        assert!(!holds(&|| drop(turns.try_take().unwrap())));
        assert!(holds(&|| turns.take(Priority::Normal).only_moves_a_reader()));
        assert!(holds(&|| ()), "what was before does not count");
    }

    #[test]
    fn a_write_that_was_under_way_when_preparing_began_counts() {
        let turns = WriteTurns::default();
        let under_way = turns.take_for(Some(ChainId(1)), Priority::Normal);
        let preparing = turns.prepare(ChainId(1));
        drop(under_way);
        assert!(!preparing.take().1);
    }

    #[test]
    fn others_write_while_one_of_low_priority_prepares() {
        let turns = WriteTurns::default();
        let preparing = turns.prepare(ChainId(1));
        drop(turns.take(Priority::Normal));
        let (turn, _) = preparing.take();
        assert!(turns.try_take().is_none());
        drop(turn);
        drop(turns.take(Priority::Low));
    }
}
