//! How far a backup or a restore is, for whoever waits, and the word to stop.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::refuse;
use crate::Error;

#[derive(Debug, Default)]
pub struct BackupProgress {
    rows: AtomicU64,
    total: AtomicU64,
    stop: AtomicBool,
}

impl BackupProgress {
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// An estimate; 0 while nothing is known.
    pub fn rows_total(&self) -> u64 {
        self.total.load(Ordering::Relaxed).max(self.rows())
    }

    /// Takes effect within a few thousand rows.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn begin(&self, rows_total: u64) {
        self.total.store(rows_total, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn check(&self, path: &Path) -> Result<(), Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(refuse(path, "it was stopped before its end"));
        }
        Ok(())
    }
}
