//! How many calls go into one batch: what the node takes, learned from its refusals, and no more than
//! is good for the size of its answers.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Batching saves the cost of a request. Where answers are large, that is little, and a large body is
/// a burden: it is held as a whole until its last part is done with.
const BODY_BYTES: usize = 256 << 10;

#[derive(Debug)]
pub struct BatchSize {
    configured: usize,
    now: AtomicUsize,
    /// Of an answer, in bytes, by and large.
    usual_answer: AtomicUsize,
}

impl BatchSize {
    pub fn new(configured: usize) -> Self {
        let configured = configured.max(1);
        Self { configured, now: AtomicUsize::new(configured), usual_answer: AtomicUsize::new(0) }
    }

    pub fn get(&self) -> usize {
        let usual = self.usual_answer.load(Ordering::Relaxed).max(1);
        self.now.load(Ordering::Relaxed).min((BODY_BYTES / usual).max(1))
    }

    /// So many answers came in a body of that size.
    pub fn note_size(&self, answers: usize, body_bytes: usize) {
        let usual = self.usual_answer.load(Ordering::Relaxed);
        let now = body_bytes / answers.max(1);
        self.usual_answer.store((usual * 7 + now) / 8, Ordering::Relaxed);
    }

    /// A batch of `sent` calls was refused: half of that next time when it was too many, else no
    /// batches at all. Never grows, so late refusals of old batches do no harm.
    pub fn learn(&self, sent: usize, too_many: bool) -> usize {
        let size = if too_many { (sent / 2).max(1) } else { 1 };
        self.now.fetch_min(size, Ordering::Relaxed);
        self.now.load(Ordering::Relaxed)
    }

    /// A node that comes back may be another one behind the same URL.
    pub fn forget(&self) {
        self.now.store(self.configured, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_halved_or_batches_are_given_up() {
        let size = BatchSize::new(20);
        assert_eq!(size.learn(20, true), 10);
        assert_eq!(size.learn(20, true), 10);
        assert_eq!(size.learn(10, true), 5);
        assert_eq!(size.learn(5, false), 1);
        assert_eq!(size.learn(1, true), 1);
        size.forget();
        assert_eq!(size.get(), 20);
        assert_eq!(BatchSize::new(0).get(), 1);
    }

    #[test]
    fn large_answers_come_alone_and_small_ones_together() {
        let size = BatchSize::new(20);
        (0..60).for_each(|_| size.note_size(1, 300_000));
        assert_eq!(size.get(), 1);
        (0..60).for_each(|_| size.note_size(1, 50_000));
        assert_eq!(size.get(), 5);
        (0..60).for_each(|_| size.note_size(20, 20_000));
        assert_eq!(size.get(), 20);
    }
}
