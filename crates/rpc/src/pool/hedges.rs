//! How many second questions may be asked: a share of all calls, so that nodes that are slow because they are busy
//! are not given twice the work.

use std::sync::atomic::{AtomicU32, Ordering};

/// What one second question costs, in calls that earn it: one in ten calls.
const COST: u32 = 10;
/// What can be saved up: so many second questions in a row.
const SAVED_MAX: u32 = 50 * COST;

#[derive(Debug)]
pub struct Hedges {
    saved: AtomicU32,
}

impl Default for Hedges {
    fn default() -> Self {
        Self { saved: AtomicU32::new(SAVED_MAX) }
    }
}

impl Hedges {
    /// A call was sent.
    pub fn earn(&self) {
        let more = |saved: u32| (saved < SAVED_MAX).then_some(saved + 1);
        let _ = self.saved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    /// Whether a second question may be asked; it counts.
    pub fn spend(&self) -> bool {
        let less = |saved: u32| saved.checked_sub(COST);
        self.saved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_calls_earn_one_second_question() {
        let hedges = Hedges::default();
        assert_eq!((0..1000).filter(|_| hedges.spend()).count(), 50);
        (0..9).for_each(|_| hedges.earn());
        assert!(!hedges.spend());
        hedges.earn();
        assert!(hedges.spend() && !hedges.spend());
        (0..10_000).for_each(|_| hedges.earn());
        assert_eq!((0..1000).filter(|_| hedges.spend()).count(), 50);
    }
}
