//! What a key has used since the process started.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

#[derive(Debug, Default)]
pub struct Usage {
    requests: AtomicU64,
    units: AtomicU64,
    refused: AtomicU64,
}

/// As the admin surface and the console tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageCounts {
    /// Requests that were charged, a batch as one.
    pub requests: u64,
    /// Compute units they took of the key's limit.
    pub units: u64,
    /// Requests that were refused because the key had nothing left.
    pub refused: u64,
}

impl Usage {
    pub fn charge(&self, units: u32) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.units.fetch_add(u64::from(units), Ordering::Relaxed);
    }

    pub fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub fn counts(&self) -> UsageCounts {
        UsageCounts {
            requests: self.requests.load(Ordering::Relaxed),
            units: self.units.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }
}
