//! One attempt of one delivery: wait for a place at its receiver, load the body, sign and send it, and say what
//! follows for the delivery and for its stream.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use store::{AttemptLog, AttemptOf, AttemptRecord, Delivery, StreamId};
use tracing::Instrument;

use super::directory::{StatusChange, TargetInfo};
use super::headers::{Said, headers};
use super::id::delivery_id;
use super::limits::Place;
use super::post::{Post, Receiver};
use super::schedule::{Outcome, Step, state_after};
use super::shared::{Shared, lock};
use super::signed::Signed;
use super::success_rate::{is_good, rate_after};
use crate::clock::now_ms;
use crate::payload::with_retries;
use crate::uuid::uuid_text;

/// The store could not be read; it may be by then.
const READ_PAUSE: Duration = Duration::from_secs(1);

/// What an attempt is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Its turn has come.
    Due,
    /// Somebody asked for it, whatever the state of its stream is.
    Asked,
}

pub(super) struct Attempt<'a> {
    pub delivery: &'a Delivery,
    /// Where it is at hand; else it is read from the store.
    pub body: Option<Bytes>,
    /// Where it was signed with others a moment ago.
    pub signed: Option<Signed>,
    pub queue_size: u64,
    pub reason: Reason,
}

impl<'a> Attempt<'a> {
    /// Of a body that is in the store.
    pub fn new(delivery: &'a Delivery, queue_size: u64, reason: Reason) -> Self {
        Attempt { delivery, body: None, signed: None, queue_size, reason }
    }
}

impl Shared {
    /// What there is to note. None: nothing was sent, because it is time to stop or the stream is no longer sent.
    pub async fn attempt(&self, attempt: Attempt<'_>) -> Option<AttemptRecord> {
        let delivery = attempt.delivery;
        let (target, outcome) = self.send(&attempt).await?;
        let now_ms = now_ms();
        let step = Step {
            stream: delivery.stream,
            seq: delivery.seq,
            retry_s: &self.config.retry_s,
            now_ms,
        };
        let state = state_after(&delivery.state, &outcome, step);
        self.note(delivery.stream, &outcome).await;
        let log = AttemptLog {
            webhook_url: target.webhook_url,
            tag: target.tag,
            retries: delivery.state.attempts,
            error: outcome.error().map(str::to_owned),
        };
        Some(AttemptRecord {
            tenant: target.tenant,
            stream: delivery.stream,
            seq: delivery.seq,
            state,
            log: Some(log),
            at_ms: now_ms,
            of: Some(AttemptOf::new(delivery)),
        })
    }

    async fn send(&self, attempt: &Attempt<'_>) -> Option<(TargetInfo, Outcome)> {
        let delivery = attempt.delivery;
        let (target, receiver, place) = match self.admit(attempt).await? {
            Ok(admitted) => admitted,
            Err((target, why)) => {
                count("refused", None);
                return Some((target, Outcome::failed(why)));
            }
        };
        let body = match &attempt.body {
            Some(body) => Some(body.clone()),
            None => self.body(delivery).await?,
        };
        let Some(body) = body else {
            let error = "The payload is no longer stored";
            return Some((target, Outcome::failed(error)));
        };
        let retries = delivery.state.attempts;
        let body = if retries == 0 { body } else { with_retries(&body, retries) };
        let now_ms = now_ms();
        let signed = attempt.signed.as_ref().filter(|_| retries == 0);
        let said = Said {
            id: &delivery_id(delivery.stream, delivery.seq),
            body: &body,
            now_ms,
            signed: signed.filter(|signed| signed.counts(&target.secrets, now_ms)),
            queue_size: attempt.queue_size,
            delivery: Some(delivery),
        };
        let headers = headers(&target, &said);
        let timeout = Duration::from_millis(self.config.timeout_ms);
        // Boxed: many tasks wait for a place, few send, and only those need its memory.
        let traced = traced(&receiver, delivery);
        let post = Post { receiver, headers, body, timeout };
        let post = self.post(post).instrument(traced.clone());
        let outcome = Box::pin(post).await;
        traced.record("otel.error", outcome != Outcome::Taken);
        drop(traced);
        drop(place);
        Some((target, outcome))
    }

    /// Waits until the receiver may be sent to; what changed meanwhile counts.
    async fn admit(
        &self,
        attempt: &Attempt<'_>,
    ) -> Option<Result<(TargetInfo, Arc<Receiver>, Place), (TargetInfo, String)>> {
        let stream = attempt.delivery.stream;
        let mut target = self.sendable(stream, attempt.reason).filter(|_| !self.is_stopping())?;
        loop {
            let receiver = match self.poster.check(&target.webhook_url) {
                Ok(receiver) => receiver,
                Err(why) => return Some(Err((target, why))),
            };
            let mut place = pin!(self.limits.place(&receiver.host, attempt.delivery.body_bytes));
            // Where nothing is to be waited for, nothing changes.
            if let Some(place) = place.as_mut().now_or_never() {
                return Some(Ok((target, receiver.clone(), place?)));
            }
            let place = self.unless_stopping(place).await??;
            let now = self.sendable(stream, attempt.reason)?;
            if now.webhook_url == target.webhook_url {
                return Some(Ok((now, receiver.clone(), place)));
            }
            target = now;
        }
    }

    fn sendable(&self, stream: StreamId, reason: Reason) -> Option<TargetInfo> {
        let target = self.directory.target(stream)?;
        (target.is_sending || reason == Reason::Asked).then_some(target)
    }

    /// None within: it is no longer stored. Waits while the store cannot be read.
    async fn body(&self, delivery: &Delivery) -> Option<Option<Bytes>> {
        loop {
            match self.store.delivery_body(delivery.stream, delivery.seq).await {
                Ok(body) => return Some(body),
                Err(error) => {
                    tracing::warn!(%error, "a payload cannot be read; it is tried again");
                    self.unless_stopping(tokio::time::sleep(READ_PAUSE)).await?;
                }
            }
        }
    }

    pub async fn post(&self, post: Post) -> Outcome {
        let began = Instant::now();
        let outcome = self.poster.post(post).await;
        let result = if outcome == Outcome::Taken { "delivered" } else { "failed" };
        count(result, Some(began.elapsed()));
        outcome
    }

    /// What the outcome means for the stream. One that is not sent any more is left alone: what ends now began before.
    async fn note(&self, stream: StreamId, outcome: &Outcome) {
        let rate = {
            let _one_at_a_time = lock(&self.rates);
            let Some(before) = self.directory.rate(stream) else { return };
            let rate = rate_after(before, *outcome == Outcome::Taken);
            if rate != before {
                self.directory.record_rate(stream, rate);
            }
            rate
        };
        let change = match outcome {
            Outcome::Taken => return,
            Outcome::Gone { error } => (
                StatusChange::Paused,
                format!(
                    "{error}: it is gone. What is still to be sent waits until the stream is active again"
                ),
            ),
            Outcome::Failed { error, .. } if !is_good(rate) => (
                StatusChange::Error,
                format!(
                    "Too many webhooks failed (success rate {rate}). The last one: {error}. What is still to be \
                     sent waits until the stream is active again"
                ),
            ),
            Outcome::Failed { .. } => return,
        };
        self.directory.change_status(stream, change.0, change.1).await;
    }
}

/// For OpenTelemetry. The path of a webhook may be a secret, so its host alone is named.
fn traced(receiver: &Receiver, delivery: &Delivery) -> tracing::Span {
    tracing::info_span!(target: "otlp", parent: None, "webhook", otel.kind = "client", otel.error = false,
        server.address = receiver.host, headwater.stream = uuid_text(&delivery.stream),
        headwater.sequence = delivery.seq, headwater.retries = delivery.state.attempts,
        http.request.body.size = delivery.body_bytes)
}

fn count(result: &'static str, took: Option<Duration>) {
    metrics::counter!("headwater_streams_attempts_total", "result" => result).increment(1);
    if let Some(took) = took {
        metrics::histogram!("headwater_streams_attempt_seconds").record(took.as_secs_f64());
    }
}
