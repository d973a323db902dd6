//! How many bytes of answers may be in memory at once, over all clients.
//!
//! A large answer holds its bytes from when it is made until its client has taken it. Where all are held, the
//! next one waits a while and is then refused: the server is slower for some, and never out of memory for all.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;

/// Answers up to this size are not counted: as many as there are connections do no harm.
const SMALL_BYTES: usize = 64 << 10;
/// One permit.
const UNIT_BYTES: usize = 4 << 10;
/// How long an answer waits for others to be taken.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct ResponseBudget {
    units: u32,
    free: Arc<Semaphore>,
    patience: Duration,
}

/// Bytes that are held until this is dropped.
#[derive(Default)]
pub struct Held(Option<OwnedSemaphorePermit>);

impl Held {
    /// Both together.
    pub fn merge(&mut self, other: Held) {
        match (&mut self.0, other.0) {
            (Some(one), Some(other)) => one.merge(other),
            (none @ None, other) => *none = other,
            (Some(_), None) => {}
        }
    }
}

impl ResponseBudget {
    pub fn new(bytes_max: u64) -> Self {
        let units = u32::try_from(bytes_max / UNIT_BYTES as u64).unwrap_or(u32::MAX >> 4).max(1);
        let free = Arc::new(Semaphore::new(units as usize));
        ResponseBudget { units, free, patience: PATIENCE }
    }

    /// Waits until so many bytes are free. What is larger than all of them has to be alone.
    pub async fn hold(&self, bytes: usize) -> Result<Held, ApiError> {
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX).min(self.units);
        let permit =
            tokio::time::timeout(self.patience, self.free.clone().acquire_many_owned(units));
        match permit.await {
            Ok(permit) => Ok(Held(permit.ok())),
            Err(_) => {
                metrics::counter!("headwater_responses_refused_total").increment(1);
                let why = "too many large answers are being sent; try again in a moment";
                Err(ApiError::Unavailable(why.into()))
            }
        }
    }

    /// The answer with its bytes held, or a refusal in its place.
    pub async fn admit(&self, response: Response) -> Response {
        let bytes = response.body().size_hint().exact().unwrap_or(0);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if bytes <= SMALL_BYTES {
            return response;
        }
        match self.hold(bytes).await {
            Ok(held) => response.map(|inner| Body::new(HeldBody { inner, _held: held })),
            Err(refused) => refused.into_response(),
        }
    }
}

struct HeldBody {
    inner: Body,
    _held: Held,
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bytes: usize) -> Response {
        "x".repeat(bytes).into_response()
    }

    #[tokio::test]
    async fn large_answers_share_a_budget_and_small_ones_need_none() {
        let budget =
            ResponseBudget { patience: Duration::from_millis(20), ..ResponseBudget::new(1 << 20) };
        let first = budget.admit(answer(600_000)).await;
        assert_eq!(first.status(), 200);
        assert_eq!(budget.admit(answer(600_000)).await.status(), 503);
        assert_eq!(budget.admit(answer(SMALL_BYTES)).await.status(), 200);
        assert_eq!(budget.admit(answer(400_000)).await.status(), 200, "what fits beside it");
        drop(first);
        assert_eq!(budget.admit(answer(600_000)).await.status(), 200);
        assert_eq!(budget.admit(answer(9_000_000)).await.status(), 200, "alone");
    }
}
