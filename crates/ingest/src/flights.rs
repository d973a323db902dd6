//! Memory of blocks of history that were fetched and are not written yet, of all chains together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One for all chains of a process.
#[derive(Debug)]
pub struct Flights {
    bytes_max: usize,
    used: AtomicUsize,
}

impl Flights {
    pub fn new(bytes_max: usize) -> Arc<Self> {
        metrics::gauge!("headwater_memory_budget_bytes", "part" => "flights").set(bytes_max as f64);
        Arc::new(Flights { bytes_max, used: AtomicUsize::new(0) })
    }

    /// Whoever still waits for answers asks for no more.
    pub(crate) fn is_full(&self) -> bool {
        self.used.load(Ordering::Relaxed) >= self.bytes_max
    }

    /// What can be written is written, be it little.
    pub(crate) fn is_nearly_full(&self) -> bool {
        self.used.load(Ordering::Relaxed) >= self.bytes_max / 4 * 3
    }

    /// Never refused: the blocks are there. Given back when the answer is dropped.
    pub(crate) fn hold(self: &Arc<Self>, bytes: usize) -> HeldBytes {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        self.tell();
        HeldBytes { flights: self.clone(), bytes }
    }

    fn tell(&self) {
        let used = self.used.load(Ordering::Relaxed);
        metrics::gauge!("headwater_memory_bytes", "part" => "flights").set(used as f64);
    }
}

pub(crate) struct HeldBytes {
    flights: Arc<Flights>,
    bytes: usize,
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.flights.used.fetch_sub(self.bytes, Ordering::Relaxed);
        self.flights.tell();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_counts_until_it_is_dropped() {
        let flights = Flights::new(100);
        let first = flights.hold(75);
        assert!(flights.is_nearly_full() && !flights.is_full());
        let second = flights.hold(60);
        assert!(flights.is_full());
        drop(first);
        assert!(!flights.is_nearly_full());
        drop(second);
        assert_eq!(flights.used.load(Ordering::Relaxed), 0);
    }
}
