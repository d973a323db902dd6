//! The body of a request: all of it, in time, as it is.

use std::time::Duration;

use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use model::printable;

use crate::error::ApiError;

/// To be called when the key was checked: a stranger's body is not even received.
pub async fn whole_body(
    mut request: Request,
    bytes_max: usize,
    limit: Duration,
) -> Result<Bytes, ApiError> {
    check_encoding(&request)?;
    DefaultBodyLimit::max(bytes_max).apply(&mut request);
    let Ok(read) = tokio::time::timeout(limit, Bytes::from_request(request, &())).await else {
        return Err(ApiError::BodyTimeout { limit_ms: limit.as_millis() });
    };
    read.map_err(|rejection| match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
            ApiError::TooLarge(bytes_max)
        }
        _ => ApiError::BadRequest("the body could not be read to its end".into()),
    })
}

/// What says nothing of its type is taken for JSON.
pub fn check_json_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let text = value.to_str().unwrap_or_default();
    let kind = text.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::UnsupportedMedia(format!("content type {}", printable(kind, 60))))
}

/// A packed body would be read as broken JSON.
fn check_encoding(request: &Request) -> Result<(), ApiError> {
    for value in request.headers().get_all(header::CONTENT_ENCODING) {
        let text = value.to_str().unwrap_or("(unreadable)").trim();
        if !text.is_empty() && !text.eq_ignore_ascii_case("identity") {
            let shown = printable(text, 60);
            return Err(ApiError::UnsupportedMedia(format!("content encoding {shown}")));
        }
    }
    Ok(())
}
