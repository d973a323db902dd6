//! What the ingest of a chain is doing, for /status, the progress bar and the metrics.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::lock::lock;

#[derive(Default)]
pub struct Progress {
    blocks: AtomicU64,
    transactions: AtomicU64,
    reverted: AtomicU64,
    amended: AtomicU64,
    /// Not counted where traces are off.
    untraced: Mutex<Option<u64>>,
    /// Blocks that are still to be filled below the head.
    missing: AtomicU64,
    node_head: AtomicU64,
    /// One place per task, so that none speaks for the other.
    waiting: Mutex<[Option<String>; 2]>,
    last_reorg: Mutex<Option<ReorgStatus>>,
    retain: Mutex<Option<RetainStatus>>,
}

/// The two tasks of a chain's ingest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Follow,
    Backfill,
}

#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct ReorgStatus {
    pub ancestor: Option<u64>,
    pub reverted_blocks: u64,
}

/// A chain that keeps its newest blocks only.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct RetainStatus {
    pub retain_blocks: u64,
    /// Since this process started.
    pub blocks_pruned: u64,
    /// Why blocks that should go do not.
    pub waiting: Option<String>,
}

/// A moment of it.
#[derive(Clone, Debug, Serialize)]
pub struct IngestStatus {
    /// Since this process started.
    pub blocks_applied: u64,
    pub transactions_applied: u64,
    pub blocks_reverted: u64,
    /// Stored before, and completed with traces since this process started.
    pub blocks_amended: u64,
    pub blocks_missing: u64,
    /// Stored without traces; counted up to 1,000. Unknown where traces are off.
    pub blocks_untraced: Option<u64>,
    pub node_head: u64,
    /// Why nothing moves, where nothing does.
    pub waiting: Option<String>,
    pub last_reorg: Option<ReorgStatus>,
    /// None where all blocks are kept.
    pub retain: Option<RetainStatus>,
}

impl Progress {
    pub fn applied(&self, blocks: u64, transactions: u64) {
        self.blocks.fetch_add(blocks, Ordering::Relaxed);
        self.transactions.fetch_add(transactions, Ordering::Relaxed);
    }

    pub fn reorged(&self, reorg: ReorgStatus) {
        self.reverted.fetch_add(reorg.reverted_blocks, Ordering::Relaxed);
        *lock(&self.last_reorg) = Some(reorg);
    }

    pub(crate) fn set_retain(&self, retain_blocks: Option<u64>) {
        *lock(&self.retain) = retain_blocks.map(|retain_blocks| RetainStatus {
            retain_blocks,
            blocks_pruned: 0,
            waiting: None,
        });
    }

    pub(crate) fn pruned(&self, blocks: u64) {
        if let Some(retain) = lock(&self.retain).as_mut() {
            retain.blocks_pruned += blocks;
            retain.waiting = None;
        }
    }

    pub(crate) fn set_retain_waiting(&self, why: Option<String>) {
        if let Some(retain) = lock(&self.retain).as_mut() {
            retain.waiting = why;
        }
    }

    pub fn amended(&self, blocks: u64) {
        self.amended.fetch_add(blocks, Ordering::Relaxed);
    }

    pub fn set_untraced(&self, blocks: u64) {
        *lock(&self.untraced) = Some(blocks);
    }

    pub fn set_missing(&self, blocks: u64) {
        self.missing.store(blocks, Ordering::Relaxed);
    }

    pub fn set_node_head(&self, number: u64) {
        self.node_head.store(number, Ordering::Relaxed);
    }

    /// Says whether that is news.
    pub fn set_waiting(&self, task: Task, why: Option<String>) -> bool {
        let mut waiting = lock(&self.waiting);
        let [follow, backfill] = &mut *waiting;
        let place = match task {
            Task::Follow => follow,
            Task::Backfill => backfill,
        };
        let is_news = *place != why;
        *place = why;
        is_news
    }

    /// Both tasks often wait for the same reason; it is told once.
    fn waiting(&self) -> Option<String> {
        let waiting = lock(&self.waiting);
        match &*waiting {
            [Some(a), Some(b)] if a != b => Some(format!("{a}; history: {b}")),
            [Some(why), _] | [None, Some(why)] => Some(why.clone()),
            [None, None] => None,
        }
    }

    pub fn snapshot(&self) -> IngestStatus {
        IngestStatus {
            blocks_applied: self.blocks.load(Ordering::Relaxed),
            transactions_applied: self.transactions.load(Ordering::Relaxed),
            blocks_reverted: self.reverted.load(Ordering::Relaxed),
            blocks_amended: self.amended.load(Ordering::Relaxed),
            blocks_untraced: *lock(&self.untraced),
            blocks_missing: self.missing.load(Ordering::Relaxed),
            node_head: self.node_head.load(Ordering::Relaxed),
            waiting: self.waiting(),
            last_reorg: lock(&self.last_reorg).clone(),
            retain: lock(&self.retain).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_task_does_not_speak_for_the_other() {
        let progress = Progress::default();
        let waiting = || progress.snapshot().waiting;
        assert!(progress.set_waiting(Task::Follow, Some("a".into())));
        assert!(!progress.set_waiting(Task::Follow, Some("a".into())), "told already");
        assert!(progress.set_waiting(Task::Backfill, Some("b".into())));
        assert_eq!(waiting().as_deref(), Some("a; history: b"));
        progress.set_waiting(Task::Follow, None);
        assert_eq!(waiting().as_deref(), Some("b"));
        progress.set_waiting(Task::Follow, Some("b".into()));
        assert_eq!(waiting().as_deref(), Some("b"));
        progress.set_waiting(Task::Backfill, None);
        progress.set_waiting(Task::Follow, None);
        assert_eq!(waiting(), None);
    }
}
