//! Whether traces are asked for together with blocks at the moment. Pure: told what happened and when.
//!
//! A tracer that is broken or far too slow would hold up every block. After some requests in a row that
//! got no traces, blocks are asked for without them for a while, longer each time; `retrace` goes on
//! asking for the traces, and its first success ends the pause.

use std::time::Duration;

use tokio::time::Instant;

/// So many requests in a row without traces; fewer can be chance, or odd blocks.
const FAILURES_MAX: u32 = 3;
const PAUSE_MIN: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_secs(300);

#[derive(Default)]
pub struct TraceBreaker {
    failures: u32,
    until: Option<Instant>,
}

impl TraceBreaker {
    pub fn may_ask(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now >= until)
    }

    /// A request got no traces of some block, after all tries.
    pub fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if let Some(over) = self.failures.checked_sub(FAILURES_MAX) {
            let pause = PAUSE_MIN.saturating_mul(2u32.saturating_pow(over.min(16))).min(PAUSE_MAX);
            self.until = Some(now + pause);
        }
    }

    pub fn succeeded(&mut self) {
        *self = TraceBreaker::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracer_that_fails_again_and_again_is_left_alone_for_longer_and_longer() {
        let (mut breaker, mut now) = (TraceBreaker::default(), Instant::now());
        breaker.failed(now);
        breaker.failed(now);
        assert!(breaker.may_ask(now), "that can be chance");
        for seconds in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            breaker.failed(now);
            let pause = Duration::from_secs(seconds);
            assert!(!breaker.may_ask(now + pause - Duration::from_millis(1)));
            now += pause;
            assert!(breaker.may_ask(now));
        }
        breaker.failed(now);
        breaker.succeeded();
        assert!(breaker.may_ask(now));
        breaker.failed(now);
        assert!(breaker.may_ask(now), "a success forgets");
    }
}
