//! How far a chain's blocks are decoded again, for /status, the progress bar and whoever asked.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::lock::lock;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedecodeState {
    /// The facts are another decoder's, and nobody is decoding again.
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
pub enum RedecodeOutcome {
    /// The facts are what these decoders find already.
    NothingToDo,
    Done {
        blocks: u64,
    },
    /// It was told to stop.
    Stopped,
}

#[derive(Default)]
pub struct RedecodeProgress {
    done: AtomicU64,
    total: AtomicU64,
    stop: AtomicBool,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    state: RedecodeState,
    /// When this walk began, and how much was done before it.
    began: Option<(Instant, u64)>,
    error: Option<String>,
}

/// A moment of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RedecodeStatus {
    pub state: RedecodeState,
    pub blocks_done: u64,
    pub blocks_total: u64,
    pub blocks_per_s: u64,
    /// Not known before anything was done.
    pub left_s: Option<u64>,
    pub error: Option<String>,
}

impl RedecodeProgress {
    fn told(&self) -> MutexGuard<'_, Told> {
        lock(&self.told)
    }

    /// Takes effect between two groups of blocks.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub fn set_state(&self, state: RedecodeState) {
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

    pub(super) fn ended(&self, outcome: &Result<RedecodeOutcome, Error>) {
        let mut told = self.told();
        (told.state, told.error) = match outcome {
            Ok(RedecodeOutcome::NothingToDo | RedecodeOutcome::Done { .. }) => {
                (RedecodeState::Current, None)
            }
            Ok(RedecodeOutcome::Stopped) => (RedecodeState::Outdated, None),
            Err(error) => (RedecodeState::Failed, Some(error.to_string())),
        };
    }

    pub fn snapshot(&self) -> RedecodeStatus {
        let told = self.told();
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        let rate =
            told.began.filter(|_| told.state == RedecodeState::Running).map(|(at, before)| {
                done.saturating_sub(before) as f64 / at.elapsed().as_secs_f64().max(0.001)
            });
        let left = rate.filter(|rate| *rate > 0.0);
        RedecodeStatus {
            state: told.state,
            blocks_done: done,
            blocks_total: total,
            blocks_per_s: rate.unwrap_or_default() as u64,
            left_s: left.map(|rate| (total.saturating_sub(done) as f64 / rate) as u64),
            error: told.error.clone(),
        }
    }
}
