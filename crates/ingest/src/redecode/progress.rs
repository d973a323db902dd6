//! How far a chain's blocks are read anew, for /status, the progress bar and whoever asked.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::lock::lock;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The facts are another decoder's, and nobody reads them anew.
    Outdated,
    /// The facts are what the decoders of this process find.
    #[default]
    Current,
    /// Asked for, behind another chain.
    Waiting,
    Running,
    /// The new facts answer; what is left of the old ones goes.
    Sweeping,
    /// Ended by an error; the next start tries again.
    Failed,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The facts are what these decoders find already.
    NothingToDo,
    Done {
        blocks: u64,
    },
    /// The word to stop came first.
    Stopped,
}

#[derive(Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    stop: AtomicBool,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    state: State,
    /// When this walk began, and how much was done before it.
    began: Option<(Instant, u64)>,
    error: Option<String>,
}

/// A moment of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub state: State,
    pub blocks_done: u64,
    pub blocks_total: u64,
    pub blocks_per_s: u64,
    /// Not known before anything was done.
    pub left_s: Option<u64>,
    pub error: Option<String>,
}

impl Progress {
    fn told(&self) -> MutexGuard<'_, Told> {
        lock(&self.told)
    }

    /// The word to stop, taken between two groups of blocks.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub fn set_state(&self, state: State) {
        let mut told = self.told();
        told.state = state;
        told.error = None;
    }

    pub(super) fn begin(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        self.told().began = Some((Instant::now(), done));
    }

    pub(super) fn add(&self, blocks: u64) {
        self.done.fetch_add(blocks, Ordering::Relaxed);
    }

    pub(super) fn ended(&self, outcome: &Result<Outcome, Error>) {
        let mut told = self.told();
        (told.state, told.error) = match outcome {
            Ok(Outcome::NothingToDo | Outcome::Done { .. }) => (State::Current, None),
            Ok(Outcome::Stopped) => (State::Outdated, None),
            Err(error) => (State::Failed, Some(error.to_string())),
        };
    }

    pub fn snapshot(&self) -> Snapshot {
        let told = self.told();
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        let rate = told.began.filter(|_| told.state == State::Running).map(|(at, before)| {
            done.saturating_sub(before) as f64 / at.elapsed().as_secs_f64().max(0.001)
        });
        let left = rate.filter(|rate| *rate > 0.0);
        Snapshot {
            state: told.state,
            blocks_done: done,
            blocks_total: total,
            blocks_per_s: rate.unwrap_or_default() as u64,
            left_s: left.map(|rate| (total.saturating_sub(done) as f64 / rate) as u64),
            error: told.error.clone(),
        }
    }
}
