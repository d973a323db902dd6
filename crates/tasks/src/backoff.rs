//! How long to wait before the next trial. Pure.

use std::time::Duration;

/// How the waits between trials grow.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    pub min: Duration,
    pub max: Duration,
}

impl Backoff {
    /// Doubled each time, up to the maximum. `jitter` in 0..1 shortens it by up to a fifth, so that
    /// what failed together is not tried together.
    pub fn wait(&self, trial: u32, jitter: f64) -> Duration {
        let doubled = self.min.saturating_mul(2u32.saturating_pow(trial.min(20)));
        doubled.min(self.max).max(self.min).mul_f64(1.0 - 0.2 * jitter.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_maximum() {
        let backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_secs(60) };
        let waits: Vec<u64> = (0..8).map(|n| backoff.wait(n, 0.0).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(backoff.wait(0, 1.0), Duration::from_millis(800));
    }
}
