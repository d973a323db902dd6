//! What clients' calls met at one upstream, and what follows for the next ones.
//!
//! Kept apart from the health that ingest goes by: whatever clients provoke, only clients' calls are steered by it.
//! Pure: told what happened and when.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tasks::Backoff;
use tokio::time::Instant;

/// So many failures in a row, and clients' calls go elsewhere for a while.
const FAILURES_MAX: u32 = 3;
/// How long: the first time, and at most.
const OPEN: Backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_secs(60) };
/// A wrong answer is no accident.
const OPEN_FOR_LIES: Backoff =
    Backoff { min: Duration::from_secs(30), max: Duration::from_secs(600) };
/// What is older says little about now; the upstream is tried again as if nothing were known of it.
const FRESH: Duration = Duration::from_secs(60);
/// Of each method, so many of the last latencies.
const LATENCIES: usize = 64;
/// Fewer say nothing of a quantile.
const LATENCIES_MIN: usize = 8;
/// What a node said of states that it lacks is asked again after this: it may be another one by then.
const REACH_FRESH: Duration = Duration::from_secs(600);

#[derive(Clone, Debug, Default)]
pub struct ClientRecord {
    breaker: Breaker,
    /// Moving averages over the last answers.
    latency_ms: Option<f64>,
    error_rate: f64,
    seen_at: Option<Instant>,
    methods: BTreeMap<&'static str, MethodRecord>,
    reach: StateReach,
    lies: u32,
    distrusted_until: Option<Instant>,
}

/// What is known of one method at one upstream.
#[derive(Clone, Debug, Default)]
pub struct MethodRecord {
    pub calls: u64,
    pub errors: u64,
    latencies: VecDeque<Duration>,
}

/// Lets nothing through after failures in a row; after a pause one call is let through to see.
#[derive(Clone, Debug, Default)]
struct Breaker {
    failures: u32,
    trials: u32,
    open_until: Option<Instant>,
}

/// How old the states are that the upstream has, learned from its answers.
#[derive(Clone, Copy, Debug, Default)]
struct StateReach {
    /// It refused a state this new, then.
    lacks: Option<(u64, Instant)>,
}

impl ClientRecord {
    /// `method`: only names of our own list, so that there are not more of them than the list has.
    pub fn succeeded(&mut self, method: Option<&'static str>, latency: Duration, now: Instant) {
        self.breaker = Breaker::default();
        let ms = latency.as_secs_f64() * 1000.0;
        let before = self.latency_ms.filter(|_| self.is_fresh(now));
        self.latency_ms = Some(before.map_or(ms, |before| before * 0.8 + ms * 0.2));
        self.error_rate *= 0.9;
        self.seen_at = Some(now);
        if let Some(method) = method {
            let record = self.methods.entry(method).or_default();
            record.calls += 1;
            if record.latencies.len() == LATENCIES {
                record.latencies.pop_front();
            }
            record.latencies.push_back(latency);
        }
    }

    /// The transport failed, or what came was no answer.
    pub fn failed(&mut self, method: Option<&'static str>, now: Instant) {
        if let Some(method) = method {
            let record = self.methods.entry(method).or_default();
            record.calls += 1;
            record.errors += 1;
        }
        self.error_rate = self.error_rate * 0.9 + 0.1;
        self.seen_at = Some(now);
        let breaker = &mut self.breaker;
        breaker.failures = breaker.failures.saturating_add(1);
        if breaker.failures >= FAILURES_MAX {
            breaker.open(OPEN.wait(breaker.trials, 0.0), now);
        }
    }

    /// It refused, or was given up for another that answered first: slow as far as one can tell.
    pub fn took_too_long(&mut self, waited: Duration, now: Instant) {
        let ms = waited.as_secs_f64() * 1000.0;
        let before = self.latency_ms.filter(|_| self.is_fresh(now));
        self.latency_ms = Some(before.map_or(ms, |before| (before * 0.8 + ms * 0.2).max(before)));
        self.seen_at = Some(now);
    }

    /// There was an error object in its answer, which says nothing about the node.
    pub fn answered_error(&mut self, method: Option<&'static str>) {
        if let Some(method) = method {
            self.methods.entry(method).or_default().errors += 1;
        }
    }

    /// What it said is not true.
    pub fn lied(&mut self, now: Instant) {
        self.distrusted_until = Some(now + OPEN_FOR_LIES.wait(self.lies, 0.0));
        self.lies = self.lies.saturating_add(1);
    }

    pub fn lacks_state(&mut self, block: u64, now: Instant) {
        let known = self.reach.lacks.filter(|(_, at)| now - *at < REACH_FRESH);
        let newest = known.map_or(block, |(newest, _)| newest.max(block));
        self.reach.lacks = Some((newest, now));
    }

    pub fn had_state(&mut self, block: u64) {
        if self.reach.lacks.is_some_and(|(newest, _)| block <= newest) {
            self.reach.lacks = None;
        }
    }

    /// Whether it is known to have no state as old as that.
    pub fn is_known_to_lack(&self, block: u64, now: Instant) -> bool {
        self.reach.lacks.is_some_and(|(newest, at)| block <= newest && now - at < REACH_FRESH)
    }

    pub fn is_open(&self, now: Instant) -> bool {
        self.open_until(now).is_some()
    }

    /// Until when clients' calls go elsewhere, if they can.
    pub fn open_until(&self, now: Instant) -> Option<Instant> {
        self.breaker.open_until.max(self.distrusted_until).filter(|until| now < *until)
    }

    /// The call that sees whether it is well again is on its way: others go elsewhere until that is known.
    pub fn begin_trial(&mut self, now: Instant) {
        if self.breaker.open_until.is_some_and(|until| now >= until) {
            self.breaker.open(OPEN.wait(self.breaker.trials, 0.0), now);
        }
    }

    /// Lower is better; equal for nodes that are about as good, so that the order of the configuration decides.
    pub fn cost_class(&self, now: Instant) -> i32 {
        let Some(ms) = self.latency_ms.filter(|_| self.is_fresh(now)) else { return 0 };
        let cost = (ms.max(1.0)) * (1.0 + 10.0 * self.error_rate);
        // A class is four times the one below: a node twice as slow as its neighbour is as good.
        (cost.log2() / 2.0) as i32
    }

    /// The latency that this share of the method's last answers did not exceed.
    pub fn latency(&self, method: &str, share: f64) -> Option<Duration> {
        self.methods.get(method)?.latency(share)
    }

    pub fn methods(&self) -> &BTreeMap<&'static str, MethodRecord> {
        &self.methods
    }

    fn is_fresh(&self, now: Instant) -> bool {
        self.seen_at.is_some_and(|at| now - at < FRESH)
    }
}

impl MethodRecord {
    pub fn latency(&self, share: f64) -> Option<Duration> {
        if self.latencies.len() < LATENCIES_MIN {
            return None;
        }
        self.any_latency(share)
    }

    /// Of however few there are.
    pub fn any_latency(&self, share: f64) -> Option<Duration> {
        let mut latencies: Vec<Duration> = self.latencies.iter().copied().collect();
        let at = (latencies.len() as f64 * share) as usize;
        let at = at.min(latencies.len().checked_sub(1)?);
        Some(*latencies.select_nth_unstable(at).1)
    }
}

impl Breaker {
    fn open(&mut self, pause: Duration, now: Instant) {
        self.trials = self.trials.saturating_add(1);
        self.open_until = Some(now + pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn failures_in_a_row_open_the_breaker_for_longer_each_time_and_one_trial_is_let_through() {
        let (mut record, start) = (ClientRecord::default(), Instant::now());
        record.failed(None, start);
        record.failed(None, start);
        assert!(!record.is_open(start), "two may be chance");
        record.failed(None, start);
        assert!(record.is_open(start));
        let later = start + SECOND;
        assert!(!record.is_open(later), "the next call is a trial");
        record.begin_trial(later);
        assert!(record.is_open(later), "the others go elsewhere meanwhile");
        record.failed(None, later);
        assert!(record.is_open(later + 3 * SECOND));
        record.succeeded(None, SECOND, later);
        assert!(!record.is_open(later));
    }

    #[test]
    fn a_wrong_answer_opens_it_at_once_and_for_long() {
        let (mut record, now) = (ClientRecord::default(), Instant::now());
        record.lied(now);
        assert!(record.is_open(now + 29 * SECOND));
        assert!(!record.is_open(now + 30 * SECOND));
        record.lied(now);
        assert!(record.is_open(now + 59 * SECOND));
    }

    #[test]
    fn nodes_that_are_about_as_good_cost_the_same_and_what_is_old_counts_no_more() {
        let now = Instant::now();
        let cost = |ms, failures| {
            let mut record = ClientRecord::default();
            record.succeeded(None, Duration::from_millis(ms), now);
            (0..failures).for_each(|_| record.failed(None, now));
            record.cost_class(now)
        };
        assert_eq!(cost(20, 0), cost(35, 0));
        assert!(cost(20, 0) < cost(400, 0));
        assert!(cost(20, 0) < cost(20, 5));
        let mut record = ClientRecord::default();
        record.succeeded(None, 9 * SECOND, now);
        assert_eq!(record.cost_class(now + FRESH), 0);
    }

    #[test]
    fn states_that_are_missing_are_known_until_one_as_old_is_had_or_time_has_passed() {
        let (mut record, now) = (ClientRecord::default(), Instant::now());
        record.lacks_state(100, now);
        record.lacks_state(50, now);
        assert!(record.is_known_to_lack(100, now) && record.is_known_to_lack(1, now));
        assert!(!record.is_known_to_lack(101, now));
        assert!(!record.is_known_to_lack(50, now + REACH_FRESH));
        record.had_state(101);
        assert!(record.is_known_to_lack(100, now));
        record.had_state(99);
        assert!(!record.is_known_to_lack(1, now));
    }

    #[test]
    fn a_quantile_needs_enough_answers() {
        let (mut record, now) = (ClientRecord::default(), Instant::now());
        for ms in 1..=100 {
            assert_eq!(record.latency("eth_call", 0.9).is_some(), ms > LATENCIES_MIN as u64);
            record.succeeded(Some("eth_call"), Duration::from_millis(ms), now);
        }
        assert_eq!(record.latency("eth_call", 0.5), Some(Duration::from_millis(69)));
        assert_eq!(record.latency("eth_getLogs", 0.5), None);
    }
}
