//! What the pool knows of one upstream, and what follows from all of them together: who lags, and
//! which head is the best.

use super::health::{Health, Lag, Moment};
use crate::head::Head;
use crate::probe::Capabilities;
use crate::upstream_id::UpstreamId;
use jiff::Timestamp;
use model::printable;
use std::collections::VecDeque;

/// How many lies are remembered with their evidence.
const EVIDENCE_KEPT: usize = 10;

#[derive(Clone, Debug)]
pub struct Condition {
    pub health: Health,
    pub head: Option<Head>,
    pub capabilities: Option<Capabilities>,
    pub evidence: VecDeque<(Timestamp, Evidence)>,
    pub last_error: Option<(Timestamp, String)>,
    /// Whether new heads come over a socket; none where there is no socket.
    pub subscribed: Option<bool>,
    /// How often its watcher had to be started again.
    pub watcher_restarts: u32,
}

/// What a check found wrong with what an upstream sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub block: u64,
    pub check: String,
    pub expected: String,
    pub got: String,
}

/// Longer than any hash; parts of a node's answer can be of any length.
const SHOWN_CHARS_MAX: usize = 200;

impl Evidence {
    /// Fit for a log line: parts of it are a node's words.
    pub fn printable(self) -> Self {
        let shown = |text: &str| printable(text, SHOWN_CHARS_MAX);
        Self {
            block: self.block,
            check: shown(&self.check),
            expected: shown(&self.expected),
            got: shown(&self.got),
        }
    }
}

impl Condition {
    pub fn new(now: Moment) -> Self {
        Self {
            health: Health::starting(now),
            head: None,
            capabilities: None,
            evidence: VecDeque::new(),
            last_error: None,
            subscribed: None,
            watcher_restarts: 0,
        }
    }

    pub fn remember(&mut self, evidence: Evidence, now: Moment) {
        if self.evidence.len() == EVIDENCE_KEPT {
            self.evidence.pop_front();
        }
        self.evidence.push_back((now.timestamp, evidence));
    }
}

/// Finds laggards and the best head. `published` is the head told last; `None` when nobody usable
/// has one.
pub fn reconsider(
    conditions: &mut [Condition],
    lag_blocks_max: u64,
    published: Option<UpstreamId>,
    now: Moment,
) -> Option<Head> {
    let watched = |c: &&Condition| c.health.is_watched();
    let best = conditions.iter().filter(watched).filter_map(|c| c.head).map(|h| h.number).max()?;
    for condition in conditions.iter_mut() {
        if let Some(head) = condition.head {
            condition.health.set_lag(Lag::of(head.number, best, lag_blocks_max), now);
        }
    }
    let usable = conditions.iter().filter(|c| c.health.is_usable()).filter_map(|c| c.head);
    // Among equals the one that spoke last goes on, so that two forks do not look like reorgs.
    usable.max_by_key(|head| {
        (head.number, Some(head.upstream) == published, std::cmp::Reverse(head.upstream))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::health::State;
    use alloy_primitives::B256;

    fn upstreams(heads: &[u64]) -> Vec<Condition> {
        let now = Moment::now();
        let make = |(at, number): (usize, &u64)| {
            let mut condition = Condition::new(now);
            condition.health.recovered(now);
            condition.head = Some(Head {
                number: *number,
                hash: B256::repeat_byte(at as u8),
                parent_hash: B256::ZERO,
                timestamp: 0,
                upstream: UpstreamId(at),
            });
            condition
        };
        heads.iter().enumerate().map(make).collect()
    }

    fn best(conditions: &mut [Condition], published: Option<usize>) -> Option<(u64, usize)> {
        let head = reconsider(conditions, 10, published.map(UpstreamId), Moment::now())?;
        Some((head.number, head.upstream.0))
    }

    #[test]
    fn the_highest_head_wins_and_laggards_are_left_out() {
        let mut all = upstreams(&[100, 120, 111]);
        assert_eq!(best(&mut all, None), Some((120, 1)));
        assert_eq!(all[0].health.state, State::Lagging);
        assert_eq!(all[2].health.state, State::Healthy);
    }

    #[test]
    fn a_laggard_is_best_again_when_the_leader_is_gone() {
        let mut all = upstreams(&[100, 120]);
        assert_eq!(best(&mut all, None), Some((120, 1)));
        all[1].health.lied("lied".into(), Moment::now());
        assert_eq!(best(&mut all, Some(1)), Some((100, 0)));
        assert_eq!(all[0].health.state, State::Healthy);
    }

    #[test]
    fn equal_heads_do_not_flap() {
        let mut all = upstreams(&[100, 100, 100]);
        assert_eq!(best(&mut all, None), Some((100, 0)));
        assert_eq!(best(&mut all, Some(2)), Some((100, 2)));
    }

    #[test]
    fn evidence_is_kept_up_to_a_limit() {
        let mut condition = Condition::new(Moment::now());
        for block in 0..25 {
            let text = String::new;
            let evidence = Evidence { block, check: text(), expected: text(), got: text() };
            condition.remember(evidence, Moment::now());
        }
        let blocks: Vec<u64> = condition.evidence.iter().map(|(_, e)| e.block).collect();
        assert_eq!(blocks, (15..25).collect::<Vec<_>>());
    }
}
