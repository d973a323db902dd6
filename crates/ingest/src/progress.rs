//! What the ingest of a chain is doing, for /status, the progress bar and the metrics.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::audit::{AuditProgress, AuditStatus};
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
    tasks: Mutex<[TaskStatus; 5]>,
    last_reorg: Mutex<Option<ReorgStatus>>,
    unconfirmed_reverts: Mutex<VecDeque<UnconfirmedRevert>>,
    finalized: Mutex<Option<u64>>,
    /// And when it was said.
    second_word: Mutex<Option<(String, Instant)>>,
    trace_failure: Mutex<Option<TraceFailure>>,
    history_end: Mutex<Option<u64>>,
    retain: Mutex<Option<RetainStatus>>,
    pub audit: AuditProgress,
}

/// The tasks of a chain's ingest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Follow,
    Backfill,
    Retrace,
    Retain,
    Audit,
}

impl Task {
    const ALL: [Task; 5] = [Task::Follow, Task::Backfill, Task::Retrace, Task::Retain, Task::Audit];

    pub fn name(self) -> &'static str {
        match self {
            Task::Follow => "following the head",
            Task::Backfill => "filling history",
            Task::Retrace => "tracing stored blocks",
            Task::Retain => "dropping the oldest blocks",
            Task::Audit => "auditing balances",
        }
    }
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How one task of a chain's ingest is getting on.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
pub struct TaskStatus {
    /// What it waits for, where it waits: mostly a node.
    pub waiting: Option<String>,
    /// Why it ended and was started again, until it gets on again.
    pub failed: Option<String>,
    /// How often it was started again since this process started.
    pub restarts: u64,
}

#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct ReorgStatus {
    pub ancestor: Option<u64>,
    pub reverted_blocks: u64,
}

/// A deep revert that was done on the word of one node.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct UnconfirmedRevert {
    /// When, in seconds since 1970.
    pub at: u64,
    /// The first block of the new branch.
    pub block: u64,
    pub hash: String,
    /// What was stored in its place.
    pub instead_of: Option<String>,
    pub reverted_blocks: u64,
    /// Who gave it.
    pub upstream: String,
    /// Why nobody else's word was had.
    pub why: String,
}

/// Whoever wants a second word asks for it every few seconds.
const SECOND_WORD_SHOWN: Duration = Duration::from_secs(30);
/// So many of them are remembered.
const UNCONFIRMED_KEPT: usize = 10;

/// Why a block is still untraced, though nodes were asked.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct TraceFailure {
    pub block: u64,
    pub reason: String,
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
    /// The newest reason why one of them could not be traced; none once all are.
    pub trace_failure: Option<TraceFailure>,
    /// The oldest block that any node has, where that is above the block to fill down to.
    pub history_ends_at: Option<u64>,
    pub node_head: u64,
    /// Why nothing moves, where nothing does.
    pub waiting: Option<String>,
    /// Tasks that ended and were started again, with the reason, until they get on again.
    pub failed: Vec<String>,
    /// How often a task was started again since this process started.
    pub restarts: u64,
    pub last_reorg: Option<ReorgStatus>,
    /// Deep reverts that no second node vouched for, the newest last.
    pub unconfirmed_reverts: Vec<UnconfirmedRevert>,
    /// The branch that waits for the word of a second node.
    pub second_word: Option<String>,
    /// The newest stored block that a node called finalized; none where nodes do not say.
    pub finalized_block: Option<u64>,
    /// None where all blocks are kept.
    pub retain: Option<RetainStatus>,
    /// Balances held against blocks.
    pub audit: AuditStatus,
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

    /// Says whether it is news: a commit that fails is tried again.
    pub(crate) fn unconfirmed(&self, revert: UnconfirmedRevert) -> bool {
        let mut known = lock(&self.unconfirmed_reverts);
        if known.iter().any(|it| (&it.hash, &it.instead_of) == (&revert.hash, &revert.instead_of)) {
            return false;
        }
        if known.len() == UNCONFIRMED_KEPT {
            known.pop_front();
        }
        known.push_back(revert);
        true
    }

    /// Said again as long as it holds. Says whether it is news.
    pub(crate) fn set_second_word(&self, wanted: Option<String>) -> bool {
        let is_news = self.second_word() != wanted;
        *lock(&self.second_word) = wanted.map(|wanted| (wanted, Instant::now()));
        is_news
    }

    fn second_word(&self) -> Option<String> {
        let wanted = lock(&self.second_word).clone();
        wanted.filter(|(_, at)| at.elapsed() < SECOND_WORD_SHOWN).map(|(wanted, _)| wanted)
    }

    pub(crate) fn set_finalized(&self, block: Option<u64>) {
        *lock(&self.finalized) = block;
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

    pub fn set_trace_failure(&self, failure: Option<TraceFailure>) {
        *lock(&self.trace_failure) = failure;
    }

    pub fn set_history_end(&self, block: Option<u64>) {
        *lock(&self.history_end) = block;
    }

    pub fn set_missing(&self, blocks: u64) {
        self.missing.store(blocks, Ordering::Relaxed);
    }

    pub fn set_node_head(&self, number: u64) {
        self.node_head.store(number, Ordering::Relaxed);
    }

    /// None: it gets on. Says whether that is news.
    pub fn set_waiting(&self, task: Task, why: Option<String>) -> bool {
        let mut tasks = lock(&self.tasks);
        let status = status_of(&mut tasks, task);
        if why.is_none() {
            status.failed = None;
        }
        let is_news = status.waiting != why;
        status.waiting = why;
        is_news
    }

    /// It ended, and will be started again.
    pub fn set_failed(&self, task: Task, why: &str) {
        let mut tasks = lock(&self.tasks);
        let status = status_of(&mut tasks, task);
        (status.waiting, status.failed) = (None, Some(why.to_owned()));
        status.restarts += 1;
    }

    pub fn task(&self, task: Task) -> TaskStatus {
        status_of(&mut lock(&self.tasks), task).clone()
    }

    /// Tasks often wait for the same reason; it is told once.
    fn waiting(&self) -> Option<String> {
        let mut reasons: Vec<String> = Vec::new();
        let mut text = String::new();
        for task in Task::ALL {
            let Some(why) = self.task(task).waiting.filter(|why| !reasons.contains(why)) else {
                continue;
            };
            if !text.is_empty() {
                text += &format!("; {task}: ");
            }
            text += &why;
            reasons.push(why);
        }
        (!text.is_empty()).then_some(text)
    }

    fn failed(&self) -> Vec<String> {
        let told = |task| self.task(task).failed.map(|why| format!("{task}: {why}"));
        Task::ALL.into_iter().filter_map(told).collect()
    }

    pub fn snapshot(&self) -> IngestStatus {
        IngestStatus {
            blocks_applied: self.blocks.load(Ordering::Relaxed),
            transactions_applied: self.transactions.load(Ordering::Relaxed),
            blocks_reverted: self.reverted.load(Ordering::Relaxed),
            blocks_amended: self.amended.load(Ordering::Relaxed),
            blocks_untraced: *lock(&self.untraced),
            blocks_missing: self.missing.load(Ordering::Relaxed),
            trace_failure: lock(&self.trace_failure).clone(),
            history_ends_at: *lock(&self.history_end),
            node_head: self.node_head.load(Ordering::Relaxed),
            waiting: self.waiting(),
            failed: self.failed(),
            restarts: Task::ALL.iter().map(|task| self.task(*task).restarts).sum(),
            last_reorg: lock(&self.last_reorg).clone(),
            unconfirmed_reverts: lock(&self.unconfirmed_reverts).iter().cloned().collect(),
            second_word: self.second_word(),
            finalized_block: *lock(&self.finalized),
            retain: lock(&self.retain).clone(),
            audit: self.audit.snapshot(),
        }
    }
}

fn status_of(tasks: &mut [TaskStatus; 5], task: Task) -> &mut TaskStatus {
    let [follow, backfill, retrace, retain, audit] = tasks;
    match task {
        Task::Follow => follow,
        Task::Backfill => backfill,
        Task::Retrace => retrace,
        Task::Retain => retain,
        Task::Audit => audit,
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
        assert_eq!(waiting().as_deref(), Some("a; filling history: b"));
        progress.set_waiting(Task::Follow, None);
        assert_eq!(waiting().as_deref(), Some("b"));
        progress.set_waiting(Task::Follow, Some("b".into()));
        assert_eq!(waiting().as_deref(), Some("b"));
        progress.set_waiting(Task::Backfill, None);
        progress.set_waiting(Task::Follow, None);
        assert_eq!(waiting(), None);
    }
    #[test]
    fn a_task_that_failed_says_so_until_it_gets_on() {
        let progress = Progress::default();
        progress.set_failed(Task::Follow, "it panicked: oh");
        progress.set_waiting(Task::Follow, Some("no node".into()));
        let status = progress.snapshot();
        assert_eq!(status.failed, ["following the head: it panicked: oh"]);
        assert_eq!((status.restarts, status.waiting.as_deref()), (1, Some("no node")));
        progress.set_waiting(Task::Follow, None);
        let status = progress.snapshot();
        assert_eq!((status.failed.len(), status.restarts), (0, 1));
    }
}
