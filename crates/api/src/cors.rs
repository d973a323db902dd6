//! Lets pages in browsers ask. The key travels in a header or path that the page itself sets, never
//! in a cookie, so any page may ask: without a key it gets nothing. Health and status stay outside.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

// Values as constants: one that is made anew is looked at letter by letter.
const ANY: HeaderValue = HeaderValue::from_static("*");
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
/// What the official browser SDK and our own clients send.
const MAY_SEND: &str = "X-API-Key, Authorization, Content-Type, X-Request-Id, X-Wire-Profile, \
    X-Moralis-Platform, X-Moralis-Platform-Version, X-Moralis-Build-Target, X-Moralis-Product";
const MAY_READ: HeaderValue = HeaderValue::from_static(
    "X-Request-Id, X-Request-Weight, X-Indexed-Blocks, X-Coverage, X-Traces, X-Receipts, X-From-Block, Retry-After",
);
/// A day; browsers cap it as they like.
const REMEMBER_S: &str = "86400";

pub async fn layer(request: Request, next: Next) -> Response {
    let is_preflight = request.method() == Method::OPTIONS;
    let mut response =
        if is_preflight { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    allow(headers);
    if is_preflight {
        put(headers, header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        put(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, MAY_SEND);
        put(headers, header::ACCESS_CONTROL_MAX_AGE, REMEMBER_S);
    }
    response
}

/// Any page may read it.
pub fn allow(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, MAY_READ);
}

/// The same as lines of a head, for answers that no layer sees.
pub fn header_lines() -> String {
    let mut headers = HeaderMap::new();
    allow(&mut headers);
    let line = |(name, value): (&HeaderName, &HeaderValue)| {
        value.to_str().ok().map(|value| format!("{name}: {value}\r\n"))
    };
    headers.iter().filter_map(line).collect()
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}
