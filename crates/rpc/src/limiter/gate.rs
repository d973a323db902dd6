//! The door to one upstream: callers wait here until the limiter lets them through.

use super::aimd::{Aimd, Pause, Success};
use model::token_bucket::TokenBucket;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

#[derive(Debug)]
pub struct Gate {
    state: Mutex<Inside>,
    freed: Notify,
}

#[derive(Debug)]
struct Inside {
    aimd: Aimd,
    /// A batch costs as many tokens as it has calls, since providers count calls.
    bucket: Option<TokenBucket>,
    in_flight: usize,
    waiting: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct GateOptions {
    pub max_concurrency: usize,
    pub requests_per_second: Option<f64>,
}

/// How a request ended, as far as load is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Done {
        latency: Option<Duration>,
    },
    Refused {
        retry_after: Option<Duration>,
    },
    TimedOut,
    /// Failed for reasons that say nothing about load.
    Unrelated,
}

/// Held while a request is under way. Dropped without a verdict, it only makes room.
#[derive(Debug)]
pub struct Permit<'a> {
    gate: &'a Gate,
    started: Instant,
}

impl Gate {
    pub fn new(options: GateOptions) -> Self {
        let now = Instant::now().into_std();
        let bucket = options.requests_per_second.and_then(|rate| TokenBucket::new(rate, now));
        let aimd = Aimd::new(options.max_concurrency);
        let state = Mutex::new(Inside { aimd, bucket, in_flight: 0, waiting: 0 });
        Self { state, freed: Notify::new() }
    }

    /// Waits for room for a request of so many calls.
    pub async fn enter(&self, calls: usize) -> Permit<'_> {
        let _waiting = Waiting::new(self);
        loop {
            // Asked for before looking, so that room made in between is not missed.
            let freed = self.freed.notified();
            let entry = self.lock().try_enter(calls, Instant::now());
            match entry {
                Entry::Granted { room_left } => {
                    // Two wake-ups can melt into one; passing it on loses none.
                    if room_left {
                        self.freed.notify_one();
                    }
                    return Permit { gate: self, started: Instant::now() };
                }
                Entry::Full => freed.await,
                Entry::NotBefore(at) => sleep_until(at).await,
            }
        }
    }

    /// For head polls and probes: they wait for a pause to end but not for room, since following
    /// the head must not queue behind a backfill.
    pub async fn enter_immediately(&self, calls: usize) {
        loop {
            let now = Instant::now();
            let pause = {
                let mut inside = self.lock();
                let pause = inside.aimd.paused_until(now);
                if let (None, Some(bucket)) = (pause, inside.bucket.as_mut()) {
                    bucket.take(calls as f64, now.into_std());
                }
                pause
            };
            match pause {
                Some(until) => sleep_until(until).await,
                None => return,
            }
        }
    }

    /// Tells of a request that was let ahead, without a permit.
    pub fn overload_without_permit(&self, started: Instant, retry_after: Option<Duration>) {
        let pause = retry_after.map_or(Pause::Backoff, Pause::Asked);
        self.lock().aimd.on_overload(started, pause, Instant::now());
    }

    pub fn limit(&self) -> usize {
        self.lock().aimd.limit()
    }

    pub fn in_flight(&self) -> usize {
        self.lock().in_flight
    }

    pub fn paused_until(&self) -> Option<Instant> {
        self.lock().aimd.paused_until(Instant::now())
    }

    /// How busy it is: requests under way and waiting, per allowed request.
    pub fn load(&self) -> f64 {
        let inside = self.lock();
        (inside.in_flight + inside.waiting) as f64 / inside.aimd.limit().max(1) as f64
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Entry {
    Granted { room_left: bool },
    Full,
    NotBefore(Instant),
}

impl Inside {
    fn try_enter(&mut self, calls: usize, now: Instant) -> Entry {
        if let Some(until) = self.aimd.paused_until(now) {
            return Entry::NotBefore(until);
        }
        if self.in_flight >= self.aimd.limit() {
            return Entry::Full;
        }
        if let Some(bucket) = self.bucket.as_mut() {
            // It may start while any token is left, so that a batch larger than the bucket is slow, not stuck.
            let wait = bucket.wait_for(1.0, now.into_std());
            if !wait.is_zero() {
                return Entry::NotBefore(now + wait);
            }
            bucket.take(calls as f64, now.into_std());
        }
        self.in_flight += 1;
        Entry::Granted { room_left: self.in_flight < self.aimd.limit() }
    }
}

impl Permit<'_> {
    pub fn finish(self, verdict: Verdict) {
        let mut inside = self.gate.lock();
        let (now, before, in_flight) = (Instant::now(), inside.aimd.limit(), inside.in_flight);
        match verdict {
            Verdict::Done { latency } => {
                inside.aimd.on_success(Success { latency, in_flight }, now);
            }
            Verdict::Refused { retry_after } => {
                let pause = retry_after.map_or(Pause::Backoff, Pause::Asked);
                inside.aimd.on_overload(self.started, pause, now);
            }
            Verdict::TimedOut => inside.aimd.on_overload(self.started, Pause::None, now),
            Verdict::Unrelated => {}
        }
        // Dropping the permit wakes one caller; a limit that grew has room for another.
        if inside.aimd.limit() > before {
            self.gate.freed.notify_one();
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut inside = self.gate.lock();
        inside.in_flight = inside.in_flight.saturating_sub(1);
        drop(inside);
        self.gate.freed.notify_one();
    }
}

/// Counts a caller as waiting for as long as it waits, also when it is cancelled.
struct Waiting<'a>(&'a Gate);

impl<'a> Waiting<'a> {
    fn new(gate: &'a Gate) -> Self {
        gate.lock().waiting += 1;
        Self(gate)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut inside = self.0.lock();
        inside.waiting = inside.waiting.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::sync::Arc;

    fn gate(max_concurrency: usize, requests_per_second: Option<f64>) -> Arc<Gate> {
        Arc::new(Gate::new(GateOptions { max_concurrency, requests_per_second }))
    }

    #[tokio::test]
    async fn no_more_than_the_limit_enter_and_a_leaver_makes_room() {
        let gate = gate(2, None);
        let first = gate.enter(1).await;
        let _second = gate.enter(1).await;
        assert!(gate.enter(1).now_or_never().is_none());
        assert_eq!((gate.in_flight(), gate.load()), (2, 1.0));
        first.finish(Verdict::Unrelated);
        assert!(gate.enter(1).now_or_never().is_some());
    }

    #[tokio::test]
    async fn every_waiter_gets_its_turn_even_if_others_give_up() {
        let gate = gate(1, None);
        let held = gate.enter(1).await;
        let waiters: Vec<_> = (0..50)
            .map(|_| {
                let gate = gate.clone();
                tokio::spawn(async move { drop(gate.enter(1).await) })
            })
            .collect();
        tokio::task::yield_now().await;
        for waiter in waiters.iter().step_by(2) {
            waiter.abort();
        }
        drop(held);
        for waiter in waiters.into_iter().skip(1).step_by(2) {
            waiter.await.unwrap();
        }
        assert_eq!(gate.load(), 0.0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_with_a_time_keeps_everybody_out_until_then() {
        let gate = gate(8, None);
        let start = Instant::now();
        let retry_after = Some(Duration::from_secs(7));
        gate.enter(1).await.finish(Verdict::Refused { retry_after });
        gate.enter_immediately(1).await;
        assert_eq!(start.elapsed().as_secs(), 7);
        assert!(gate.enter(1).now_or_never().is_some());
        assert_eq!(gate.limit(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn the_rate_is_kept() {
        let gate = gate(8, Some(10.0));
        let start = Instant::now();
        for _ in 0..10 {
            gate.enter(5).await.finish(Verdict::Unrelated);
        }
        // 50 calls, 10 saved up; the last batch may start with one token in hand.
        let seconds = start.elapsed().as_secs_f64();
        assert!((3.4..4.1).contains(&seconds), "{seconds}");
    }
}
