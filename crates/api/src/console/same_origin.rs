//! Only the console's own pages may use a session.
//!
//! Every request carries a header that no other site can add without asking first, which is never allowed here. Beside it
//! the browser says where the request comes from: by `Sec-Fetch-Site`, or, over plain http to another machine, by `Origin`
//! (which a GET does not have). `SameSite=Strict` alone would let in whatever listens on another port of the
//! same host.

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

/// Our pages send it with every request.
const OUR_PAGE: HeaderName = HeaderName::from_static("x-headwater-console");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub async fn layer(request: Request, next: Next) -> Response {
    match check(request.headers(), request.uri().host()) {
        Ok(()) => kept_to_us(next.run(request).await),
        Err(refusal) => kept_to_us(refusal.into_response()),
    }
}

/// No other origin may embed what is answered.
pub fn kept_to_us(mut response: Response) -> Response {
    response.headers_mut().insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// `authority` is the host of an HTTP/2 request, which has no `Host` header.
pub fn check(headers: &HeaderMap, authority: Option<&str>) -> Result<(), ApiError> {
    let is_ours = headers.get(&OUR_PAGE).is_some_and(|value| value == "1");
    let is_same_origin = match headers.get(&FETCH_SITE) {
        Some(site) => site == "same-origin",
        // A proxy may have changed the host, so this is only asked where there is nothing better.
        None => is_same_host(headers, authority),
    };
    if is_ours && is_same_origin {
        return Ok(());
    }
    Err(ApiError::CrossSite)
}

fn is_same_host(headers: &HeaderMap, authority: Option<&str>) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let Some((_, origin)) = origin else { return false };
    match headers.get(HOST) {
        Some(host) => host.to_str().is_ok_and(|host| origin.eq_ignore_ascii_case(host)),
        // The port is part of the authority, and not of the URI's host: comparing the name is all there is.
        None => authority.is_some_and(|name| {
            let bare = origin.rsplit_once(':').map_or(origin, |(bare, _)| bare);
            bare.eq_ignore_ascii_case(name) || origin.eq_ignore_ascii_case(name)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(lines: &[(&'static str, &'static str)]) -> bool {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        check(&lines.iter().map(pair).collect(), None).is_ok()
    }

    #[test]
    fn only_our_own_pages_are_let_in() {
        let (ours, host) = (("x-headwater-console", "1"), ("host", "127.0.0.1:8080"));
        assert!(checked(&[ours, host]));
        assert!(checked(&[ours, host, ("sec-fetch-site", "same-origin")]));
        assert!(checked(&[ours, host, ("origin", "http://127.0.0.1:8080")]));
        assert!(
            checked(&[ours, host, ("origin", "https://127.0.0.1:8080")]),
            "TLS ends at a proxy"
        );
        for (why, lines) in [
            ("a form or an image of anyone", vec![host]),
            ("another word", vec![host, ("x-headwater-console", "yes")]),
            ("another site", vec![ours, host, ("sec-fetch-site", "cross-site")]),
            ("another port of this host", vec![ours, host, ("sec-fetch-site", "same-site")]),
            ("typed into the address bar", vec![ours, host, ("sec-fetch-site", "none")]),
            ("another port", vec![ours, host, ("origin", "http://127.0.0.1:3000")]),
            ("another host", vec![ours, host, ("origin", "https://evil.example")]),
            ("a sandboxed frame", vec![ours, host, ("origin", "null")]),
            ("a file", vec![ours, host, ("origin", "file://")]),
            (
                "another site that says it is us",
                vec![
                    ours,
                    host,
                    ("sec-fetch-site", "cross-site"),
                    ("origin", "http://127.0.0.1:8080"),
                ],
            ),
        ] {
            assert!(!checked(&lines), "{why}");
        }
    }
}
