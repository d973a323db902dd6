//! `POST /{chain}/{key}`: JSON-RPC. The key stands in the path and goes nowhere else.

use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use model::chain::Operation;

use super::WEIGHT;
use crate::app::App;
use crate::error::ApiError;
use crate::params::Path;

pub async fn node_rpc(
    State(app): State<App>,
    Path((chain, key)): Path<(String, String)>,
    request: Request,
) -> Result<Response, ApiError> {
    let found = app.parts.table.find_for(Operation::Rpc, &chain);
    let served = found.and_then(|chain| app.served(chain.id)).ok_or_else(|| {
        let shown: String = chain.chars().take(40).collect();
        ApiError::NotFound(format!("no chain '{shown}' here; served chains: {}", app.slugs()))
    })?;
    let owner = app.parts.keys.check(Some(key.as_bytes()))?;
    check_type(request.headers())?;
    let body = whole_body(request, app.parts.config.body_bytes_max).await?;
    let requests = app.parts.gateway.read(&body);
    let units = requests.weight();
    owner.throttle.take(units)?;
    let mut response = match app.parts.gateway.answer(served.chain.id, requests).await {
        Some(answer) => ([(header::CONTENT_TYPE, "application/json")], answer).into_response(),
        // Nothing but notifications: JSON-RPC wants silence.
        None => StatusCode::NO_CONTENT.into_response(),
    };
    response.headers_mut().insert(WEIGHT, HeaderValue::from(units));
    Ok(response)
}

/// Read only after the key was checked: a stranger's body is not even received.
async fn whole_body(mut request: Request, bytes_max: usize) -> Result<Bytes, ApiError> {
    DefaultBodyLimit::max(bytes_max).apply(&mut request);
    Bytes::from_request(request, &()).await.map_err(|rejection| match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
            ApiError::TooLarge(bytes_max)
        }
        _ => ApiError::BadRequest("the body could not be read to its end".into()),
    })
}

fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let text = value.to_str().unwrap_or_default();
    let kind = text.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::UnsupportedMedia(kind.chars().take(60).collect()))
}
