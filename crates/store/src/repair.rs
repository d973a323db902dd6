//! What a repair did, and what it could not save.

use std::path::PathBuf;

use crate::CheckReport;

/// What is missing of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostOfChain {
    pub chain: u64,
    /// Journal entries that were durable and are gone.
    pub entries: u64,
    /// The newest block that was durable, and the newest now.
    pub newest_before: Option<u64>,
    pub newest_now: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub struct RepairReport {
    /// What was done, in words; empty where nothing had to be.
    pub steps: Vec<String>,
    /// Damaged files, kept under these names.
    pub kept: Vec<PathBuf>,
    pub lost: Vec<LostOfChain>,
    /// Whether it was known what was durable; without it losses cannot be named.
    pub had_record: bool,
    pub check: CheckReport,
}
