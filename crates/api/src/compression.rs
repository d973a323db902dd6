//! Packs answers for clients that take it, where it pays.
//!
//! In: an answer whose body is all there. Answers that stream go as they are: they are large batches, and a piece
//! that waits for the next one would hold memory.

use std::io::Write;

use axum::body::{Body, to_bytes};
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::Body as _;

use crate::error::ApiError;

/// Larger ones are packed beside the threads that answer.
const ASIDE_BYTES: usize = 32 << 10;

/// Whether the client takes gzip.
pub fn is_accepted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|part| {
        let mut fields = part.split(';').map(str::trim);
        let is_gzip = fields.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let is_refused = fields.any(|field| {
            let weight = field.strip_prefix("q=").and_then(|q| q.trim().parse::<f32>().ok());
            weight.is_some_and(|weight| weight <= 0.0)
        });
        is_gzip && !is_refused
    })
}

/// `bytes_min`: shorter answers cost more to pack than to send.
pub async fn packed(response: Response, bytes_min: u64) -> Response {
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|it| it == "application/json");
    let is_packed = response.headers().contains_key(CONTENT_ENCODING);
    let bytes = response.body().size_hint().exact().unwrap_or(0);
    if !is_json || is_packed || bytes < bytes_min.max(1) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(plain) = to_bytes(body, usize::MAX).await else {
        return ApiError::Internal("an answer that was all there could not be read".into())
            .into_response();
    };
    let written = if plain.len() > ASIDE_BYTES {
        let plain = plain.clone();
        tokio::task::spawn_blocking(move || gzip(&plain)).await.unwrap_or(None)
    } else {
        gzip(&plain)
    };
    parts.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    // A tenth less, or it was not worth it.
    let Some(written) = written.filter(|it| it.len() < plain.len() / 10 * 9) else {
        return Response::from_parts(parts, Body::from(plain));
    };
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Response::from_parts(parts, Body::from(written))
}

/// The quickest way: hex and JSON shrink well by any.
pub fn gzip(plain: &Bytes) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_says_whether_it_takes_packed_answers() {
        for (text, is) in [
            ("gzip", true),
            ("GZIP", true),
            ("deflate, gzip;q=0.5, br", true),
            ("gzip, compress, deflate, br", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0", false),
            ("identity", false),
            ("br", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, text.parse().unwrap())]);
            assert_eq!(is_accepted(&headers), is, "{text}");
        }
        assert!(!is_accepted(&HeaderMap::new()));
    }
}
