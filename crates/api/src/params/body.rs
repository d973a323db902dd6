//! The body of a request: all of it, in time, as it is.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::time::Duration;

use axum::http::{HeaderMap, Request, header};
use bytes::{Bytes, BytesMut};
use futures_util::future::poll_immediate;
use http_body::Body;
use model::printable;

use crate::error::ApiError;

/// To be awaited when the key was checked: a stranger's body is not even received.
pub fn whole_body<B>(
    request: Request<B>,
    bytes_max: usize,
    limit: Duration,
) -> impl Future<Output = Result<Bytes, ApiError>> + use<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    let (head, body) = request.into_parts();
    let checked = check_encoding(&head.headers);
    async move {
        checked?;
        let mut reading = pin!(read(body, bytes_max));
        // Most are there already, and need no clock.
        if let Some(read) = poll_immediate(reading.as_mut()).await {
            return read;
        }
        match tokio::time::timeout(limit, reading).await {
            Ok(read) => read,
            Err(_) => Err(ApiError::BodyTimeout { limit_ms: limit.as_millis() }),
        }
    }
}

async fn read<B: Body<Data = Bytes> + Unpin>(
    mut body: B,
    bytes_max: usize,
) -> Result<Bytes, ApiError> {
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(ApiError::TooLarge(bytes_max));
    }
    // Most come in one piece, which is not copied.
    let (mut first, mut more) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let broken = |_| ApiError::BadRequest("the body could not be read to its end".into());
        let Ok(piece) = frame.map_err(broken)?.into_data() else { continue };
        if first.len() + more.len() + piece.len() > bytes_max {
            return Err(ApiError::TooLarge(bytes_max));
        }
        if first.is_empty() && more.is_empty() {
            first = piece;
            continue;
        }
        more.extend_from_slice(&std::mem::take(&mut first));
        more.extend_from_slice(&piece);
    }
    Ok(if more.is_empty() { first } else { more.freeze() })
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
fn check_encoding(headers: &HeaderMap) -> Result<(), ApiError> {
    for value in headers.get_all(header::CONTENT_ENCODING) {
        let text = value.to_str().unwrap_or("(unreadable)").trim();
        if !text.is_empty() && !text.eq_ignore_ascii_case("identity") {
            let shown = printable(text, 60);
            return Err(ApiError::UnsupportedMedia(format!("content encoding {shown}")));
        }
    }
    Ok(())
}
