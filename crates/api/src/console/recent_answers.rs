//! Answers that all open pages share for a moment: hundreds of pages that look at the same cost as much as one.
//!
//! Only for what pages ask again and again by themselves; an answer may be as old as `lasts`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use model::chain::ChainId;
use serde::Serialize;
use tokio::sync::Mutex;

use crate::compression;
use crate::error::ApiError;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    Status,
    Coverage(ChainId),
}

/// Whoever makes an answer holds the lock, and those behind find it there.
#[derive(Default)]
pub struct RecentAnswers(Mutex<BTreeMap<Asked, Answer>>);

struct Answer {
    begun: Instant,
    plain: Bytes,
    packed: Bytes,
}

impl RecentAnswers {
    /// `headers` are the request's: they say whether it may be packed.
    pub async fn give<T: Serialize>(
        &self,
        (asked, lasts): (Asked, Duration),
        headers: &HeaderMap,
        make: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<Response, ApiError> {
        let mut known = self.0.lock().await;
        if let Some(answer) = known.get(&asked).filter(|answer| answer.begun.elapsed() < lasts) {
            return Ok(answer.give(headers));
        }
        let begun = Instant::now();
        let written = serde_json::to_vec(&make.await?);
        let plain = Bytes::from(written.map_err(|error| ApiError::Internal(Box::new(error)))?);
        let packed = compression::gzip(&plain).unwrap_or_default().into();
        let answer = Answer { begun, plain, packed };
        let response = answer.give(headers);
        known.insert(asked, answer);
        Ok(response)
    }
}

impl Answer {
    fn give(&self, headers: &HeaderMap) -> Response {
        let kind = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let vary = (VARY, HeaderValue::from_static("Accept-Encoding"));
        if self.packed.is_empty() || !compression::is_accepted(headers) {
            return ([kind, vary], self.plain.clone()).into_response();
        }
        let encoding = (CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        ([kind, vary, encoding], self.packed.clone()).into_response()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::body::to_bytes;

    use super::*;

    #[tokio::test]
    async fn an_answer_is_made_once_for_all_who_ask_within_its_time() {
        let (answers, made) = (RecentAnswers::default(), AtomicUsize::new(0));
        let ask = async |asked, lasts| {
            let make = async { Ok::<_, ApiError>(made.fetch_add(1, Ordering::Relaxed)) };
            let response = answers.give((asked, lasts), &HeaderMap::new(), make).await.unwrap();
            to_bytes(response.into_body(), 100).await.unwrap()
        };
        let hour = Duration::from_secs(3_600);
        assert_eq!(ask(Asked::Status, hour).await, "0");
        assert_eq!(ask(Asked::Status, hour).await, "0");
        assert_eq!(ask(Asked::Coverage(ChainId(1)), hour).await, "1");
        assert_eq!(ask(Asked::Coverage(ChainId(2)), hour).await, "2");
        assert_eq!(ask(Asked::Status, Duration::ZERO).await, "3", "too old");
    }

    #[tokio::test]
    async fn a_refusal_is_nobody_elses() {
        let answers = RecentAnswers::default();
        let asked = (Asked::Status, Duration::from_secs(3_600));
        let refused = async { Err::<u8, _>(ApiError::NotAdmin) };
        assert!(answers.give(asked, &HeaderMap::new(), refused).await.is_err());
        let made = answers.give(asked, &HeaderMap::new(), async { Ok(1) }).await.unwrap();
        assert_eq!(to_bytes(made.into_body(), 100).await.unwrap(), "1");
    }
}
