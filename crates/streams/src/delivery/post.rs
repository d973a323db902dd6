//! One POST to a receiver, and how it ended.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use tokio::time::Instant;

use super::schedule::Outcome;
use crate::target::{Guard, Lookup, client};

/// A connection can be used again only after the answer was read. Who says more than this, or says it slowly,
/// gets a new connection.
const ANSWER_BYTES_MAX: usize = 64 << 10;
const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);

pub(super) struct Poster {
    client: Client,
    guard: Guard,
}

pub(super) struct Post {
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub timeout: Duration,
}

impl Poster {
    pub fn new(guard: Guard, lookup: Arc<dyn Lookup>) -> Result<Self, String> {
        let client = client(guard.clone(), lookup).map_err(|error| format!("{error:?}"))?;
        Ok(Poster { client, guard })
    }

    /// Every URL passes here before it is sent to: addresses in it are not looked up, so nobody checks them later.
    pub fn check(&self, webhook_url: &str) -> Result<Url, String> {
        let url = self.guard.check_url(webhook_url);
        url.map_err(|why| format!("The webhook URL is not allowed: {why}"))
    }

    pub async fn post(&self, post: Post) -> Outcome {
        let deadline = Instant::now() + post.timeout;
        let request = self.client.post(post.url).headers(post.headers).body(post.body);
        match tokio::time::timeout_at(deadline, request.send()).await {
            Err(_) => Outcome::failed(no_answer(post.timeout)),
            Ok(Err(error)) => Outcome::failed(why_not_sent(&error, post.timeout)),
            Ok(Ok(response)) => {
                let outcome = outcome_of(&response);
                let read_until = deadline.min(Instant::now() + ANSWER_TIME_MAX);
                let _ = tokio::time::timeout_at(read_until, read_answer(response)).await;
                outcome
            }
        }
    }
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

fn outcome_of(response: &Response) -> Outcome {
    let status = response.status();
    if status.is_success() {
        return Outcome::Taken;
    }
    let answered = format!("The receiver answered {}", status.as_u16());
    if status == StatusCode::GONE {
        return Outcome::Gone { error: answered };
    }
    let may_wait =
        matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    let asked = response.headers().get(RETRY_AFTER).filter(|_| may_wait);
    let retry_after_ms = asked.and_then(|value| value.to_str().ok()).and_then(retry_after_ms);
    let error = if status.is_redirection() {
        format!("{answered}; redirects are not followed")
    } else {
        answered
    };
    Outcome::Failed { error, retry_after_ms }
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
    let cause = model::printable(&cause.to_string(), 300);
    if error.is_connect() {
        format!("Could not connect: {cause}")
    } else {
        format!("The connection ended without an answer: {cause}")
    }
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
