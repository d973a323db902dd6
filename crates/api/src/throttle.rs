//! How many compute units a key may use up per second.
//!
//! A request that costs more than a second's worth is let through once a whole second's worth is there, and
//! paid back: until the rest has come in, everything else is refused. So a batch costs what its calls cost.

use std::sync::Mutex;
use std::time::Instant;

use model::token_bucket::TokenBucket;

use crate::error::ApiError;
use crate::lock;
use crate::usage::{Usage, UsageCounts};

pub struct Throttle {
    units_per_second: u32,
    /// None is no limit.
    bucket: Option<Mutex<TokenBucket>>,
    usage: Usage,
}

impl Throttle {
    /// Zero is no limit.
    pub fn new(units_per_second: u32) -> Self {
        let bucket = TokenBucket::new(f64::from(units_per_second), Instant::now());
        Throttle { units_per_second, bucket: bucket.map(Mutex::new), usage: Usage::default() }
    }

    pub fn units_per_second(&self) -> u32 {
        self.units_per_second
    }

    /// What was taken, and how often nothing was left.
    pub fn usage(&self) -> UsageCounts {
        self.usage.counts()
    }

    pub fn take(&self, units: u32) -> Result<(), ApiError> {
        let taken = self.take_at(units, Instant::now());
        match &taken {
            Ok(()) => self.usage.charge(units),
            Err(_) => self.usage.refuse(),
        }
        taken
    }

    fn take_at(&self, units: u32, now: Instant) -> Result<(), ApiError> {
        let Some(bucket) = &self.bucket else { return Ok(()) };
        let mut bucket = lock::lock(bucket);
        let wait = bucket.wait_for(f64::from(units.min(self.units_per_second)), now);
        if wait.is_zero() {
            bucket.take(f64::from(units), now);
            return Ok(());
        }
        Err(ApiError::RateLimited {
            units_per_second: self.units_per_second,
            retry_after_s: wait.as_secs_f64().ceil().max(1.0) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_a_key_may_not_take_is_refused_with_a_time_to_wait() {
        let throttle = Throttle::new(1);
        assert!(throttle.take(1).is_ok());
        let refused = throttle.take(1);
        assert!(matches!(refused, Err(ApiError::RateLimited { retry_after_s: 1, .. })));
        let unlimited = Throttle::new(0);
        assert!(unlimited.take(1_000_000).is_ok());
        assert_eq!(throttle.usage(), UsageCounts { requests: 1, units: 1, refused: 1 });
        assert_eq!(unlimited.usage(), UsageCounts { requests: 1, units: 1_000_000, refused: 0 });
    }

    #[test]
    fn a_batch_that_is_dearer_than_a_second_is_let_through_and_paid_back() {
        let throttle = Throttle::new(30);
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(throttle.take_at(1_200, start).is_ok(), "100 calls of 12 units");
        let refused = throttle.take_at(30, after(1));
        assert!(matches!(refused, Err(ApiError::RateLimited { retry_after_s: 39, .. })));
        assert!(throttle.take_at(30, after(39)).is_err());
        assert!(throttle.take_at(30, after(40)).is_ok());
    }
}
