//! The pool as /status shows it. Texts for people, numbers for scripts, no secrets.

use super::client_record::{ClientRecord, MethodRecord};
use super::condition::Evidence;
use super::health::State;
use super::shared::Shared;
use crate::head::Head;
use crate::lane::Lane;
use crate::probe::Capabilities;
use crate::upstream_id::UpstreamId;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use tokio::time::Instant;

#[derive(Clone, Debug, Serialize)]
pub struct PoolStatus {
    pub chain: String,
    pub chain_id: u64,
    pub head: Option<HeadStatus>,
    /// Bytes of answers in memory: what ingest asked for, what clients did.
    pub ingest_bytes: usize,
    pub client_bytes: usize,
    pub upstreams: Vec<UpstreamStatus>,
}

#[derive(Clone, Debug, Serialize)]
pub struct UpstreamStatus {
    pub name: String,
    /// Scheme, host and port only.
    pub url: String,
    pub state: State,
    pub reason: String,
    pub since: String,
    /// Milliseconds until a left-out or paused upstream is tried again.
    pub retry_in_ms: Option<u64>,
    /// Milliseconds until clients' calls go there again, after it refused some of them.
    pub clients_retry_in_ms: Option<u64>,
    pub head: Option<HeadStatus>,
    pub lag_blocks: Option<u64>,
    /// Heads in a row that it announced and did not give.
    pub heads_not_delivered: u32,
    pub capabilities: Option<Capabilities>,
    /// Why it does not trace, or may not; it is probed for that again. None where nothing is in doubt.
    pub trace_failure: Option<String>,
    pub concurrency_limit: usize,
    pub in_flight: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    pub batch_max: usize,
    pub latency_p50_ms: Option<f64>,
    pub latency_p95_ms: Option<f64>,
    pub requests: u64,
    pub errors: BTreeMap<&'static str, u64>,
    /// What clients' calls met there, by method.
    pub methods: BTreeMap<&'static str, MethodStatus>,
    /// Milliseconds until clients' calls go there again, after it failed some of them or answered wrongly.
    pub clients_avoid_for_ms: Option<u64>,
    /// Whether new heads come over a socket; none where there is no socket.
    pub subscribed: Option<bool>,
    /// How often the task that watches it had to be started again; more than none is a fault of ours.
    pub watcher_restarts: u32,
    pub last_error: Option<ErrorStatus>,
    pub evidence: Vec<EvidenceStatus>,
    /// How often it was caught since this process started.
    pub evidence_total: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct MethodStatus {
    pub calls: u64,
    /// Refusals and failures.
    pub errors: u64,
    pub latency_p50_ms: Option<f64>,
    pub latency_p95_ms: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct HeadStatus {
    pub number: u64,
    pub hash: String,
    pub timestamp: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct ErrorStatus {
    pub at: String,
    pub error: String,
}

/// A lie, as it was caught.
#[derive(Clone, Debug, Serialize)]
pub struct EvidenceStatus {
    pub at: String,
    pub block: u64,
    pub check: String,
    pub expected: String,
    pub got: String,
}

impl From<Head> for HeadStatus {
    fn from(head: Head) -> Self {
        Self { number: head.number, hash: head.hash.to_string(), timestamp: head.timestamp }
    }
}

pub fn of(shared: &Shared) -> PoolStatus {
    let best = *shared.heads().borrow();
    PoolStatus {
        chain: shared.chain_label.clone(),
        chain_id: shared.chain_id,
        head: best.map(Into::into),
        ingest_bytes: shared.budgets.ingest.used(),
        client_bytes: shared.budgets.clients.used(),
        upstreams: shared.ids().filter_map(|id| upstream(shared, id, best)).collect(),
    }
}

fn upstream(shared: &Shared, id: UpstreamId, best: Option<Head>) -> Option<UpstreamStatus> {
    let (member, condition) = (shared.member(id)?, shared.condition(id)?);
    let (upstream, health) = (&member.upstream, condition.health);
    let paused = upstream.gate.paused_until(Lane::Head);
    let resting = paused.is_some() && health.state == State::Healthy;
    let figures = upstream.telemetry.figures();
    let clients = member.clients().clone();
    let lag = |head: Head| best.map(|best| best.number.saturating_sub(head.number));
    Some(UpstreamStatus {
        name: upstream.label.clone(),
        url: upstream.url_shown.clone(),
        state: if resting { State::RateLimited } else { health.state },
        reason: if resting { "asked for a pause".to_owned() } else { health.reason },
        since: shown(health.since),
        retry_in_ms: if resting { paused } else { health.retry_at }.map(ms_until),
        clients_retry_in_ms: upstream.gate.paused_until(Lane::Interactive).map(ms_until),
        head: condition.head.map(Into::into),
        lag_blocks: condition.head.and_then(lag),
        heads_not_delivered: condition.standing.undelivered(),
        capabilities: condition.capabilities,
        trace_failure: condition.trace_outlook.map(|outlook| outlook.doubt.reason()),
        concurrency_limit: upstream.gate.limit(),
        in_flight: upstream.gate.in_flight(),
        waiting: upstream.gate.waiting(),
        batch_max: upstream.batch.get(),
        latency_p50_ms: figures.latency_ms(0.5),
        latency_p95_ms: figures.latency_ms(0.95),
        requests: figures.requests,
        errors: figures.errors,
        methods: methods(&clients),
        clients_avoid_for_ms: clients.open_until(Instant::now()).map(ms_until),
        subscribed: condition.subscribed,
        watcher_restarts: condition.watcher_restarts,
        last_error: condition.last_error.map(|(at, error)| ErrorStatus { at: shown(at), error }),
        evidence: condition.evidence.into_iter().map(evidence).collect(),
        evidence_total: condition.evidence_total,
    })
}

fn methods(clients: &ClientRecord) -> BTreeMap<&'static str, MethodStatus> {
    let one = |record: &MethodRecord| {
        let ms = |share| {
            record.any_latency(share).map(|it| (it.as_secs_f64() * 10_000.0).round() / 10.0)
        };
        let MethodRecord { calls, errors, .. } = *record;
        MethodStatus { calls, errors, latency_p50_ms: ms(0.5), latency_p95_ms: ms(0.95) }
    };
    clients.methods().iter().map(|(method, record)| (*method, one(record))).collect()
}

fn evidence((at, evidence): (Timestamp, Evidence)) -> EvidenceStatus {
    let Evidence { block, check, expected, got } = evidence;
    EvidenceStatus { at: shown(at), block, check, expected, got }
}

fn shown(at: Timestamp) -> String {
    format!("{at:.0}")
}

fn ms_until(at: Instant) -> u64 {
    at.saturating_duration_since(Instant::now()).as_millis() as u64
}
