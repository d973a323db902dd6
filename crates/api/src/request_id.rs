//! Gives every request an id, sees that it is answered within the budget, counts and times it under its
//! route's name.

use std::pin::pin;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{self, HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rand::Rng;
use tracing::Instrument;

use crate::answer_headers;
use crate::app::App;
use crate::compression;
use crate::cors;
use crate::guard;
use crate::request_head;

/// Headers that are added to every answer, about.
const COMMON_HEADERS: usize = 6;
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The only layer around all routes: each one costs every request a few allocations.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    // The route's pattern, never the path: an RPC path carries a key.
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map_or("unknown", MatchedPath::as_str);
    watched(&app, route, request, |request| next.run(request)).await
}

pub async fn watched<B, F>(
    app: &App,
    route: &str,
    request: http::Request<B>,
    handler: impl FnOnce(http::Request<B>) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let id = given(request.headers()).unwrap_or_else(fresh);
    let method = request.method().clone();
    let span = tracing::info_span!("request", request.id = %id, route);
    let traced = traced(&request, route, &id);
    let started = Instant::now();
    let version = request.version();
    let pack_from = app.parts.config.compress_from_bytes;
    let is_packed = pack_from > 0 && compression::is_accepted(request.headers());
    let response = pin!(answered(app, request, handler));
    let mut response = response.instrument(traced.clone()).instrument(span.clone()).await;
    if is_packed {
        response = compression::packed(response, pack_from).await;
    }
    let mut response = app.response_budget.admit(response).await;
    let elapsed = started.elapsed();
    let status = response.status().as_u16();
    span.in_scope(|| {
        tracing::debug!(http.method = %method, http.status = status, elapsed_us = elapsed.as_micros() as u64, "answered");
    });
    app.meters.record(route, status, elapsed);
    traced.record("http.response.status_code", status).record("otel.error", status >= 500);
    let headers = response.headers_mut();
    headers.reserve(COMMON_HEADERS);
    answer_headers::add(headers, app.date.get());
    if app.is_stopping() {
        answer_headers::add_close(headers, version);
    }
    add(headers, &id);
    response
}

/// For OpenTelemetry, where somebody wants it (`telemetry.otlp_url`). What is asked may hold a key: its route is named,
/// neither path nor query.
fn traced<B>(request: &http::Request<B>, route: &str, id: &str) -> tracing::Span {
    let empty = tracing::field::Empty;
    let caller = || request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    let span = tracing::info_span!(target: "otlp", parent: None, "request",
        traceparent = caller().unwrap_or_default(), otel.name = empty, otel.kind = "server",
        otel.error = empty, http.request.method = empty, http.route = route,
        http.response.status_code = empty, request.id = id);
    if span.is_disabled() {
        return span;
    }
    // Any text can stand for a method.
    let method = match request.method() {
        known @ (&Method::GET | &Method::POST | &Method::PUT | &Method::DELETE) => known.as_str(),
        &Method::OPTIONS => "OPTIONS",
        &Method::HEAD => "HEAD",
        _ => "_OTHER",
    };
    span.record("http.request.method", method);
    span.record("otel.name", format!("{method} {route}").as_str());
    span
}

pub fn add(headers: &mut HeaderMap, id: &str) {
    if let Ok(value) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, value);
    }
}

async fn answered<B, F>(
    app: &App,
    request: http::Request<B>,
    handler: impl FnOnce(http::Request<B>) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    if let Err(refusal) = request_head::check(&request, app.parts.listen.header_bytes_max) {
        let mut response = refusal.into_response();
        if app.parts.config.cors {
            cors::allow(response.headers_mut());
        }
        return response;
    }
    let limit = Duration::from_millis(app.parts.config.request_timeout_ms);
    // What answers is large, and is handed on several times before it is begun.
    guard::answered(limit, Box::pin(handler(request))).await
}

/// A caller's own id is kept, so that its logs and ours can be laid side by side.
fn given(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(&REQUEST_ID)?.to_str().ok()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!id.is_empty() && id.len() <= 64 && id.chars().all(plain)).then(|| id.to_owned())
}

/// One that no other request has.
pub fn fresh() -> String {
    let random: [u8; 16] = rand::rng().random();
    let mut id = Vec::with_capacity(2 * random.len());
    model::raw::json_value::put_hex(&mut id, &random);
    String::from_utf8(id).unwrap_or_default()
}
