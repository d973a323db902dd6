//! Whether an upstream is used, and why not.
//!
//! Pure: told what happened and when. A left-out upstream gets a time for its next trial, later
//! each time it fails again.

use crate::error::{Error, error_chain};
use crate::wall_clock;
use jiff::Timestamp;
use serde::Serialize;
use std::time::Duration;
use tasks::Backoff;
use tokio::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not probed yet.
    Starting,
    Healthy,
    /// Too far behind the best head; still watched, back as soon as it has caught up.
    Lagging,
    WrongChain,
    /// Does not answer, or not with JSON-RPC.
    Dead,
    /// Takes longer than the timeout.
    Slow,
    /// Sent blocks that do not verify.
    Lying,
    /// Healthy, but asked for a pause.
    RateLimited,
    /// An operator wants nothing sent to it.
    Drained,
}

/// So many failures in a row leave an upstream out; one alone can be chance.
const FAILURES_MAX: u32 = 3;
/// A liar that has been honest for so long starts anew.
const LIES_FORGOTTEN: Duration = Duration::from_secs(600);

#[derive(Clone, Debug)]
pub struct Health {
    pub state: State,
    /// A sentence for people.
    pub reason: String,
    pub since: Timestamp,
    /// When a left-out upstream is probed again.
    pub retry_at: Option<Instant>,
    failures: u32,
    trials: u32,
    lies: u32,
    last_lie: Option<Instant>,
}

/// Whether something that happened leaves the upstream out, so that a next trial is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Stays,
    LeftOut,
}

/// When something happened: the steady clock to count with, the wall clock to show.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub instant: Instant,
    pub timestamp: Timestamp,
}

impl Moment {
    pub fn now() -> Self {
        Self { instant: Instant::now(), timestamp: wall_clock::now() }
    }
}

impl Health {
    pub fn starting(now: Moment) -> Self {
        Self {
            state: State::Starting,
            reason: "not probed yet".to_owned(),
            since: now.timestamp,
            retry_at: None,
            failures: 0,
            trials: 0,
            lies: 0,
            last_lie: None,
        }
    }

    pub fn is_usable(&self) -> bool {
        self.state == State::Healthy
    }

    /// Its head counts and is followed, though it may be lagging.
    pub fn is_watched(&self) -> bool {
        matches!(self.state, State::Healthy | State::Lagging)
    }

    /// Until `try_again`, whatever happens meanwhile.
    pub fn drain(&mut self, now: Moment) {
        self.retry_at = None;
        self.enter(State::Drained, "drained by an operator".to_owned(), now);
    }

    /// As if it were new: probed at once, and what it did before does not count.
    pub fn try_again(&mut self, now: Moment) {
        *self = Health::starting(now);
    }

    /// A probe went well.
    pub fn recovered(&mut self, now: Moment) {
        if self.state == State::Drained {
            return;
        }
        self.failures = 0;
        self.retry_at = None;
        self.enter(State::Healthy, "answers as it should".to_owned(), now);
    }

    /// A request went well: what failed before was chance.
    pub fn succeeded(&mut self) {
        self.failures = 0;
        self.trials = 0;
    }

    /// A request failed; one too many leaves the upstream out.
    pub fn failed(&mut self, error: &Error, now: Moment) -> Next {
        let state = match error {
            Error::Timeout { .. } => State::Slow,
            Error::Connect { .. }
            | Error::Interrupted { is_counted: false, .. }
            | Error::Http { .. }
            | Error::Malformed { .. } => State::Dead,
            // Load and our own limits say nothing about health, nor does what another request tells of.
            _ => return Next::Stays,
        };
        self.failures = self.failures.saturating_add(1);
        if self.failures < FAILURES_MAX || !self.is_watched() {
            return Next::Stays;
        }
        let times = self.failures;
        self.enter(
            state,
            format!("failed {times} times in a row; last: {}", error_chain(error)),
            now,
        );
        Next::LeftOut
    }

    /// A probe failed: left out without counting.
    pub fn leave_out(&mut self, state: State, reason: String, now: Moment) -> Next {
        if self.state == State::Drained {
            return Next::Stays;
        }
        self.enter(state, reason, now);
        Next::LeftOut
    }

    /// Lies found while it is left out for one already are the same event.
    pub fn lied(&mut self, reason: String, now: Moment) -> Next {
        if matches!(self.state, State::Lying | State::Drained) {
            return Next::Stays;
        }
        let recent =
            self.last_lie.is_some_and(|at| now.instant.duration_since(at) < LIES_FORGOTTEN);
        self.lies = if recent { self.lies.saturating_add(1) } else { 1 };
        self.last_lie = Some(now.instant);
        self.enter(State::Lying, reason, now);
        Next::LeftOut
    }

    /// Sets the time of the next trial after being left out.
    pub fn schedule(&mut self, backoff: Backoff, jitter: f64, now: Moment) {
        let trial = match self.state {
            State::Lying => self.lies.saturating_sub(1),
            _ => self.trials,
        };
        self.trials = self.trials.saturating_add(1);
        self.retry_at = Some(now.instant + backoff.wait(trial, jitter));
    }

    /// Only a watched upstream can begin or cease to lag.
    pub fn set_lag(&mut self, lag: Lag, now: Moment) {
        match (self.state, lag) {
            (State::Healthy, Lag::Behind(blocks)) => {
                let reason = format!("{blocks} blocks behind the best head");
                self.enter(State::Lagging, reason, now);
            }
            (State::Lagging, Lag::Behind(blocks)) => {
                self.reason = format!("{blocks} blocks behind the best head");
            }
            (State::Lagging, Lag::CaughtUp) => {
                self.enter(State::Healthy, "caught up with the best head".to_owned(), now);
            }
            _ => {}
        }
    }

    fn enter(&mut self, state: State, reason: String, now: Moment) {
        if self.state != state {
            self.since = now.timestamp;
            self.state = state;
        }
        self.reason = reason;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lag {
    CaughtUp,
    /// Behind, but not so far that it matters.
    Bearable,
    Behind(u64),
}

impl Lag {
    /// Comes back at half the limit, so that it does not flap around it.
    pub fn of(head: u64, best: u64, lag_blocks_max: u64) -> Self {
        let behind = best.saturating_sub(head);
        if behind > lag_blocks_max {
            Self::Behind(behind)
        } else if behind <= lag_blocks_max / 2 {
            Self::CaughtUp
        } else {
            Self::Bearable
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_secs(60) };

    fn healthy() -> Health {
        let mut health = Health::starting(Moment::now());
        health.recovered(Moment::now());
        health
    }

    fn timeout() -> Error {
        Error::Timeout { upstream: "node".into(), after_ms: 5 }
    }

    #[test]
    fn three_failures_in_a_row_leave_it_out() {
        let (mut health, now) = (healthy(), Moment::now());
        assert_eq!(health.failed(&timeout(), now), Next::Stays);
        assert_eq!(health.failed(&timeout(), now), Next::Stays);
        health.succeeded();
        assert_eq!(health.failed(&timeout(), now), Next::Stays);
        assert_eq!(health.failed(&timeout(), now), Next::Stays);
        assert_eq!(health.failed(&timeout(), now), Next::LeftOut);
        assert_eq!(health.state, State::Slow);
        assert!(health.reason.contains("3 times"), "{}", health.reason);
    }

    #[test]
    fn load_is_no_reason_to_leave_it_out() {
        let mut health = healthy();
        for _ in 0..9 {
            let error =
                Error::RateLimited { upstream: "node".into(), retry_after: None, refusal: None };
            assert_eq!(health.failed(&error, Moment::now()), Next::Stays);
        }
        assert!(health.is_usable());
    }

    #[test]
    fn a_liar_waits_longer_each_time_even_if_its_probes_go_well() {
        let (mut health, now) = (healthy(), Moment::now());
        for seconds in [1, 2, 4] {
            health.lied("lied".into(), now);
            health.schedule(BACKOFF, 0.0, now);
            assert_eq!(health.retry_at, Some(now.instant + Duration::from_secs(seconds)));
            health.recovered(now);
            health.succeeded();
        }
    }

    #[test]
    fn lag_has_a_margin() {
        assert_eq!(Lag::of(89, 100, 10), Lag::Behind(11));
        assert_eq!(Lag::of(91, 100, 10), Lag::Bearable);
        assert_eq!(Lag::of(95, 100, 10), Lag::CaughtUp);
        assert_eq!(Lag::of(101, 100, 10), Lag::CaughtUp);
        let (mut health, now) = (healthy(), Moment::now());
        health.set_lag(Lag::Behind(11), now);
        assert_eq!(health.state, State::Lagging);
        health.set_lag(Lag::Bearable, now);
        assert_eq!(health.state, State::Lagging);
        health.set_lag(Lag::CaughtUp, now);
        assert!(health.is_usable());
    }
}
