//! One POST to a receiver, and how it ended.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use quick_cache::sync::Cache;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, Url};
use tokio::time::Instant;

use super::plain_post::{Connections, NotSent, PlainReceiver, Resolver};
use super::schedule::Outcome;
use super::shared::Shared;
use crate::target::{Guard, IDLE, Lookup, client};

const CLOSING: &str = "closing of idle webhook connections";
/// A connection can be used again only after the answer was read. Who says more than this, or says it slowly,
/// gets a new connection.
const ANSWER_BYTES_MAX: usize = 64 << 10;
const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);

/// URLs that are known to be allowed, of the receivers that were sent to last.
const RECEIVERS_MAX: usize = 4_096;

pub(super) struct Poster {
    client: Client,
    connections: Connections,
    guard: Guard,
    lookup: Arc<dyn Lookup>,
    receivers: Cache<String, Arc<Receiver>>,
}

/// A URL that webhooks may be sent to.
pub(super) struct Receiver {
    url: Url,
    /// Where no library is needed to reach it.
    plain: Option<PlainReceiver>,
    /// As limits count them: name or address, and port.
    pub host: String,
}

pub(super) struct Post {
    pub receiver: Arc<Receiver>,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub timeout: Duration,
}

impl Poster {
    pub fn new(guard: Guard, lookup: Arc<dyn Lookup>) -> Result<Self, String> {
        let client = client(guard.clone(), lookup.clone()).map_err(|error| format!("{error:?}"))?;
        let (connections, receivers) = (Connections::default(), Cache::new(RECEIVERS_MAX));
        Ok(Poster { client, connections, guard, lookup, receivers })
    }

    /// Every URL passes here before it is sent to: addresses in it are not looked up, so nobody checks them later. What
    /// the guard says of a URL never changes.
    pub fn check(&self, webhook_url: &str) -> Result<Arc<Receiver>, String> {
        self.receivers.get_or_insert_with(webhook_url, || {
            let url = self.guard.check_url(webhook_url);
            let url = url.map_err(|why| format!("The webhook URL is not allowed: {why}"))?;
            let port = url.port_or_known_default().unwrap_or(0);
            let host = format!("{}:{port}", url.host_str().unwrap_or_default());
            let plain = PlainReceiver::new(&url, &self.connections);
            Ok(Arc::new(Receiver { url, plain, host }))
        })
    }

    pub async fn post(&self, post: Post) -> Outcome {
        let deadline = Instant::now() + post.timeout;
        match &post.receiver.plain {
            Some(plain) => self.post_plain(plain, &post, deadline).await,
            None => Box::pin(self.post_by_library(post, deadline)).await,
        }
    }

    async fn post_plain(&self, plain: &PlainReceiver, post: &Post, deadline: Instant) -> Outcome {
        let resolver = Resolver { guard: &self.guard, lookup: &*self.lookup };
        let sending = plain.send(&post.headers, &post.body, resolver);
        let (connection, reply) = match tokio::time::timeout_at(deadline, sending).await {
            Err(_) => return Outcome::failed(no_answer(post.timeout)),
            Ok(Err(NotSent::Connect(cause))) => return Outcome::failed(not_connected(&cause)),
            Ok(Err(NotSent::Interrupted(cause))) => return Outcome::failed(interrupted(&cause)),
            Ok(Ok(answered)) => answered,
        };
        let outcome = outcome_of(reply.status, reply.retry_after.as_deref());
        let finish = plain.finish(connection, &reply, ANSWER_BYTES_MAX);
        let _ = tokio::time::timeout_at(read_until(deadline), finish).await;
        outcome
    }

    async fn post_by_library(&self, post: Post, deadline: Instant) -> Outcome {
        let Post { receiver, headers, body, timeout } = post;
        let request = self.client.post(receiver.url.clone()).headers(headers).body(body);
        match tokio::time::timeout_at(deadline, request.send()).await {
            Err(_) => Outcome::failed(no_answer(timeout)),
            Ok(Err(error)) => Outcome::failed(why_not_sent(&error, timeout)),
            Ok(Ok(response)) => {
                let asked = response.headers().get(RETRY_AFTER).and_then(|it| it.to_str().ok());
                let outcome = outcome_of(response.status().as_u16(), asked);
                let answer = read_answer(response);
                let _ = tokio::time::timeout_at(read_until(deadline), answer).await;
                outcome
            }
        }
    }
}

/// Closes connections that nobody needed for a while.
pub(super) async fn keep_closing_idle(shared: Arc<Shared>) {
    let kept = shared.tasks.keep_running(CLOSING, || shared.is_stopping(), || close_idle(&shared));
    shared.unless_stopping(kept).await;
}

async fn close_idle(shared: &Shared) -> Result<Infallible, Infallible> {
    loop {
        tokio::time::sleep(IDLE).await;
        shared.poster.connections.close_old();
    }
}

fn read_until(deadline: Instant) -> Instant {
    deadline.min(Instant::now() + ANSWER_TIME_MAX)
}

async fn read_answer(mut response: Response) {
    let mut bytes = 0;
    while let Ok(Some(chunk)) = response.chunk().await {
        bytes += chunk.len();
        if bytes > ANSWER_BYTES_MAX {
            return;
        }
    }
}

/// `asked`: the wait that the receiver asked for, as it wrote it.
fn outcome_of(status: u16, asked: Option<&str>) -> Outcome {
    if (200..300).contains(&status) {
        return Outcome::Taken;
    }
    let answered = format!("The receiver answered {status}");
    if status == 410 {
        return Outcome::Gone { error: answered };
    }
    let asked = asked.filter(|_| matches!(status, 429 | 503));
    let error = if (300..400).contains(&status) {
        format!("{answered}; redirects are not followed")
    } else {
        answered
    };
    Outcome::Failed { error, retry_after_ms: asked.and_then(retry_after_ms) }
}

/// Seconds, or a date.
fn retry_after_ms(value: &str) -> Option<u64> {
    if let Ok(seconds) = value.trim().parse::<u64>() {
        return Some(seconds.saturating_mul(1_000));
    }
    let then = jiff::fmt::rfc2822::parse(value.trim()).ok()?.timestamp();
    let now = jiff::Timestamp::try_from(SystemTime::now()).ok()?;
    u64::try_from(then.as_millisecond().saturating_sub(now.as_millisecond())).ok()
}

fn no_answer(timeout: Duration) -> String {
    format!("No answer within {} ms", timeout.as_millis())
}

/// The innermost cause is what a user can do something about; the URL is in none of it, since it may hold a token.
fn why_not_sent(error: &reqwest::Error, timeout: Duration) -> String {
    if error.is_timeout() {
        return no_answer(timeout);
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if error.is_connect() {
        not_connected(&cause.to_string())
    } else {
        interrupted(&cause.to_string())
    }
}

fn not_connected(cause: &str) -> String {
    format!("Could not connect: {}", model::printable(cause, 300))
}

fn interrupted(cause: &str) -> String {
    format!("The connection ended without an answer: {}", model::printable(cause, 300))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_says_when_in_seconds_or_as_a_date() {
        assert_eq!(retry_after_ms("120"), Some(120_000));
        assert_eq!(retry_after_ms(" 0 "), Some(0));
        assert_eq!(retry_after_ms("99999999999999999999"), None);
        assert_eq!(retry_after_ms("soon"), None);
        assert_eq!(retry_after_ms("Sun, 06 Nov 1994 08:49:37 GMT"), None, "it is over");
        let then = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(3_600);
        let text =
            jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&then).unwrap();
        let waits = retry_after_ms(&text).unwrap();
        assert!((3_500_000..=3_600_000).contains(&waits), "{text}: {waits}");
    }
}
