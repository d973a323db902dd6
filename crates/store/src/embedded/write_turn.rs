//! Whose turn it is to write. A block at the head waits for one write that is under way, never for a second one of
//! those that fill history or tidy up.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

#[derive(Default)]
pub struct WriteTurns {
    /// Held by whoever writes.
    writing: Mutex<()>,
    /// Held by the one who writes next: nobody else can slip in between.
    next: Mutex<()>,
    /// Held by those of low priority while they wait and write, so that only one of them stands before `next`.
    low: Mutex<()>,
}

#[derive(Clone, Copy)]
pub enum Priority {
    Normal,
    /// Nobody waits for it.
    Low,
}

/// Ends when it is dropped.
pub struct WriteTurn<'a> {
    _writing: MutexGuard<'a, ()>,
    _low: Option<MutexGuard<'a, ()>>,
}

impl WriteTurns {
    pub fn take(&self, priority: Priority) -> WriteTurn<'_> {
        let low = matches!(priority, Priority::Low).then(|| lock(&self.low));
        let _next = lock(&self.next);
        WriteTurn { _writing: lock(&self.writing), _low: low }
    }

    /// None while somebody writes.
    pub fn try_take(&self) -> Option<WriteTurn<'_>> {
        let writing = match self.writing.try_lock() {
            Ok(writing) => writing,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(WriteTurn { _writing: writing, _low: None })
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
}
