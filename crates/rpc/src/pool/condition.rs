//! What the pool knows of one upstream, and what follows from all of them together: who lags, and
//! which head is the best.

use super::health::{Health, Lag, Moment};
use super::standing::Standing;
use crate::head::Head;
use crate::probe::{Capabilities, TraceDoubt, TraceProbe, Traces};
use crate::upstream_id::UpstreamId;
use alloy_primitives::B256;
use jiff::Timestamp;
use model::printable;
use std::collections::VecDeque;
use tasks::Backoff;
use tokio::time::Instant;

/// How many lies are remembered with their evidence.
const EVIDENCE_KEPT: usize = 10;

#[derive(Clone, Debug)]
pub struct Condition {
    pub health: Health,
    pub head: Option<Head>,
    pub standing: Standing,
    pub capabilities: Option<Capabilities>,
    /// The hash of its block 0, where it is near and has one.
    pub genesis: Option<B256>,
    /// Why it may be wrong about traces; none where it is sure.
    pub trace_outlook: Option<TraceOutlook>,
    pub evidence: VecDeque<(Timestamp, Evidence)>,
    /// Also of what is no longer remembered.
    pub evidence_total: u64,
    pub last_error: Option<(Timestamp, String)>,
    /// Whether new heads come over a socket; none where there is no socket.
    pub subscribed: Option<bool>,
    /// How often its watcher had to be started again.
    pub watcher_restarts: u32,
}

/// A doubt whether the upstream traces, and when it is to be cleared.
#[derive(Clone, Debug)]
pub struct TraceOutlook {
    pub doubt: TraceDoubt,
    /// How often it was probed in vain.
    pub trials: u32,
    pub probed_at: Instant,
}

impl TraceOutlook {
    /// A node that knows the methods may be well soon, one that does not only when it is another.
    pub fn probe_at(&self, backoff: Backoff) -> Instant {
        let soon = Backoff { min: backoff.min * 10, max: backoff.max * 5 };
        self.probed_at
            + match self.doubt {
                TraceDoubt::Failed(_) => soon.wait(self.trials, 0.0),
                TraceDoubt::MethodsMissing => backoff.max * 60,
            }
    }
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
    /// A head that nobody could have.
    pub fn undelivered(block: u64) -> Self {
        Self {
            block,
            check: "announced head".to_owned(),
            expected: "the block that was announced".to_owned(),
            got: "nothing".to_owned(),
        }
    }

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
            standing: Standing::default(),
            capabilities: None,
            genesis: None,
            trace_outlook: None,
            evidence: VecDeque::new(),
            evidence_total: 0,
            last_error: None,
            subscribed: None,
            watcher_restarts: 0,
        }
    }

    /// What a probe said about traces. One that shows nothing changes nothing but the reason.
    pub fn saw_traces(&mut self, found: TraceProbe, now: Instant) {
        let TraceProbe { traces, old_blocks, doubt } = found;
        let is_undecided = matches!(doubt, Some(TraceDoubt::Failed(_))) && traces == Traces::None;
        if let Some(able) = self.capabilities.as_mut().filter(|_| !is_undecided) {
            (able.traces, able.traces_old_blocks) = (traces, old_blocks);
        }
        let trials = self.trace_outlook.as_ref().map_or(0, |before| before.trials + 1);
        self.trace_outlook = doubt.map(|doubt| TraceOutlook { doubt, trials, probed_at: now });
    }

    pub fn remember(&mut self, evidence: Evidence, now: Moment) {
        if self.evidence.len() == EVIDENCE_KEPT {
            self.evidence.pop_front();
        }
        self.evidence.push_back((now.timestamp, evidence));
        self.evidence_total += 1;
    }
}

/// What heads are held against.
#[derive(Clone, Copy)]
pub struct HeadRules {
    /// The newest block that any upstream gave. Nobody lags behind what was only announced.
    pub delivered: u64,
    pub lag_blocks_max: u64,
    /// Who spoke last.
    pub published: Option<UpstreamId>,
}

/// Finds laggards and the best head; `None` when nobody usable has one.
pub fn reconsider(conditions: &mut [Condition], rules: HeadRules, now: Moment) -> Option<Head> {
    let watched = |c: &&Condition| c.health.is_watched();
    let best = conditions.iter().filter(watched).filter_map(|c| c.head).map(|h| h.number).max()?;
    let best = best.min(rules.delivered);
    for condition in conditions.iter_mut() {
        if let Some(head) = condition.head {
            condition.health.set_lag(Lag::of(head.number, best, rules.lag_blocks_max), now);
        }
    }
    let is_trusted = |c: &Condition| !c.standing.is_doubted(now.instant);
    let usable = conditions.iter().filter(|c| c.health.is_usable());
    let heads = usable.filter_map(|c| Some((is_trusted(c), c.head?)));
    // Among equals the one that spoke last goes on, so that two forks do not look like reorgs.
    let best = heads.max_by_key(|(is_trusted, head)| {
        let spoke_last = Some(head.upstream) == rules.published;
        (*is_trusted, head.number, spoke_last, std::cmp::Reverse(head.upstream))
    });
    best.map(|(_, head)| head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::health::State;
    use crate::probe::Receipts;
    use alloy_primitives::B256;
    use std::time::Duration;

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
        best_of(conditions, published, u64::MAX)
    }

    fn best_of(
        conditions: &mut [Condition],
        published: Option<usize>,
        delivered: u64,
    ) -> Option<(u64, usize)> {
        let published = published.map(UpstreamId);
        let rules = HeadRules { delivered, lag_blocks_max: 10, published };
        let head = reconsider(conditions, rules, Moment::now())?;
        Some((head.number, head.upstream.0))
    }

    #[test]
    fn nobody_lags_behind_a_head_that_was_only_announced() {
        let mut all = upstreams(&[100, 1_000_000_000]);
        assert_eq!(best_of(&mut all, None, 0), Some((1_000_000_000, 1)), "it is asked for");
        assert!(all.iter().all(|it| it.health.is_usable()));
        assert_eq!(best_of(&mut all, None, 100), Some((1_000_000_000, 1)));
        assert!(all.iter().all(|it| it.health.is_usable()));
        let minute = std::time::Duration::from_secs(60);
        all[1].standing.not_delivered(Backoff { min: minute, max: minute }, Instant::now());
        assert_eq!(best_of(&mut all, Some(1), 100), Some((100, 0)), "it was not given");
        all[0].health.lied("lied".into(), Moment::now());
        assert_eq!(
            best_of(&mut all, Some(0), 100),
            Some((1_000_000_000, 1)),
            "nobody else is left"
        );
        assert_eq!(best_of(&mut upstreams(&[100, 120]), None, 120), Some((120, 1)));
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
    fn a_doubt_about_traces_is_cleared_soon_or_rarely_and_a_probe_that_shows_nothing_changes_nothing()
     {
        let backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_secs(60) };
        let mut condition = Condition::new(Moment::now());
        condition.capabilities = Some(Capabilities {
            client: String::new(),
            receipts: Receipts::Block,
            traces: Traces::TraceBlock,
            oldest_block: 0,
            traces_old_blocks: true,
        });
        let (now, mut pauses) = (Instant::now(), vec![]);
        let failed = || Some(TraceDoubt::Failed("timeout".into()));
        for _ in 0..7 {
            let probe = TraceProbe { traces: Traces::None, old_blocks: false, doubt: failed() };
            condition.saw_traces(probe, now);
            let due = condition.trace_outlook.as_ref().unwrap().probe_at(backoff);
            pauses.push((due - now).as_secs());
        }
        assert_eq!(pauses, [10, 20, 40, 80, 160, 300, 300]);
        let traces = |c: &Condition| c.capabilities.as_ref().map(|able| able.traces);
        assert_eq!(traces(&condition), Some(Traces::TraceBlock));
        let doubt = Some(TraceDoubt::MethodsMissing);
        condition.saw_traces(TraceProbe { traces: Traces::None, old_blocks: false, doubt }, now);
        assert_eq!(traces(&condition), Some(Traces::None), "now it is known");
        let due = condition.trace_outlook.as_ref().unwrap().probe_at(backoff);
        assert_eq!((due - now).as_secs(), 3600);
        let (traces_now, doubt) = (Traces::DebugTraceBlock, None);
        condition.saw_traces(TraceProbe { traces: traces_now, old_blocks: true, doubt }, now);
        assert_eq!(traces(&condition), Some(Traces::DebugTraceBlock));
        assert!(condition.trace_outlook.is_none());
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
