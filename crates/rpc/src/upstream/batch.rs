//! How many calls a node takes in one batch, learned from its refusals.

use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
pub struct BatchSize {
    configured: usize,
    now: AtomicUsize,
}

impl BatchSize {
    pub fn new(configured: usize) -> Self {
        let configured = configured.max(1);
        Self { configured, now: AtomicUsize::new(configured) }
    }

    pub fn get(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }

    /// A batch of `sent` calls was refused: half of that next time when it was too many, else no
    /// batches at all. Never grows, so late refusals of old batches do no harm.
    pub fn learn(&self, sent: usize, too_many: bool) -> usize {
        let size = if too_many { (sent / 2).max(1) } else { 1 };
        self.now.fetch_min(size, Ordering::Relaxed);
        self.get()
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
}
