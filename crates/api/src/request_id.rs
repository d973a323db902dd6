//! Gives every request an id, and counts and times it under the name of its route.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use rand::Rng;
use tracing::Instrument;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub async fn layer(request: Request, next: Next) -> Response {
    let id = given(&request).unwrap_or_else(fresh);
    // The route's pattern, never the path: an RPC path carries a key.
    let route =
        request.extensions().get::<MatchedPath>().map_or("unknown", |p| p.as_str()).to_owned();
    let method = request.method().clone();
    let span = tracing::info_span!("request", request.id = %id, route = %route);
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let elapsed = started.elapsed();
    let status = response.status().as_u16();
    span.in_scope(|| {
        tracing::debug!(http.method = %method, http.status = status, elapsed_us = elapsed.as_micros() as u64, "answered");
    });
    metrics::counter!("headwater_http_requests_total", "route" => route.clone(), "status" => status.to_string())
        .increment(1);
    metrics::histogram!("headwater_http_request_seconds", "route" => route)
        .record(elapsed.as_secs_f64());
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// A caller's own id is kept, so that its logs and ours can be laid side by side.
fn given(request: &Request) -> Option<String> {
    let id = request.headers().get(&REQUEST_ID)?.to_str().ok()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!id.is_empty() && id.len() <= 64 && id.chars().all(plain)).then(|| id.to_owned())
}

fn fresh() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}
