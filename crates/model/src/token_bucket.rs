//! A token bucket: so many tokens per second, with one second's worth saved up.
//!
//! In: a rate, and the time at every call. Out: whether to go on, or how long to wait. Knows no clock, and not
//! what a token stands for: a call to a node, a unit of a key's allowance.

use std::time::{Duration, Instant};

/// A rate that is nearly nothing must not give a time that cannot be reckoned with.
const WAIT_S_MAX: f64 = 3600.0;

#[derive(Debug)]
pub struct TokenBucket {
    per_second: f64,
    tokens: f64,
    filled_at: Instant,
}

impl TokenBucket {
    /// A full one. `None` when the rate is not a usable number: no limit.
    pub fn new(per_second: f64, now: Instant) -> Option<Self> {
        let usable = per_second.is_finite() && per_second > 0.0;
        usable.then(|| Self { per_second, tokens: per_second.max(1.0), filled_at: now })
    }

    /// How long until so many are there: nothing when they are.
    pub fn wait_for(&mut self, tokens: f64, now: Instant) -> Duration {
        self.fill(now);
        let missing = (tokens - self.tokens).max(0.0);
        Duration::from_secs_f64((missing / self.per_second).min(WAIT_S_MAX))
    }

    /// Takes them whether they are there or not. What is missing is a debt, so that whatever is larger than
    /// the bucket is slow, not stuck.
    pub fn take(&mut self, tokens: f64, now: Instant) {
        self.fill(now);
        self.tokens -= tokens;
    }

    /// Takes them if they are there, else says how long that will take. What is larger than the bucket empties
    /// it.
    pub fn try_take(&mut self, tokens: f64, now: Instant) -> Result<(), Duration> {
        let wanted = tokens.min(self.capacity());
        let wait = self.wait_for(wanted, now);
        if !wait.is_zero() {
            return Err(wait);
        }
        self.tokens -= wanted;
        Ok(())
    }

    fn capacity(&self) -> f64 {
        self.per_second.max(1.0)
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.filled_at).as_secs_f64();
        self.tokens = (self.tokens + passed * self.per_second).min(self.capacity());
        self.filled_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lets_the_rate_through_and_no_more() {
        let start = Instant::now();
        let mut bucket = TokenBucket::new(10.0, start).unwrap();
        let mut now = start;
        for _ in 0..110 {
            now += bucket.wait_for(1.0, now);
            bucket.take(1.0, now);
        }
        let seconds = (now - start).as_secs_f64();
        assert!((9.8..10.2).contains(&seconds), "{seconds}");
    }

    #[test]
    fn a_large_batch_is_paid_back() {
        let start = Instant::now();
        let mut bucket = TokenBucket::new(5.0, start).unwrap();
        assert_eq!(bucket.wait_for(1.0, start), Duration::ZERO);
        bucket.take(20.0, start);
        let wait = bucket.wait_for(1.0, start).as_secs_f64();
        assert!((3.1..3.3).contains(&wait), "{wait}");
    }

    #[test]
    fn what_is_not_there_is_not_taken() {
        let start = Instant::now();
        let mut bucket = TokenBucket::new(100.0, start).unwrap();
        assert_eq!(bucket.try_take(80.0, start), Ok(()));
        assert_eq!(bucket.try_take(80.0, start), Err(Duration::from_millis(600)));
        assert_eq!(bucket.try_take(20.0, start), Ok(()));
        let later = start + Duration::from_secs(1);
        assert_eq!(bucket.try_take(1_000_000.0, later), Ok(()), "dearer than the bucket");
        assert_eq!(bucket.try_take(1.0, later), Err(Duration::from_millis(10)));
    }

    #[test]
    fn a_rate_that_is_no_rate_limits_nothing() {
        assert!(TokenBucket::new(0.0, Instant::now()).is_none());
        assert!(TokenBucket::new(f64::NAN, Instant::now()).is_none());
    }
}
