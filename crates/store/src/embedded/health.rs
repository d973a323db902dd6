//! Whether writes are taken, as it is known at this moment. Knows reasons, not how to mend them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::engine::Cause;
use crate::Error;
use crate::write_state::WriteState;

/// A write that takes this many times what is allowed does not end any more.
const STALLS_UNTIL_FAILED: u32 = 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteProblem {
    pub reason: String,
    pub advice: String,
}

impl WriteProblem {
    pub fn of(reason: impl Into<String>, advice: impl Into<String>) -> Self {
        WriteProblem { reason: reason.into(), advice: advice.into() }
    }
}

pub struct Health {
    stall: Duration,
    known: Mutex<Known>,
    told: watch::Sender<WriteState>,
}

#[derive(Default)]
struct Known {
    /// The engine takes nothing until it is opened anew.
    engine: Option<WriteProblem>,
    failed: Option<WriteProblem>,
    full: Option<WriteProblem>,
    writes_under_way: u32,
    /// Since when one of them is.
    busy_since: Option<Instant>,
    /// What the log was told last.
    logged_full: bool,
    logged_stall: bool,
}

/// What changed, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthNews {
    /// A write has been under way for so long.
    WriteHangs(Duration),
    WriteEnded,
    RoomAgain,
}

impl Health {
    pub fn new(stall: Duration) -> Self {
        Health { stall, known: Mutex::default(), told: watch::Sender::new(WriteState::Writable) }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn state(&self) -> WriteState {
        let known = self.known();
        let failed = |it: WriteProblem| WriteState::Failed { reason: it.reason, advice: it.advice };
        let paused = |it: WriteProblem| WriteState::Paused { reason: it.reason, advice: it.advice };
        if let Some(trouble) = &known.failed {
            return failed(trouble.clone());
        }
        let busy = known.busy_since.map(|since| since.elapsed()).filter(|it| *it >= self.stall);
        let stalled = busy.map(|busy| {
            let reason = format!("a write has been under way for {} s", busy.as_secs());
            // Who would open the engine anew waits for this write.
            let is_over = known.engine.is_some() || busy >= self.stall * STALLS_UNTIL_FAILED;
            let advice = if is_over {
                "look at the disk (dmesg, smartctl), then start again"
            } else {
                "look at the disk's load and health; restart if it does not end"
            };
            (WriteProblem::of(reason, advice), is_over)
        });
        match (stalled, &known.engine, &known.full) {
            (Some((stalled, true)), ..) => failed(stalled),
            (_, Some(trouble), _) | (None, None, Some(trouble)) => paused(trouble.clone()),
            (Some((stalled, _)), None, _) => paused(stalled),
            (None, None, None) => WriteState::Writable,
        }
    }

    pub fn watch(&self) -> watch::Receiver<WriteState> {
        self.told.subscribe()
    }

    /// Tells those who watch.
    pub fn tell(&self) {
        let state = self.state();
        self.told.send_if_modified(|known| {
            let is_new = *known != state;
            if is_new {
                known.clone_from(&state);
            }
            is_new
        });
    }

    /// What a look found that the log does not have yet: each time once.
    pub fn news(&self) -> Option<HealthNews> {
        let mut known = self.known();
        let busy = known.busy_since.map(|since| since.elapsed()).filter(|it| *it >= self.stall);
        let (was_full, was_stalled) = (known.logged_full, known.logged_stall);
        (known.logged_full, known.logged_stall) = (known.full.is_some(), busy.is_some());
        match busy {
            Some(busy) if !was_stalled => Some(HealthNews::WriteHangs(busy)),
            Some(_) => None,
            None if was_stalled => Some(HealthNews::WriteEnded),
            None if was_full && known.full.is_none() => Some(HealthNews::RoomAgain),
            None => None,
        }
    }

    /// Why nothing can be written, unless it can.
    pub fn refusal(&self) -> Option<WriteProblem> {
        let known = self.known();
        known.failed.as_ref().or(known.engine.as_ref()).cloned()
    }

    pub fn needs_mending(&self) -> bool {
        let known = self.known();
        known.engine.is_some() && known.failed.is_none()
    }

    pub fn set_engine(&self, trouble: Option<WriteProblem>) {
        self.known().engine = trouble;
        self.tell();
    }

    /// The first reason is the one that helps; what follows from it is not.
    pub fn engine_failed(&self, cause: Cause, error: &Error) {
        let mut known = self.known();
        if cause == Cause::Disk {
            known.failed = Some(WriteProblem::of(error.to_string(), cause.advice()));
        } else if known.engine.is_none() {
            known.engine = Some(WriteProblem::of(error.to_string(), cause.advice()));
        }
        drop(known);
        self.tell();
    }

    pub fn fail(&self, trouble: WriteProblem) {
        self.known().failed = Some(trouble);
        self.tell();
    }

    pub fn set_full(&self, full: Option<&Error>) {
        let trouble = full.map(|error| WriteProblem::of(error.to_string(), Cause::Full.advice()));
        let mut known = self.known();
        let changed = known.full.is_some() != trouble.is_some();
        // The numbers in it change with every look; only whether it is full is news.
        known.full = trouble;
        drop(known);
        if changed {
            self.tell();
        }
    }

    pub fn is_writing(&self) -> bool {
        self.known().writes_under_way > 0
    }

    /// Until what it gives is dropped, a write is under way.
    pub fn writing(&self) -> UnderWay<'_> {
        let mut known = self.known();
        known.writes_under_way += 1;
        known.busy_since.get_or_insert_with(Instant::now);
        UnderWay(self)
    }
}

pub struct UnderWay<'a>(&'a Health);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut known = self.0.known();
        known.writes_under_way = known.writes_under_way.saturating_sub(1);
        known.busy_since = (known.writes_under_way > 0).then(Instant::now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Error {
        Error::DiskFull { path: "/d".into(), free: 1, min: 2 }
    }

    #[test]
    fn a_full_disk_pauses_and_heals_and_the_worst_reason_is_told() {
        let health = Health::new(Duration::from_secs(60));
        let mut told = health.watch();
        assert_eq!(health.state(), WriteState::Writable);
        health.set_full(Some(&full()));
        let paused = health.state();
        assert!(matches!(&paused, WriteState::Paused { reason, .. } if reason.contains("/d")));
        assert_eq!(*told.borrow_and_update(), paused);
        health.set_full(Some(&full()));
        assert!(!told.has_changed().unwrap(), "told once");
        let poisoned = WriteProblem::of("poisoned", "wait");
        health.set_engine(Some(poisoned.clone()));
        health.set_full(None);
        assert_eq!(health.refusal(), Some(poisoned));
        assert!(
            matches!(health.state(), WriteState::Paused { reason, .. } if reason == "poisoned")
        );
        health.set_engine(None);
        assert_eq!(*told.borrow_and_update(), WriteState::Writable);
        health.fail(WriteProblem::of("gone", "restart"));
        health.set_engine(None);
        assert!(matches!(health.state(), WriteState::Failed { .. }));
    }

    #[test]
    fn the_log_is_told_once_when_a_write_hangs_and_when_writing_goes_on() {
        let health = Health::new(Duration::ZERO);
        assert_eq!(health.news(), None);
        let one = health.writing();
        assert!(matches!(health.news(), Some(HealthNews::WriteHangs(_))));
        assert_eq!(health.news(), None, "once");
        drop(one);
        assert_eq!(health.news(), Some(HealthNews::WriteEnded));
        assert_eq!(health.news(), None);
        health.set_full(Some(&full()));
        assert_eq!(health.news(), None, "whoever wanted to write says so");
        health.set_full(None);
        assert_eq!(health.news(), Some(HealthNews::RoomAgain));
        assert_eq!(health.news(), None);
    }

    #[test]
    fn a_disk_that_fills_further_is_told_with_its_newest_numbers() {
        let health = Health::new(Duration::from_secs(60));
        health.set_full(Some(&full()));
        health.set_full(Some(&Error::DiskFull { path: "/d".into(), free: 77, min: 99 }));
        let state = health.state();
        assert!(matches!(&state, WriteState::Paused { reason, .. } if reason.contains("77")));
    }

    #[test]
    fn a_write_that_does_not_end_is_told_of() {
        let health = Health::new(Duration::ZERO);
        let one = health.writing();
        let two = health.writing();
        // Ten times nothing is nothing: it is over at once.
        assert!(matches!(health.state(), WriteState::Failed { .. }));
        drop(one);
        assert!(health.is_writing());
        assert!(matches!(health.state(), WriteState::Failed { .. }));
        drop(two);
        assert_eq!(health.state(), WriteState::Writable);
        let health = Health::new(Duration::from_secs(3600));
        let _one = health.writing();
        assert_eq!(health.state(), WriteState::Writable);
    }
}
