//! `POST /{chain}/{key}`: JSON-RPC. The key stands in the path and goes nowhere else.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::chain::Operation;

use crate::app::App;
use crate::error::ApiError;

pub async fn node_rpc(
    State(app): State<App>,
    Path((chain, key)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let found = app.parts.table.find_for(Operation::Rpc, &chain);
    let served = found.and_then(|chain| app.served(chain.id)).ok_or_else(|| {
        let shown: String = chain.chars().take(40).collect();
        let served: Vec<_> = app.parts.chains.iter().map(|c| c.chain.slug.as_str()).collect();
        ApiError::NotFound(format!("no chain '{shown}' here; served chains: {}", served.join(", ")))
    })?;
    let owner = app.parts.keys.check(Some(&key))?;
    check_type(&headers)?;
    let max = app.parts.config.body_bytes_max;
    let body = axum::body::to_bytes(body, max).await.map_err(|_| ApiError::TooLarge(max))?;
    owner.throttle.take(weight(&body))?;
    match app.parts.gateway.handle(served.chain.id, &body).await {
        Some(answer) => Ok(([(header::CONTENT_TYPE, "application/json")], answer).into_response()),
        // Nothing but notifications: JSON-RPC wants silence.
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let text = value.to_str().unwrap_or_default();
    let kind = text.split(';').next().unwrap_or_default().trim();
    match kind.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(ApiError::UnsupportedMedia(kind.chars().take(60).collect())),
    }
}

/// The sum over a batch. A body that cannot be read costs as much as the cheapest call.
fn weight(body: &[u8]) -> u32 {
    #[derive(serde::Deserialize)]
    struct Method<'a> {
        #[serde(borrow, default)]
        method: std::borrow::Cow<'a, str>,
    }
    let one = serde_json::from_slice::<Method>(body).map(|m| vec![m]);
    let all = one.or_else(|_| serde_json::from_slice::<Vec<Method>>(body)).unwrap_or_default();
    all.iter().map(|m| gateway::weight(&m.method)).sum::<u32>().max(1)
}
