//! One node: calls in, raw answers out, over HTTP or WebSocket.
//!
//! Keeps the node's limits (concurrency, rate, batch size) and figures. Does not decide whether the
//! node is to be trusted or tried again; that is the pool's business.

mod batch;
mod http;
mod interpret;
mod new_heads;
mod outcome;
mod priority;
mod websocket;

pub use new_heads::{HeadEvent, HeadSubscription};
pub use priority::Priority;

use crate::call::{Call, CallResult, RpcFailureKind};
use crate::config::{PoolConfig, UpstreamConfig};
use crate::envelope;
use crate::error::Error;
use crate::limiter::{Gate, GateOptions, Permit, Verdict};
use crate::redact::redacted;
use crate::telemetry::{Request, Telemetry};
use batch::BatchSize;
use futures_util::future::{BoxFuture, try_join_all};
use http::Http;
use interpret::Exchange;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use websocket::{Link, Target};

pub struct Upstream {
    /// Configured name or redacted URL: all that is ever shown.
    pub label: String,
    pub url_shown: String,
    chain: String,
    pub gate: Gate,
    pub telemetry: Telemetry,
    pub batch: BatchSize,
    /// Cleared when the pool leaves this upstream out, so that callers waiting at the gate go away.
    pub accepting: AtomicBool,
    transport: Transport,
    heads_at: Option<Target>,
    timeout: Duration,
    next_id: AtomicU64,
}

enum Transport {
    Http(Http),
    WebSocket(Link),
}

impl Upstream {
    pub fn new(
        chain: &str,
        label: String,
        config: &UpstreamConfig,
        pool: &PoolConfig,
    ) -> Result<Self, Error> {
        let target = |url: &str| Target::new(url, &label, config, pool);
        let over_socket = config.url.trim_start().to_ascii_lowercase().starts_with("ws");
        let (transport, own_target) = if over_socket {
            let target = target(&config.url)?;
            (Transport::WebSocket(Link::new(target.clone())), Some(target))
        } else {
            (Transport::Http(Http::new(&label, config, pool)?), None)
        };
        let heads_at = config.ws_url.as_deref().map(target).transpose()?.or(own_target);
        Ok(Self {
            url_shown: redacted(&config.url),
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
            timeout: config.timeout(pool),
            next_id: AtomicU64::new(1),
            label,
        })
    }

    pub async fn call(&self, call: &Call, priority: Priority) -> Result<CallResult, Error> {
        let answers = self.call_chunk(std::slice::from_ref(call), priority).await?;
        answers.into_iter().next().ok_or_else(|| self.malformed("no answer"))
    }

    /// Answers in the order of the calls, sent in batches as large as the node bears.
    pub async fn call_many(
        &self,
        calls: &[Call],
        priority: Priority,
    ) -> Result<Vec<CallResult>, Error> {
        let chunks = calls.chunks(self.batch.get());
        let answers = try_join_all(chunks.map(|chunk| self.call_chunk(chunk, priority))).await?;
        Ok(answers.into_iter().flatten().collect())
    }

    /// One chunk; asked again in smaller parts when the node finds it too large. Boxed because it
    /// calls itself; ends since parts get smaller and a single call is never split.
    fn call_chunk<'a>(
        &'a self,
        calls: &'a [Call],
        priority: Priority,
    ) -> BoxFuture<'a, Result<Vec<CallResult>, Error>> {
        Box::pin(async move {
            match self.exchange(calls, priority).await {
                Ok(Exchange::Answers(answers)) => {
                    self.ask_large_ones_alone(calls, answers, priority).await
                }
                Ok(Exchange::BatchRefused { too_many }) => {
                    let size = self.batch.learn(calls.len(), too_many);
                    tracing::info!(upstream = %self.label, batch.size = size, "node refuses larger batches");
                    self.call_many(calls, priority).await
                }
                Err(Error::TooLarge { .. }) if calls.len() > 1 => {
                    let (left, right) = calls.split_at(calls.len() / 2);
                    let mut answers = self.call_chunk(left, priority).await?;
                    answers.extend(self.call_chunk(right, priority).await?);
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
        priority: Priority,
    ) -> Result<Vec<CallResult>, Error> {
        if calls.len() > 1 {
            for (call, answer) in calls.iter().zip(&mut answers) {
                if matches!(answer, Err(e) if e.kind() == RpcFailureKind::TooLarge) {
                    *answer = self.call(call, priority).await?;
                }
            }
        }
        Ok(answers)
    }

    /// One request and its answer: takes its turn at the gate, keeps the time, leaves its figures.
    async fn exchange(&self, calls: &[Call], priority: Priority) -> Result<Exchange, Error> {
        let permit = self.enter(calls.len(), priority).await?;
        let started = Instant::now();
        let (result, body_bytes) = match timeout(self.timeout, self.send(calls)).await {
            Ok(sent) => sent,
            Err(_) => (Err(self.timed_out().await), 0),
        };
        let latency = started.elapsed();
        if priority == Priority::Bulk && result.is_ok() {
            self.batch.note_size(calls.len(), body_bytes);
        }
        let verdict = outcome::verdict(&result, priority, latency);
        match (permit, verdict) {
            (Some(permit), verdict) => permit.finish(verdict),
            (None, Verdict::Refused { retry_after }) => {
                self.gate.overload_without_permit(started, retry_after);
            }
            (None, _) => {}
        }
        self.telemetry.record(&Request {
            method: outcome::method_label(calls),
            outcome: outcome::outcome(&result),
            latency,
            body_bytes,
            limit: self.gate.limit(),
        });
        result
    }

    async fn enter(&self, calls: usize, priority: Priority) -> Result<Option<Permit<'_>>, Error> {
        let permit = match priority {
            Priority::Bulk => self.gate.enter(calls).await,
            Priority::Interactive => {
                let entered = timeout(self.timeout, self.gate.enter(calls)).await;
                entered.map_err(|_| self.rate_limited())?
            }
            Priority::Immediate => {
                self.gate.enter_immediately(calls).await;
                return Ok(None);
            }
        };
        if self.accepting.load(Ordering::Relaxed) {
            return Ok(Some(permit));
        }
        let why = format!("{} was left out while waiting for it", self.label);
        Err(Error::NoUpstream { chain: self.chain.clone(), why })
    }

    /// Sends and reads, without limits. Also says how many bytes came.
    async fn send(&self, calls: &[Call]) -> (Result<Exchange, Error>, usize) {
        let count = calls.len() as u64;
        let first = self.next_id.fetch_add(count, Ordering::Relaxed);
        let ids = first..first + count;
        let text = envelope::encode(calls, first);
        match &self.transport {
            Transport::Http(http) => match http.post(text).await {
                Ok(reply) => (interpret::reply(&reply, ids, &self.label), reply.body.len()),
                Err(error) => (Err(error), 0),
            },
            Transport::WebSocket(link) => match link.request(text, ids.clone()).await {
                Ok((message, bytes)) => (interpret::message(message, ids, &self.label), bytes),
                Err(error) => (Err(error), 0),
            },
        }
    }

    /// Where new heads can be subscribed to, if the node has a socket.
    pub fn heads_at(&self) -> Option<&Target> {
        self.heads_at.as_ref()
    }

    pub fn malformed(&self, why: impl Into<String>) -> Error {
        Error::Malformed { upstream: self.label.clone(), why: why.into() }
    }

    async fn timed_out(&self) -> Error {
        if let Transport::WebSocket(link) = &self.transport {
            link.forget().await;
        }
        let after_ms = self.timeout.as_millis() as u64;
        Error::Timeout { upstream: self.label.clone(), after_ms }
    }

    fn rate_limited(&self) -> Error {
        let wait = self.gate.paused_until().map(|until| until - Instant::now());
        Error::RateLimited { upstream: self.label.clone(), retry_after: wait }
    }
}
