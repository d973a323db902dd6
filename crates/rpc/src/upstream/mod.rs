//! One node: calls in, raw answers out, over HTTP or WebSocket.
//!
//! Keeps the node's limits (concurrency, rate, batch size) and figures. Does not decide whether the
//! node is to be trusted or tried again; that is the pool's business.

mod batch;
mod body;
mod http;
mod interpret;
mod new_heads;
mod outcome;
mod plain_http;
mod subscribed_socket;
mod websocket;

pub use new_heads::{HeadEvent, HeadSubscription};
pub use subscribed_socket::{Heard, SubscribedSocket};

use crate::bound::Bound;
use crate::budget::{ByteBudget, Held, PoolBudgets};
use crate::call::{Call, CallResult, RpcFailureKind};
use crate::config::{PoolConfig, UpstreamConfig};
use crate::envelope;
use crate::error::Error;
use crate::lane::Lane;
use crate::limiter::{Gate, GateOptions, Permit};
use crate::redact::redacted;
use crate::telemetry::{Request, Telemetry};
use batch::BatchSize;
use body::BodyLimit;
use futures_util::future::{BoxFuture, try_join_all};
use http::Http;
use interpret::Exchange;
use plain_http::PlainHttp;
use reqwest::Url;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::Instrument;
pub use websocket::Target;
use websocket::{Link, Reply};

pub struct Upstream {
    /// Configured name or redacted URL: all that is ever shown.
    pub label: String,
    pub url_shown: String,
    /// On this machine or in the private network, as dev nodes are.
    pub is_near: bool,
    chain: String,
    pub gate: Gate,
    pub telemetry: Telemetry,
    pub batch: BatchSize,
    /// Cleared when the pool leaves this upstream out, so that callers waiting at the gate go away.
    pub accepting: AtomicBool,
    transport: Transport,
    heads_at: Option<Target>,
    budgets: Arc<PoolBudgets>,
    timeout: Duration,
    next_id: AtomicU64,
}

enum Transport {
    Http(Http),
    PlainHttp(PlainHttp),
    WebSocket(Box<Sockets>),
}

/// Two connections, each made when first needed: what clients provoke on theirs does not break ours.
struct Sockets {
    ingest: Link,
    clients: Link,
}

impl Sockets {
    fn of(&self, lane: Lane) -> &Link {
        if lane.is_ingest() { &self.ingest } else { &self.clients }
    }
}

/// What calls are sent for, and what their answers count against.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    pub lane: Lane,
    /// A head poll or a question of a probe: too small to say anything about load, and sent to a node that
    /// is left out, too.
    pub is_poll: bool,
    /// Shared by the calls of a client's batch.
    pub batch: Option<&'a Arc<ByteBudget>>,
    /// Shorter than the node's own timeout, for what can be done without.
    pub within: Option<Duration>,
    /// Refused where its turn does not come before this moment, and at once where that is known.
    pub turn_by: Option<Instant>,
}

impl Asking<'_> {
    pub fn calls(lane: Lane) -> Self {
        Self { lane, is_poll: false, batch: None, within: None, turn_by: None }
    }

    fn poll() -> Self {
        Self { is_poll: true, ..Self::calls(Lane::Head) }
    }
}

impl Upstream {
    pub fn new(
        chain: &str,
        label: String,
        config: &UpstreamConfig,
        pool: &PoolConfig,
        budgets: &Arc<PoolBudgets>,
    ) -> Result<Self, Error> {
        let target = |url: &str| Target::new(url, &label, config, pool);
        let over_socket = config.url.trim_start().to_ascii_lowercase().starts_with("ws");
        let (transport, own_target) = if over_socket {
            let target = target(&config.url)?;
            let clients = Link::new(target.for_clients(pool));
            let sockets = Sockets { ingest: Link::new(target.clone()), clients };
            (Transport::WebSocket(Box::new(sockets)), Some(target))
        } else if let Some(plain) = PlainHttp::new(&label, config, pool)? {
            (Transport::PlainHttp(plain), None)
        } else {
            (Transport::Http(Http::new(&label, config, pool)?), None)
        };
        let heads_at = config.ws_url.as_deref().map(target).transpose()?.or(own_target);
        Ok(Self {
            url_shown: redacted(&config.url),
            is_near: Url::parse(config.url.trim()).is_ok_and(|url| http::is_near(&url)),
            chain: chain.to_owned(),
            gate: Gate::new(GateOptions {
                max_concurrency: config
                    .max_concurrency
                    .unwrap_or(pool.max_concurrency_per_upstream),
                requests_per_second: config.requests_per_second,
            }),
            telemetry: Telemetry::new(chain.to_owned(), label.clone()),
            batch: BatchSize::new(config.max_batch.unwrap_or(pool.max_batch)),
            accepting: AtomicBool::new(true),
            transport,
            heads_at,
            budgets: budgets.clone(),
            timeout: config.timeout(pool),
            next_id: AtomicU64::new(1),
            label,
        })
    }

    /// One small question about the head or the node itself.
    pub async fn poll(&self, call: &Call) -> Result<CallResult, Error> {
        self.call(call, Asking::poll()).await
    }

    async fn call(&self, call: &Call, asking: Asking<'_>) -> Result<CallResult, Error> {
        let answers = self.call_chunk(std::slice::from_ref(call), asking).await?;
        answers.into_iter().next().ok_or_else(|| self.malformed("no answer"))
    }

    /// Answers in the order of the calls, sent in batches as large as the node bears.
    pub async fn call_many(
        &self,
        calls: &[Call],
        asking: Asking<'_>,
    ) -> Result<Vec<CallResult>, Error> {
        // Most are one request whose answers are as they should be: nothing is made for what may follow.
        if (1..=self.batch.get()).contains(&calls.len()) {
            return match self.exchange(calls, asking).await {
                Ok(Exchange::Answers(answers)) if calls.len() == 1 => Ok(answers),
                exchanged => self.settle(calls, exchanged, asking).await,
            };
        }
        let chunks = calls.chunks(self.batch.get());
        let answers = try_join_all(chunks.map(|chunk| self.call_chunk(chunk, asking))).await?;
        Ok(answers.into_iter().flatten().collect())
    }

    async fn call_chunk(
        &self,
        calls: &[Call],
        asking: Asking<'_>,
    ) -> Result<Vec<CallResult>, Error> {
        let exchanged = self.exchange(calls, asking).await;
        self.settle(calls, exchanged, asking).await
    }

    /// What came of one chunk; asked again in smaller parts when the node finds it too large. Boxed because it
    /// calls itself; ends since parts get smaller and a single call is never split.
    fn settle<'a>(
        &'a self,
        calls: &'a [Call],
        exchanged: Result<Exchange, Error>,
        asking: Asking<'a>,
    ) -> BoxFuture<'a, Result<Vec<CallResult>, Error>> {
        Box::pin(async move {
            match exchanged {
                Ok(Exchange::Answers(answers)) => {
                    self.ask_large_ones_alone(calls, answers, asking).await
                }
                Ok(Exchange::BatchRefused { too_many }) => {
                    let size = self.batch.learn(calls.len(), too_many);
                    tracing::info!(upstream = %self.label, batch.size = size, "node refuses larger batches");
                    self.call_many(calls, asking).await
                }
                Err(Error::TooLarge { bound: Bound::Answer, .. }) if calls.len() > 1 => {
                    let (left, right) = calls.split_at(calls.len() / 2);
                    let mut answers = self.call_chunk(left, asking).await?;
                    answers.extend(self.call_chunk(right, asking).await?);
                    Ok(answers)
                }
                Err(error) => Err(error),
            }
        })
    }

    /// Nodes cap the size of a batch's answer and refuse what no longer fits.
    async fn ask_large_ones_alone(
        &self,
        calls: &[Call],
        mut answers: Vec<CallResult>,
        asking: Asking<'_>,
    ) -> Result<Vec<CallResult>, Error> {
        if calls.len() > 1 {
            for (call, answer) in calls.iter().zip(&mut answers) {
                if matches!(answer, Err(e) if e.kind() == RpcFailureKind::TooLarge) {
                    *answer = self.call(call, asking).await?;
                }
            }
        }
        Ok(answers)
    }

    /// One request and its answer: takes its turn at the gate, keeps the time, leaves its figures.
    async fn exchange(&self, calls: &[Call], asking: Asking<'_>) -> Result<Exchange, Error> {
        let permit = self.enter(calls.len(), asking).await?;
        let started = permit.started();
        let limit = asking.within.map_or(self.timeout, |within| within.min(self.timeout));
        let traced = self.traced(calls, asking);
        let sending = pin!(self.send(calls, asking));
        let sent = timeout(limit, sending).instrument(traced.clone()).await;
        let (result, body_bytes) = match sent {
            Ok(sent) => sent,
            Err(_) => (Err(Box::pin(self.timed_out(asking.lane, limit)).await), 0),
        };
        traced.record("headwater.outcome", outcome::outcome(&result));
        traced.record("otel.error", result.is_err()).record("http.response.body.size", body_bytes);
        let latency = started.elapsed();
        if asking.lane.is_ingest() && !asking.is_poll && result.is_ok() {
            self.batch.note_size(calls.len(), body_bytes);
        }
        permit.finish(outcome::verdict(&result, asking, latency));
        self.telemetry.record(&Request {
            method: outcome::method_label(calls),
            outcome: outcome::outcome(&result),
            latency,
            body_bytes,
            limit: self.gate.limit(),
        });
        result
    }

    /// For OpenTelemetry. Polls are left out: they are many, and nobody looks for them.
    fn traced(&self, calls: &[Call], asking: Asking<'_>) -> tracing::Span {
        if asking.is_poll {
            return tracing::Span::none();
        }
        let empty = tracing::field::Empty;
        tracing::info_span!(target: "otlp", "rpc", otel.name = outcome::method_label(calls), otel.kind = "client",
            otel.error = empty, rpc.system = "jsonrpc", rpc.method = outcome::method_label(calls),
            headwater.upstream = self.label, headwater.lane = ?asking.lane, headwater.calls = calls.len(),
            headwater.outcome = empty, http.response.body.size = empty)
    }

    async fn enter(&self, calls: usize, asking: Asking<'_>) -> Result<Permit<'_>, Error> {
        let permit = match self.gate.enter_now(asking.lane, calls) {
            Some(permit) => permit,
            // Boxed: most have no need to wait.
            None => Box::pin(self.wait_for_turn(calls, asking)).await?,
        };
        if asking.is_poll || self.accepting.load(Ordering::Relaxed) {
            return Ok(permit);
        }
        let why = format!("{} was left out while waiting for it", self.label);
        Err(Error::NoUpstream { chain: self.chain.clone(), why })
    }

    async fn wait_for_turn(&self, calls: usize, asking: Asking<'_>) -> Result<Permit<'_>, Error> {
        let turn = self.gate.enter(asking.lane, calls);
        let Some(by) = asking.turn_by else { return Ok(turn.await) };
        let is_too_late = |until: Instant| until > by;
        if self.gate.paused_until(asking.lane).is_some_and(is_too_late) {
            return Err(self.no_turn(asking.lane));
        }
        timeout_at(by, turn).await.map_err(|_| self.no_turn(asking.lane))
    }

    /// Sends and reads, without waiting for a turn. Also says how many bytes came.
    async fn send(&self, calls: &[Call], asking: Asking<'_>) -> (Result<Exchange, Error>, usize) {
        let count = calls.len() as u64;
        let first = self.next_id.fetch_add(count, Ordering::Relaxed);
        let ids = first..first + count;
        let text = envelope::encode(calls, first);
        let held = self.budgets.hold(asking.lane, asking.batch);
        let bytes_max = self.budgets.answer_bytes_max(asking.lane);
        let replied = match &self.transport {
            // Boxed: what one of them needs would be carried, and moved, by calls of the others.
            Transport::Http(http) => Box::pin(http.post(text, BodyLimit { bytes_max, held })).await,
            Transport::PlainHttp(http) => http.post(text, BodyLimit { bytes_max, held }).await,
            Transport::WebSocket(sockets) => {
                return match Box::pin(sockets.of(asking.lane).request(text, ids.clone())).await {
                    Ok(reply) => self.read_reply(reply, held, ids, asking.lane),
                    Err(error) => (Err(error), 0),
                };
            }
        };
        match replied {
            Ok(reply) => (interpret::reply(&reply, ids, &self.label), reply.body.len()),
            Err(error) => (Err(error), 0),
        }
    }

    fn read_reply(
        &self,
        reply: Reply,
        mut held: Held,
        ids: Range<u64>,
        lane: Lane,
    ) -> (Result<Exchange, Error>, usize) {
        match reply {
            Reply::Answer { message, body_bytes, slot } => {
                if let Err(over) = held.grow_to(body_bytes) {
                    return (Err(over.error(&self.label)), body_bytes);
                }
                if let Some(slot) = slot {
                    let _ = slot.set(held);
                }
                (interpret::message(message, ids, &self.label), body_bytes)
            }
            Reply::Unattributed { failure, only_batches, is_counted } => {
                // What batches of ours a node takes is not learned from what clients send it.
                let only_batches = only_batches && lane.is_ingest();
                let exchange = interpret::unattributed(&failure, ids, only_batches, &self.label);
                (exchange.map_err(|error| error.with_counted(is_counted)), 0)
            }
        }
    }

    /// Where new heads can be subscribed to, if the node has a socket.
    pub fn heads_at(&self) -> Option<&Target> {
        self.heads_at.as_ref()
    }

    pub fn malformed(&self, why: impl Into<String>) -> Error {
        Error::Malformed { upstream: self.label.clone(), why: why.into() }
    }

    async fn timed_out(&self, lane: Lane, limit: Duration) -> Error {
        if let Transport::WebSocket(sockets) = &self.transport {
            sockets.of(lane).forget().await;
        }
        let after_ms = limit.as_millis() as u64;
        Error::Timeout { upstream: self.label.clone(), after_ms }
    }

    fn no_turn(&self, lane: Lane) -> Error {
        let retry_after = self.gate.paused_until(lane).map(|until| until - Instant::now());
        Error::RateLimited { upstream: self.label.clone(), retry_after, refusal: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is moved several times before it runs: what a call rarely waits for has no place in it.
    #[test]
    fn the_future_of_a_call_stays_small() {
        let pool = PoolConfig::default();
        let (config, budgets) =
            (UpstreamConfig::from_url("http://127.0.0.1:1"), Arc::new(PoolBudgets::new(&pool)));
        let upstream = Upstream::new("sim", "node".to_owned(), &config, &pool, &budgets).unwrap();
        let calls = [Call::chain_id()];
        let bytes = size_of_val(&upstream.call_many(&calls, Asking::calls(Lane::Interactive)));
        assert!(bytes <= 2048, "{bytes} bytes");
    }
}
