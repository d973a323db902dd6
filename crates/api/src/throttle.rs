//! How many compute units a key may use up per second.

use std::sync::Mutex;
use std::time::Instant;

use model::token_bucket::TokenBucket;

use crate::error::ApiError;
use crate::lock;

pub struct Throttle {
    units_per_second: u32,
    /// None is no limit.
    bucket: Option<Mutex<TokenBucket>>,
}

impl Throttle {
    /// Zero is no limit.
    pub fn new(units_per_second: u32) -> Self {
        let bucket = TokenBucket::new(f64::from(units_per_second), Instant::now());
        Throttle { units_per_second, bucket: bucket.map(Mutex::new) }
    }

    pub fn units_per_second(&self) -> u32 {
        self.units_per_second
    }

    pub fn take(&self, units: u32) -> Result<(), ApiError> {
        let Some(bucket) = &self.bucket else { return Ok(()) };
        let mut bucket = lock::lock(bucket);
        bucket.try_take(f64::from(units), Instant::now()).map_err(|wait| ApiError::RateLimited {
            units_per_second: self.units_per_second,
            retry_after_s: wait.as_secs_f64().ceil().max(1.0) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_key_may_not_take_is_refused_with_a_time_to_wait() {
        let throttle = Throttle::new(1);
        assert!(throttle.take(1_000).is_ok(), "a question dearer than a second drains the bucket");
        let refused = throttle.take(1);
        assert!(matches!(refused, Err(ApiError::RateLimited { retry_after_s: 1, .. })));
        assert!(Throttle::new(0).take(1_000_000).is_ok());
    }
}
