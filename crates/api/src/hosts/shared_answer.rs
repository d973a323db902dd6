//! One answer for all who ask the same at the same time. /status and /metrics look at everything, and may be
//! open to strangers: a thousand of them cost as much as one.
//!
//! Never an old answer: it was begun after the request came.

use std::time::Instant;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::Mutex;

use crate::app::App;
use crate::config::StatusAccess;
use crate::error::ApiError;
use crate::shared_answers::SharedAnswer;

/// Where a key is wanted, strangers are refused before they cost anything, and everyone gets an answer of their own.
pub async fn status(state: State<App>, request: Request, next: Next) -> Result<Response, ApiError> {
    let State(app) = &state;
    share(app, &app.shared_answers.status, request, next).await
}

pub async fn metrics(
    state: State<App>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let State(app) = &state;
    share(app, &app.shared_answers.metrics, request, next).await
}

async fn share(
    app: &App,
    latest: &Mutex<Option<SharedAnswer>>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if app.parts.status_access != StatusAccess::Open {
        return Ok(next.run(request).await);
    }
    let asked = Instant::now();
    let mut latest = latest.lock().await;
    if let Some(answer) = latest.as_ref().filter(|answer| answer.begun >= asked) {
        return Ok(answer.give());
    }
    let begun = Instant::now();
    let (parts, body) = next.run(request).await.into_parts();
    let body = to_bytes(body, usize::MAX).await.map_err(|e| ApiError::Internal(Box::new(e)))?;
    if parts.status == StatusCode::OK {
        let (headers, body) = (parts.headers.clone(), body.clone());
        *latest = Some(SharedAnswer { begun, headers, body });
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}
