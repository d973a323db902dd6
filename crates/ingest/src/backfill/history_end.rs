//! Where history ends because no node has older blocks. Pure: told what happened and when.
//!
//! Nodes prune, and some say `null` where they only lag. So it takes some looks in a row to believe that
//! a block is to be had from nobody; from then on it is asked for rarely.

use std::time::Duration;

use tokio::time::Instant;

/// So many looks in a row at all nodes.
const LOOKS: u32 = 3;
const PAUSE_MIN: Duration = Duration::from_secs(60);
const PAUSE_MAX: Duration = Duration::from_secs(3_600);

#[derive(Default)]
pub struct HistoryEnd {
    missing: Option<Missing>,
}

/// The highest block that nobody has.
struct Missing {
    number: u64,
    looks: u32,
    /// When to look again, once it is believed.
    until: Option<Instant>,
}

impl HistoryEnd {
    /// Nobody has this block. When to look again, where that is believed by now.
    pub fn nobody_has(&mut self, number: u64, now: Instant) -> Option<Instant> {
        let before = self.missing.as_ref().filter(|missing| missing.number == number);
        let looks = before.map_or(0, |missing| missing.looks).saturating_add(1);
        let until = looks.checked_sub(LOOKS).map(|over| {
            let pause = PAUSE_MIN.saturating_mul(2u32.saturating_pow(over.min(16)));
            now + pause.min(PAUSE_MAX)
        });
        self.missing = Some(Missing { number, looks, until });
        until
    }

    /// When to look for this block again, where nobody is believed to have it.
    pub fn until(&self, number: u64) -> Option<Instant> {
        self.missing.as_ref().filter(|missing| missing.number == number)?.until
    }

    /// Somebody else may have it: to be looked for at once.
    pub fn look_again(&mut self, now: Instant) {
        if let Some(until) = self.missing.as_mut().and_then(|missing| missing.until.as_mut()) {
            *until = now;
        }
    }

    pub fn forget(&mut self) {
        *self = HistoryEnd::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_believed_after_some_looks_and_looked_at_rarely() {
        let (mut end, now) = (HistoryEnd::default(), Instant::now());
        assert_eq!((end.nobody_has(7, now), end.nobody_has(7, now)), (None, None));
        assert_eq!(end.until(7), None);
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
            let until = now + Duration::from_secs(60 * minutes);
            assert_eq!(end.nobody_has(7, now), Some(until));
            assert_eq!((end.until(7), end.until(6)), (Some(until), None));
        }
        end.look_again(now);
        assert_eq!(end.until(7), Some(now), "another node is asked at once");
        assert_eq!(end.nobody_has(6, now), None, "another block is another matter");
        end.forget();
        assert_eq!(end.nobody_has(6, now), None);
    }
}
