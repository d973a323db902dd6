//! A token bucket: at most so many calls per second, with one second's worth saved up.
//!
//! A batch costs as many tokens as it has calls, since providers count calls. It may start while
//! any token is left and leaves a debt, so that a batch larger than the bucket is slow, not stuck.

use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug)]
pub struct Bucket {
    per_second: f64,
    tokens: f64,
    filled_at: Instant,
}

impl Bucket {
    /// `None` when the rate is not a usable number: no limit.
    pub fn new(per_second: f64, now: Instant) -> Option<Self> {
        let usable = per_second.is_finite() && per_second > 0.0;
        usable.then(|| Self { per_second, tokens: per_second.max(1.0), filled_at: now })
    }

    /// When the next call may start; in the past or `now` when it may start at once.
    pub fn ready_at(&mut self, now: Instant) -> Instant {
        self.fill(now);
        if self.tokens >= 1.0 {
            return now;
        }
        now + Duration::from_secs_f64(((1.0 - self.tokens) / self.per_second).min(3600.0))
    }

    pub fn take(&mut self, calls: usize, now: Instant) {
        self.fill(now);
        self.tokens -= calls as f64;
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.filled_at).as_secs_f64();
        self.tokens = (self.tokens + passed * self.per_second).min(self.per_second.max(1.0));
        self.filled_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lets_the_rate_through_and_no_more() {
        let start = Instant::now();
        let mut bucket = Bucket::new(10.0, start).unwrap();
        let mut now = start;
        for _ in 0..110 {
            now = now.max(bucket.ready_at(now));
            bucket.take(1, now);
        }
        let seconds = (now - start).as_secs_f64();
        assert!((9.8..10.2).contains(&seconds), "{seconds}");
    }

    #[test]
    fn a_large_batch_is_paid_back() {
        let start = Instant::now();
        let mut bucket = Bucket::new(5.0, start).unwrap();
        assert_eq!(bucket.ready_at(start), start);
        bucket.take(20, start);
        let wait = (bucket.ready_at(start) - start).as_secs_f64();
        assert!((3.1..3.3).contains(&wait), "{wait}");
    }

    #[test]
    fn a_rate_that_is_no_rate_limits_nothing() {
        assert!(Bucket::new(0.0, Instant::now()).is_none());
        assert!(Bucket::new(f64::NAN, Instant::now()).is_none());
    }
}
