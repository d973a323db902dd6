//! What the pool, its watchers and its requests share. Every change of a condition goes through
//! here, so that lag, the best head and the gates always follow from the same view.

use super::client_record::ClientRecord;
use super::condition::{self, Condition, Evidence, HeadRules, TraceOutlook};
use super::health::{Health, Moment, Next, State};
use super::hedges::Hedges;
use super::pick::{self, Candidate, ClientRank, Needs};
use super::standing::UNDELIVERED_MAX;
use super::{PoolOptions, UpstreamId};
use crate::budget::PoolBudgets;
use crate::config::{PoolConfig, TraceChoice};
use crate::error::{Error, error_chain};
use crate::head::Head;
use crate::lane::Lane;
use crate::probe::{Capabilities, Expected, Probed, TraceProbe};
use crate::redact::origin;
use crate::upstream::Upstream;
use alloy_primitives::B256;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tasks::{Backoff, TaskEnd};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// A node that is away is tried so often while nobody stands in for it.
const ALONE_WAIT_MAX: Duration = Duration::from_secs(5);
/// Heads count as they are announced: nobody says which blocks were given.
const NO_ACCOUNT: u64 = u64::MAX;

pub struct Shared {
    pub chain_label: String,
    pub chain_id: u64,
    pub config: PoolConfig,
    pub poll_interval: Duration,
    pub budgets: Arc<PoolBudgets>,
    pub hedges: Hedges,
    members: Vec<Member>,
    conditions: Mutex<Vec<Condition>>,
    heads: watch::Sender<Option<Head>>,
    /// The newest block that was given, or `NO_ACCOUNT`.
    delivered: AtomicU64,
    /// Counts changes of state; requests that find nobody wait on it.
    changes: watch::Sender<u64>,
    closed: AtomicBool,
}

pub struct Member {
    pub upstream: Upstream,
    traces: TraceChoice,
    pub(super) client_record: Mutex<ClientRecord>,
    /// Wakes the watcher when something else changed its upstream's state.
    pub wake: Notify,
}

/// What an upstream is chosen by.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    pub needs: &'a Needs,
    pub lane: Lane,
}

impl Shared {
    pub fn new(options: PoolOptions) -> Result<Self, Error> {
        let PoolOptions { chain_id, chain_label, upstreams, config, poll_interval } = options;
        let budgets = Arc::new(PoolBudgets::new(&config));
        let mut members: Vec<Member> = Vec::with_capacity(upstreams.len());
        for (i, upstream) in upstreams.iter().enumerate() {
            let shown =
                || origin(&upstream.url).unwrap_or_else(|| format!("{} of the list", i + 1));
            let name = upstream.name.clone().unwrap_or_else(shown);
            // Two keys at one provider must not share a line in metrics.
            let twins =
                members.iter().filter(|m| m.upstream.label.split('#').next() == Some(&name));
            let label = match twins.count() {
                0 => name,
                others => format!("{name}#{}", others + 1),
            };
            let traces = upstream.traces;
            let upstream = Upstream::new(&chain_label, label, upstream, &config, &budgets)?;
            let client_record = Mutex::default();
            members.push(Member { upstream, traces, client_record, wake: Notify::new() });
        }
        let conditions = members.iter().map(|_| Condition::new(Moment::now())).collect();
        Ok(Self {
            chain_label,
            chain_id,
            poll_interval: config.poll_ms.map_or(poll_interval, Duration::from_millis),
            config,
            budgets,
            hedges: Hedges::default(),
            members,
            conditions: Mutex::new(conditions),
            heads: watch::Sender::new(None),
            delivered: AtomicU64::new(NO_ACCOUNT),
            changes: watch::Sender::new(0),
            closed: AtomicBool::new(false),
        })
    }

    pub fn ids(&self) -> impl ExactSizeIterator<Item = UpstreamId> + use<> {
        (0..self.members.len()).map(UpstreamId)
    }

    pub fn member(&self, id: UpstreamId) -> Option<&Member> {
        self.members.get(id.0)
    }

    pub fn label(&self, id: UpstreamId) -> &str {
        self.member(id).map_or("unknown", |member| &member.upstream.label)
    }

    pub fn expected(&self, member: &Member) -> Expected {
        Expected { chain_id: self.chain_id, traces: member.traces }
    }

    pub fn heads(&self) -> watch::Receiver<Option<Head>> {
        self.heads.subscribe()
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.changes.send_modify(|n| *n += 1);
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    pub fn condition(&self, id: UpstreamId) -> Option<Condition> {
        self.lock().get(id.0).cloned()
    }

    pub fn capabilities(&self, id: UpstreamId) -> Option<Capabilities> {
        self.lock().get(id.0)?.capabilities.clone()
    }

    /// Whether all upstreams are near, and none of them has this block 0 but another.
    pub fn is_dev_chain(&self, genesis: B256) -> bool {
        let conditions = self.lock();
        let mut known = conditions.iter().filter_map(|condition| condition.genesis).peekable();
        known.peek().is_some() && known.all(|other| other != genesis) && self.are_all_near()
    }

    pub fn are_all_near(&self) -> bool {
        self.members.iter().all(|member| member.upstream.is_near)
    }

    pub fn traceable_from(&self) -> Option<u64> {
        let head = (*self.heads.borrow()).map_or(0, |head| head.number);
        let conditions = self.lock();
        let usable = conditions.iter().filter(|condition| condition.health.is_usable());
        let able = usable.filter_map(|condition| condition.capabilities.as_ref());
        able.filter_map(|able| pick::traceable_from(able, head)).min()
    }

    pub fn pick(&self, choice: Choice<'_>, avoid: &[UpstreamId]) -> Option<UpstreamId> {
        let now = Instant::now();
        let picked = self.best(choice, avoid, now)?;
        if !choice.lane.is_ingest() {
            self.member(picked)?.clients().begin_trial(now);
        }
        Some(picked)
    }

    /// The same for whoever only wants to know.
    pub fn best(
        &self,
        choice: Choice<'_>,
        avoid: &[UpstreamId],
        now: Instant,
    ) -> Option<UpstreamId> {
        if self.is_closed() {
            return None;
        }
        let delivered = self.delivered.load(Ordering::Relaxed);
        let conditions = self.lock();
        let usable = self.ids().zip(conditions.iter().zip(&self.members)).filter_map(
            |(id, (condition, member))| {
                let capabilities = condition.capabilities.as_ref()?;
                let believed =
                    if condition.standing.is_doubted(now) { delivered } else { u64::MAX };
                condition.health.is_usable().then(|| Candidate {
                    id,
                    capabilities,
                    head: condition.head.map(|head| head.number.min(believed)),
                    paused: member.upstream.gate.paused_until(choice.lane).is_some(),
                    client_rank: if choice.lane.is_ingest() {
                        ClientRank::default()
                    } else {
                        ClientRank::of(&member.clients(), choice.needs, now)
                    },
                    load: member.upstream.gate.load(),
                })
            },
        );
        pick::pick(usable, choice.needs, avoid)
    }

    /// Why nobody could be picked, each upstream in its own words.
    pub fn no_upstream(&self, needs: &Needs) -> Error {
        let conditions = self.lock();
        let each = self.members.iter().zip(conditions.iter()).map(|(member, condition)| {
            let label = &member.upstream.label;
            if condition.health.is_usable() {
                return format!("{label} was tried or does not offer what is needed ({needs:?})");
            }
            format!("{label} is {:?}: {}", condition.health.state, condition.health.reason)
        });
        let why = each.collect::<Vec<_>>().join("; ");
        let why = if why.is_empty() { "none is configured".to_owned() } else { why };
        Error::NoUpstream { chain: self.chain_label.clone(), why }
    }

    pub fn somebody_is_starting(&self) -> bool {
        self.lock().iter().any(|c| c.health.state == State::Starting)
    }

    pub fn probed(&self, id: UpstreamId, probed: Probed) {
        let trace_outlook = probed.trace_doubt.map(|doubt| {
            let (chain, upstream, reason) = (&self.chain_label, self.label(id), doubt.reason());
            tracing::warn!(%chain, %upstream, %reason, "the node may not trace; it is tried again later");
            TraceOutlook { doubt, trials: 0, probed_at: Instant::now() }
        });
        self.change(id, |condition, now| {
            condition.capabilities = Some(probed.capabilities);
            condition.genesis = probed.genesis;
            condition.trace_outlook = trace_outlook;
            condition.head = Some(probed.head);
            condition.health.recovered(now);
            Next::Stays
        });
    }

    /// When it is to be probed for traces again; none where nothing is in doubt, or while it is not in use.
    pub fn trace_probe_at(&self, id: UpstreamId) -> Option<Instant> {
        let conditions = self.lock();
        let condition = conditions.get(id.0).filter(|condition| condition.health.is_usable())?;
        Some(condition.trace_outlook.as_ref()?.probe_at(self.backoff()))
    }

    pub fn traces_probed(&self, id: UpstreamId, found: TraceProbe) {
        let able = |condition: Option<&Condition>| condition?.capabilities.clone();
        let mut conditions = self.lock();
        let before = able(conditions.get(id.0));
        if let Some(condition) = conditions.get_mut(id.0) {
            condition.saw_traces(found, Instant::now());
        }
        let after = able(conditions.get(id.0));
        drop(conditions);
        if before != after {
            let traces = after.map(|able| able.traces);
            tracing::info!(chain = %self.chain_label, upstream = %self.label(id), ?traces,
                "what the node can trace has changed");
            self.changes.send_modify(|n| *n += 1);
        }
    }

    pub fn saw_head(&self, head: Head) {
        self.change(head.upstream, |condition, _| {
            condition.head = Some(head);
            Next::Stays
        });
    }

    pub fn expect_deliveries(&self) {
        let (seq, none) = (Ordering::Relaxed, 0);
        // A second reader of the same heads begins with what the first one knows.
        let _ = self.delivered.compare_exchange(NO_ACCOUNT, none, seq, seq);
    }

    pub fn newest_delivered(&self) -> Option<u64> {
        let delivered = self.delivered.load(Ordering::Relaxed);
        (delivered != NO_ACCOUNT).then_some(delivered)
    }

    pub fn delivered(&self, id: UpstreamId, number: u64, hash: B256) {
        if self.newest_delivered().is_some() {
            self.delivered.fetch_max(number.min(NO_ACCOUNT - 1), Ordering::Relaxed);
        }
        // Whoever has the same head was right about it.
        let is_its_head = |it: &&mut Condition| it.head.is_some_and(|head| head.hash == hash);
        self.lock().iter_mut().filter(is_its_head).for_each(|it| it.standing.delivered());
        self.change(id, |condition, _| {
            condition.standing.delivered();
            Next::Stays
        });
    }

    pub fn not_delivered(&self, id: UpstreamId, number: u64) {
        let (chain, upstream) = (&self.chain_label, self.label(id));
        metrics::counter!("headwater_heads_not_delivered_total",
            "chain" => chain.clone(), "upstream" => upstream.to_owned())
        .increment(1);
        let is_alone = self.is_alone(&self.lock(), id);
        let backoff = self.backoff();
        self.change(id, |condition, now| {
            let times = condition.standing.not_delivered(backoff, now.instant);
            let reason =
                format!("announced block {number} and did not give it, {times} times in a row");
            condition.last_error = Some((now.timestamp, reason.clone()));
            if times < UNDELIVERED_MAX || is_alone {
                return Next::Stays;
            }
            tracing::warn!(%chain, %upstream, block.number = number, times,
                "upstream announces blocks that it does not give");
            condition.remember(Evidence::undelivered(number), now);
            condition.health.lied(reason, now)
        });
    }

    pub fn doubt(&self, id: UpstreamId, pause: Duration) {
        self.change(id, |condition, now| {
            condition.standing.doubt(pause, now.instant);
            Next::Stays
        });
    }

    pub fn left_out(&self, id: UpstreamId, state: State, reason: String) {
        self.change(id, |condition, now| condition.health.leave_out(state, reason, now));
    }

    pub fn drain(&self, id: UpstreamId) {
        self.change(id, |condition, now| {
            condition.health.drain(now);
            Next::Stays
        });
    }

    pub fn try_again(&self, id: UpstreamId) {
        self.change(id, |condition, now| {
            condition.health.try_again(now);
            Next::Stays
        });
    }

    /// A user's light question that went well does not make up for blocks that cannot be had.
    pub fn succeeded(&self, id: UpstreamId, lane: Lane) {
        if !lane.is_ingest() {
            return;
        }
        if let Some(condition) = self.lock().get_mut(id.0) {
            condition.health.succeeded();
        }
    }

    pub fn failed(&self, id: UpstreamId, error: &Error, lane: Lane) {
        // Being left out while waiting is no fault of the request or the node.
        if matches!(error, Error::NoUpstream { .. }) {
            return;
        }
        // A user's odd or heavy request must not take an upstream from everybody else, nor must many at once
        // for which no connection was to be had: whether the node is there, polls find out.
        let counts = lane.is_ingest();
        self.change(id, |condition, now| {
            condition.last_error = Some((now.timestamp, error_chain(error)));
            if counts { condition.health.failed(error, now) } else { Next::Stays }
        });
    }

    /// Something to be seen in /status that says nothing about the upstream's health.
    pub fn noted(&self, id: UpstreamId, what: String) {
        if let Some(condition) = self.lock().get_mut(id.0) {
            condition.last_error = Some((Moment::now().timestamp, what));
        }
    }

    pub fn set_subscribed(&self, id: UpstreamId, subscribed: Option<bool>) {
        if let Some(condition) = self.lock().get_mut(id.0) {
            condition.subscribed = subscribed;
        }
    }

    pub fn watcher_ended(&self, id: UpstreamId, end: &TaskEnd) {
        let TaskEnd { reason, pause } = end;
        let pause_ms = pause.as_millis() as u64;
        tracing::error!(chain = %self.chain_label, upstream = %self.label(id), %reason, pause_ms,
            "the watcher of an upstream ended and is started again");
        if let Some(condition) = self.lock().get_mut(id.0) {
            condition.watcher_restarts = condition.watcher_restarts.saturating_add(1);
            let what = format!("its watcher {reason}; started again after {pause_ms} ms");
            condition.last_error = Some((Moment::now().timestamp, what));
        }
    }

    pub fn report_lie(&self, id: UpstreamId, evidence: Evidence) {
        let evidence = evidence.printable();
        let Evidence { block, check, .. } = &evidence;
        let reason = format!("sent block {block} with a wrong {check}");
        tracing::warn!(chain = %self.chain_label, upstream = %self.label(id), block.number = block,
            check = %check, expected = %evidence.expected, got = %evidence.got,
            "upstream sent a block that does not verify");
        self.change(id, |condition, now| {
            condition.remember(evidence, now);
            condition.health.lied(reason, now)
        });
    }

    pub fn keep_evidence(&self, id: UpstreamId, evidence: Evidence) {
        let evidence = evidence.printable();
        let Evidence { block, check, expected, got } = &evidence;
        tracing::warn!(chain = %self.chain_label, upstream = %self.label(id), block.number = block,
            %check, %expected, %got, "upstream sent what cannot be, and stays in use");
        if let Some(condition) = self.lock().get_mut(id.0) {
            condition.remember(evidence, Moment::now());
        }
    }

    /// Changes one condition and draws the conclusions for all.
    fn change(&self, id: UpstreamId, change: impl FnOnce(&mut Condition, Moment) -> Next) {
        let now = Moment::now();
        let mut conditions = self.lock();
        let before: Vec<State> = conditions.iter().map(|c| c.health.state).collect();
        let is_alone = self.is_alone(&conditions, id);
        if let Some(condition) = conditions.get_mut(id.0)
            && change(condition, now) == Next::LeftOut
        {
            let mut backoff = self.backoff();
            if is_alone && matches!(condition.health.state, State::Dead | State::Slow) {
                backoff.max = backoff.max.min(ALONE_WAIT_MAX);
            }
            condition.health.schedule(backoff, rand::random(), now);
        }
        let rules = HeadRules {
            delivered: self.delivered.load(Ordering::Relaxed),
            lag_blocks_max: self.config.lag_blocks_max,
            published: (*self.heads.borrow()).map(|head| head.upstream),
        };
        let best = condition::reconsider(&mut conditions, rules, now);
        let after: Vec<State> = conditions.iter().map(|c| c.health.state).collect();
        // Told while the lock is held, so that no older view is published after a newer one.
        self.publish(best);
        if before != after {
            self.announce(&before, &conditions);
        }
    }

    /// Whether nobody else could be asked.
    fn is_alone(&self, conditions: &[Condition], id: UpstreamId) -> bool {
        let others = conditions.iter().enumerate().filter(|(at, _)| *at != id.0);
        !others.map(|(_, other)| &other.health).any(Health::is_usable)
    }

    fn publish(&self, best: Option<Head>) {
        if best.is_none() {
            return;
        }
        self.heads.send_if_modified(|head| {
            let same =
                head.zip(best).is_some_and(|(a, b)| (a.number, a.hash) == (b.number, b.hash));
            *head = best;
            !same
        });
    }

    fn announce(&self, before: &[State], conditions: &[Condition]) {
        for ((member, was), now) in self.members.iter().zip(before).zip(conditions) {
            let health = &now.health;
            member.upstream.accepting.store(health.is_usable(), Ordering::Relaxed);
            if *was == health.state {
                continue;
            }
            let (chain, upstream) = (&self.chain_label, &member.upstream.label);
            if health.is_usable() {
                tracing::info!(%chain, %upstream, "upstream is in use: {}", health.reason);
            } else {
                tracing::warn!(%chain, %upstream, state = ?health.state, "upstream is left out: {}", health.reason);
            }
            member.wake.notify_one();
        }
        self.changes.send_modify(|n| *n += 1);
    }

    /// Until when a request of this lane may wait for its turn; ingest waits as long as it takes.
    pub fn turn_by(&self, lane: Lane) -> Option<Instant> {
        let wait = Duration::from_millis(self.config.client_wait_ms);
        (lane == Lane::Interactive).then(|| Instant::now() + wait)
    }

    pub fn backoff(&self) -> Backoff {
        Backoff {
            min: Duration::from_millis(self.config.backoff_min_ms.max(1)),
            max: Duration::from_millis(self.config.backoff_max_ms.max(1)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Condition>> {
        self.conditions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
