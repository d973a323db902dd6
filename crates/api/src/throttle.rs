//! A token bucket in compute units, one per key.

use std::sync::Mutex;
use std::time::Instant;

use crate::error::ApiError;

pub struct Throttle {
    units_per_second: u32,
    bucket: Mutex<Bucket>,
}

struct Bucket {
    units: f64,
    at: Instant,
}

impl Throttle {
    /// Zero is no limit.
    pub fn new(units_per_second: u32) -> Self {
        let bucket = Bucket { units: f64::from(units_per_second), at: Instant::now() };
        Throttle { units_per_second, bucket: Mutex::new(bucket) }
    }

    pub fn units_per_second(&self) -> u32 {
        self.units_per_second
    }

    pub fn take(&self, units: u32) -> Result<(), ApiError> {
        if self.units_per_second == 0 {
            return Ok(());
        }
        let mut bucket = self.bucket.lock().unwrap_or_else(|e| e.into_inner());
        self.take_at(&mut bucket, units, Instant::now())
    }

    fn take_at(&self, bucket: &mut Bucket, units: u32, now: Instant) -> Result<(), ApiError> {
        let rate = f64::from(self.units_per_second);
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        // One second's worth may be saved up; a question dearer than that drains the bucket.
        bucket.units = (bucket.units + passed * rate).min(rate);
        bucket.at = now;
        let wanted = f64::from(units).min(rate);
        if bucket.units >= wanted {
            bucket.units -= wanted;
            return Ok(());
        }
        let retry_after_s = ((wanted - bucket.units) / rate).ceil().max(1.0) as u64;
        Err(ApiError::RateLimited { units_per_second: self.units_per_second, retry_after_s })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_empties_fills_again_and_says_how_long_that_takes() {
        let throttle = Throttle::new(100);
        let start = Instant::now();
        let mut bucket = Bucket { units: 100.0, at: start };
        assert!(throttle.take_at(&mut bucket, 80, start).is_ok());
        let refused = throttle.take_at(&mut bucket, 80, start);
        assert!(matches!(refused, Err(ApiError::RateLimited { retry_after_s: 1, .. })));
        assert!(throttle.take_at(&mut bucket, 80, start + Duration::from_secs(1)).is_ok());
        assert!(Throttle::new(0).take(1_000_000).is_ok());
    }
}
