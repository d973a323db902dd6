//! What follows from how an attempt ended. Pure.

use ring::digest::{Context, SHA256};
use store::{DeliveryState, StreamId};

const RETRY_AFTER_MS_MAX: u64 = 24 * 3_600_000;
/// Where the receiver is gone and no retry is left; the stream is paused until somebody wants it again.
const GONE_RETRY_S: u64 = 86_400;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Taken,
    Failed {
        error: String,
        /// What the receiver asked for.
        retry_after_ms: Option<u64>,
    },
    /// 410: the receiver wants no more.
    Gone {
        error: String,
    },
}

impl Outcome {
    pub fn failed(error: impl Into<String>) -> Self {
        Outcome::Failed { error: error.into(), retry_after_ms: None }
    }

    pub fn error(&self) -> Option<&str> {
        match self {
            Outcome::Taken => None,
            Outcome::Failed { error, .. } | Outcome::Gone { error } => Some(error),
        }
    }
}

/// Which delivery it is about, when, and by which schedule.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub stream: StreamId,
    pub seq: u64,
    pub retry_s: &'a [u64],
    pub now_ms: u64,
}

pub(super) fn state_after(
    before: &DeliveryState,
    outcome: &Outcome,
    step: Step<'_>,
) -> DeliveryState {
    let attempts = before.attempts.saturating_add(1);
    let error = match outcome {
        Outcome::Taken => {
            let delivered_ms = before.delivered_ms.or(Some(step.now_ms));
            return DeliveryState { attempts, delivered_ms, ..DeliveryState::default() };
        }
        // It was taken once; that it was sent again in vain takes nothing back.
        _ if before.delivered_ms.is_some() => return DeliveryState { attempts, ..before.clone() },
        Outcome::Failed { error, .. } | Outcome::Gone { error } => Some(error.clone()),
    };
    let planned = step.retry_s.get(before.attempts as usize).copied();
    let delay_ms = match outcome {
        Outcome::Gone { .. } => Some(planned.unwrap_or(GONE_RETRY_S)),
        _ => planned,
    };
    let asked_ms = match outcome {
        Outcome::Failed { retry_after_ms, .. } => {
            retry_after_ms.unwrap_or(0).min(RETRY_AFTER_MS_MAX)
        }
        _ => 0,
    };
    let due_ms = delay_ms.map(|seconds| {
        let planned_ms = jittered_ms(seconds, step.stream, step.seq, attempts);
        step.now_ms.saturating_add(planned_ms.max(asked_ms))
    });
    DeliveryState { attempts, due_ms, delivered_ms: None, given_up: due_ms.is_none(), error }
}

/// Ten percent more or less, so that what failed together is not tried again together; always the same for the
/// same attempt.
fn jittered_ms(seconds: u64, stream: StreamId, seq: u64, attempt: u32) -> u64 {
    let mut hasher = Context::new(&SHA256);
    hasher.update(stream.as_slice());
    hasher.update(&seq.to_be_bytes());
    hasher.update(&attempt.to_be_bytes());
    let hash = hasher.finish();
    let front = hash.as_ref().first_chunk().copied().unwrap_or_default();
    let spread = u64::from(u32::from_be_bytes(front)) % 2_001;
    seconds.saturating_mul(1_000).saturating_mul(9_000 + spread) / 10_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY_S: [u64; 3] = [60, 600, 3_600];
    const NOW: u64 = 1_000_000_000;

    fn after(before: &DeliveryState, outcome: &Outcome, seq: u64) -> DeliveryState {
        let stream = StreamId::repeat_byte(7);
        state_after(before, outcome, Step { stream, seq, retry_s: &RETRY_S, now_ms: NOW })
    }

    #[test]
    fn failures_follow_the_schedule_with_jitter_and_are_given_up_after_the_last() {
        let failed = Outcome::failed("no");
        let mut seen = std::collections::BTreeSet::new();
        for seq in 1..200 {
            let mut state = DeliveryState::default();
            for (index, seconds) in RETRY_S.iter().enumerate() {
                state = after(&state, &failed, seq);
                assert_eq!(state.attempts as usize, index + 1);
                let delay = state.due_ms.unwrap() - NOW;
                assert!(
                    (seconds * 900..=seconds * 1_100).contains(&delay),
                    "{delay} for {seconds}"
                );
                seen.insert(delay);
            }
            assert!(!state.given_up && state.error.as_deref() == Some("no"));
            state = after(&state, &failed, seq);
            assert_eq!((state.attempts, state.due_ms, state.given_up), (4, None, true));
            // Whoever asks for it once more gets no more than that.
            state = after(&state, &failed, seq);
            assert_eq!((state.attempts, state.due_ms, state.given_up), (5, None, true));
            state = after(&state, &Outcome::Taken, seq);
            assert_eq!((state.delivered_ms, state.given_up, state.error), (Some(NOW), false, None));
        }
        assert!(seen.len() > 300, "they are spread: {}", seen.len());
        assert_eq!(
            after(&DeliveryState::default(), &failed, 9),
            after(&DeliveryState::default(), &failed, 9)
        );
    }

    #[test]
    fn a_receiver_may_ask_for_more_time_but_not_for_less_and_not_for_ever() {
        let asked = |ms| Outcome::Failed { error: "busy".into(), retry_after_ms: Some(ms) };
        let due = |outcome| after(&DeliveryState::default(), &outcome, 1).due_ms.unwrap() - NOW;
        assert_eq!(due(asked(1)), due(Outcome::failed("no")));
        assert_eq!(due(asked(600_000)), 600_000);
        assert_eq!(due(asked(u64::MAX)), RETRY_AFTER_MS_MAX);
    }

    #[test]
    fn a_receiver_that_is_gone_leaves_the_delivery_waiting_whatever_was_tried() {
        let gone = Outcome::Gone { error: "410".into() };
        for attempts in 0..10 {
            let state = after(&DeliveryState { attempts, ..DeliveryState::default() }, &gone, 1);
            assert!(state.due_ms.is_some() && !state.given_up, "{attempts}");
        }
    }

    #[test]
    fn sent_again_in_vain_it_stays_delivered() {
        let taken = after(&DeliveryState::default(), &Outcome::Taken, 1);
        let again = after(&taken, &Outcome::failed("no"), 1);
        assert_eq!(again, DeliveryState { attempts: 2, ..taken });
        assert!(again.is_final());
    }
}
