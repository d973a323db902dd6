//! Every request is answered: one that takes too long, and one that makes a handler panic.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use crate::error::ApiError;

pub async fn answered(limit: Duration, handler: impl Future<Output = Response>) -> Response {
    // Handlers share nothing that a panic could leave half changed but locks, which are taken over.
    let answered = AssertUnwindSafe(handler).catch_unwind();
    match tokio::time::timeout(limit, answered).await {
        Ok(Ok(response)) => response,
        Ok(Err(_panic)) => ApiError::Internal("a handler panicked".into()).into_response(),
        Err(_) => {
            let why = format!("the answer took longer than {} ms", limit.as_millis());
            ApiError::Unavailable(why).into_response()
        }
    }
}
