//! Adaptive concurrency: additive increase, multiplicative decrease.
//!
//! Pure: it is told what happened and when, and says how many requests may be under way and until
//! when to pause. It grows while the limit is really used and latency stays near the best seen;
//! it halves when the node says "too much".

use std::time::Duration;
use tokio::time::Instant;

/// A pause after the first refusal that names no time, doubled with each further one.
const PAUSE_FIRST: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// The same for a lane of clients: what one of them provokes must not keep all others for long.
const CLIENTS_PAUSE_MAX: Duration = Duration::from_secs(1);
/// Latency may grow to this many times the best before it says stop: some queueing in the node
/// keeps all its cores busy.
const LATENCY_FACTOR: f64 = 3.0;
/// Differences below this are noise, not queueing.
const LATENCY_SLACK_S: f64 = 0.020;
/// The unloaded latency is measured with this many at once, over this many answers …
const QUIET_LIMIT: f64 = 4.0;
const QUIET_ANSWERS: u32 = 8;
/// … and again after so many windows, since old blocks are smaller than new ones.
const WINDOWS_PER_MEASURE: u32 = 100;
const WINDOW_MIN: f64 = 16.0;

#[derive(Debug)]
pub struct Aimd {
    limit: f64,
    max: f64,
    /// Until the first refusal the limit grows by one per answer, then by one per round.
    slow_start: bool,
    last_decrease: Option<Instant>,
    paused_until: Option<Instant>,
    strikes: u32,
    /// The longest pause that a node did not ask for.
    backoff_max: Duration,
    window: Window,
    /// How many answers make this window; fixed at its start, since the limit moves meanwhile.
    window_answers: u32,
    windows: u32,
    /// Mean latency without queueing.
    floor_s: f64,
    measuring: Option<Measuring>,
}

/// Answers are compared by windows rather than one by one, since blocks differ in size.
#[derive(Debug, Default)]
struct Window {
    count: u32,
    sum_s: f64,
}

/// While the unloaded latency is measured, with few requests at once.
#[derive(Debug)]
struct Measuring {
    /// Answers still to come that were asked under load.
    skip: u32,
    /// The limit to go back to.
    resume: f64,
}

#[derive(PartialEq)]
enum Signal {
    Grow,
    Hold,
    Shrink,
}

/// A request that ended well.
#[derive(Clone, Copy, Debug)]
pub struct Success {
    /// Absent when the request says nothing about load (forwarded calls differ too much).
    pub latency: Option<Duration>,
    /// How many were under way, this one included.
    pub in_flight: usize,
}

impl Aimd {
    pub fn new(max: usize) -> Self {
        let max = max.max(1) as f64;
        let limit = max.min(QUIET_LIMIT);
        Self {
            limit,
            max,
            slow_start: true,
            last_decrease: None,
            paused_until: None,
            strikes: 0,
            backoff_max: PAUSE_MAX,
            window: Window::default(),
            window_answers: WINDOW_MIN as u32,
            windows: 0,
            floor_s: 0.0,
            measuring: Some(Measuring { skip: 0, resume: limit }),
        }
    }

    /// As much as is allowed until somebody says "too much": for calls of clients, whose latency says nothing.
    pub fn wide_open(max: usize) -> Self {
        let (open, backoff_max) = (Self::new(max), CLIENTS_PAUSE_MAX);
        Self { limit: open.max, slow_start: false, measuring: None, backoff_max, ..open }
    }

    pub fn limit(&self) -> usize {
        self.limit as usize
    }

    /// When the last pause ends, which may be over.
    pub fn pause_end(&self) -> Option<Instant> {
        self.paused_until
    }

    pub fn on_success(&mut self, success: Success, now: Instant) {
        self.strikes = 0;
        match success.latency.map_or(Signal::Grow, |latency| self.observe(latency)) {
            Signal::Grow => {}
            Signal::Hold => return,
            Signal::Shrink => {
                self.slow_start = false;
                self.limit = (self.limit * 0.9).max(1.0);
                self.last_decrease = Some(now);
                return;
            }
        }
        self.on_use(success.in_flight);
    }

    /// So many at once went well. A limit that is not used proves nothing about what the node can bear.
    pub fn on_use(&mut self, in_flight: usize) {
        if in_flight * 2 >= self.limit() {
            let step = if self.slow_start { 1.0 } else { 1.0 / self.limit };
            self.limit = (self.limit + step).min(self.max);
        }
    }

    /// The node refused or timed out. `started` is when that request was sent: refusals of requests
    /// older than the last decrease are the same event and must not halve again.
    pub fn on_overload(&mut self, started: Instant, pause: Pause, now: Instant) {
        if self.last_decrease.is_none_or(|at| started > at) {
            self.slow_start = false;
            self.limit = (self.limit / 2.0).max(1.0);
            if let Some(measuring) = &mut self.measuring {
                measuring.resume = (measuring.resume / 2.0).max(1.0);
            }
            self.last_decrease = Some(now);
            self.strikes = self.strikes.saturating_add(1);
        }
        let pause = match pause {
            Pause::None => return,
            Pause::Backoff => {
                let doubled = PAUSE_FIRST * 2u32.pow(self.strikes.saturating_sub(1).min(8));
                doubled.min(self.backoff_max)
            }
            Pause::Asked(asked) => asked,
        };
        let until = now + pause.min(PAUSE_MAX);
        self.paused_until = Some(self.paused_until.map_or(until, |old| old.max(until)));
    }

    fn observe(&mut self, latency: Duration) -> Signal {
        if let Some(measuring) = &mut self.measuring {
            if measuring.skip > 0 {
                measuring.skip -= 1;
                return Signal::Hold;
            }
            let resume = measuring.resume;
            if let Some(mean_s) = self.window.add(latency, QUIET_ANSWERS) {
                (self.floor_s, self.limit, self.windows) = (mean_s, resume, 0);
                self.measuring = None;
            }
            return Signal::Hold;
        }
        let Some(mean_s) = self.window.add(latency, self.window_answers) else {
            return Signal::Grow;
        };
        self.windows += 1;
        self.window_answers = self.limit.max(WINDOW_MIN) as u32;
        self.floor_s = self.floor_s.min(mean_s);
        if self.windows >= WINDOWS_PER_MEASURE {
            self.measuring = Some(Measuring { skip: self.limit as u32, resume: self.limit });
            self.limit = self.limit.min(QUIET_LIMIT);
            return Signal::Hold;
        }
        let stop = mean_s > self.floor_s * LATENCY_FACTOR + LATENCY_SLACK_S;
        if stop { Signal::Shrink } else { Signal::Grow }
    }
}

impl Window {
    /// The mean, once the window is full; a new one begins then.
    fn add(&mut self, latency: Duration, full: u32) -> Option<f64> {
        self.count += 1;
        self.sum_s += latency.as_secs_f64();
        if self.count < full {
            return None;
        }
        let mean_s = self.sum_s / f64::from(self.count);
        *self = Self::default();
        Some(mean_s)
    }
}

/// Whether and how long to pause after an overload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Timeouts: fewer at once, but no pause.
    None,
    /// Refused without a time.
    Backoff,
    /// `Retry-After`.
    Asked(Duration),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paused_until(limiter: &Aimd, now: Instant) -> Option<Instant> {
        limiter.pause_end().filter(|until| *until > now)
    }

    fn used(limiter: &Aimd, latency_ms: u64) -> Success {
        Success { latency: Some(Duration::from_millis(latency_ms)), in_flight: limiter.limit() }
    }

    #[test]
    fn it_grows_while_used_up_to_the_maximum() {
        let (mut limiter, now) = (Aimd::new(32), Instant::now());
        for _ in 0..200 {
            let success = used(&limiter, 10);
            limiter.on_success(success, now);
        }
        assert_eq!(limiter.limit(), 32);
    }

    #[test]
    fn it_does_not_grow_while_idle() {
        let (mut limiter, now) = (Aimd::new(32), Instant::now());
        for _ in 0..200 {
            limiter.on_success(Success { latency: None, in_flight: 1 }, now);
        }
        assert_eq!(limiter.limit(), 4);
    }

    #[test]
    fn a_burst_of_refusals_halves_once() {
        let (mut limiter, start) = (Aimd::new(64), Instant::now());
        for _ in 0..100 {
            let success = used(&limiter, 10);
            limiter.on_success(success, start);
        }
        let later = start + Duration::from_secs(1);
        for _ in 0..64 {
            limiter.on_overload(start, Pause::None, later);
        }
        assert_eq!(limiter.limit(), 32);
        limiter.on_overload(later + Duration::from_millis(1), Pause::None, later);
        assert_eq!(limiter.limit(), 16);
        for step in 2..20 {
            let at = later + Duration::from_secs(step);
            limiter.on_overload(at, Pause::None, at);
        }
        assert_eq!(limiter.limit(), 1);
    }

    #[test]
    fn rising_latency_says_stop() {
        let (mut limiter, now) = (Aimd::new(1000), Instant::now());
        // A node with four cores of 50 ms: what is under way beyond four waits.
        for _ in 0..20_000 {
            let queue_ms = 50 * (limiter.limit() as u64).max(4) / 4;
            let success = used(&limiter, queue_ms);
            limiter.on_success(success, now);
        }
        assert!((4..30).contains(&limiter.limit()), "{}", limiter.limit());
    }

    #[test]
    fn pauses_are_as_asked_or_double() {
        let (mut limiter, now) = (Aimd::new(8), Instant::now());
        limiter.on_overload(now, Pause::Asked(Duration::from_secs(7)), now);
        assert_eq!(paused_until(&limiter, now), Some(now + Duration::from_secs(7)));
        let later = now + Duration::from_secs(8);
        assert_eq!(paused_until(&limiter, later), None);
        limiter.on_overload(later, Pause::Backoff, later);
        assert_eq!(paused_until(&limiter, later), Some(later + PAUSE_FIRST * 2));
        limiter.on_overload(later, Pause::Asked(Duration::from_secs(9999)), later);
        assert_eq!(paused_until(&limiter, later), Some(later + PAUSE_MAX));
    }

    #[test]
    fn clients_are_paused_as_asked_but_not_for_long_by_guess() {
        let (mut limiter, mut now) = (Aimd::wide_open(8), Instant::now());
        for _ in 0..20 {
            limiter.on_overload(now, Pause::Backoff, now);
            let until = paused_until(&limiter, now).unwrap();
            assert!(until - now <= CLIENTS_PAUSE_MAX, "{:?}", until - now);
            now = until;
        }
        limiter.on_overload(now, Pause::Asked(Duration::from_secs(7)), now);
        assert_eq!(paused_until(&limiter, now), Some(now + Duration::from_secs(7)));
    }
}
