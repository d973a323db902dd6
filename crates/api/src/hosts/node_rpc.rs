//! `POST /{chain}/{key}`: JSON-RPC. The key stands in the path and goes nowhere else.

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use model::chain::{ChainId, Operation};

use super::rpc_batch::{self, Batch};
use super::{Refusal, weighed};
use crate::app::App;
use crate::error::ApiError;
use crate::params::{Path, check_json_type, whole_body};

/// The key comes first: whoever has none learns nothing, not even which chains there are.
pub async fn node_rpc(
    State(app): State<App>,
    Path((chain, key)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Refusal> {
    let owner = app.parts.keys.check(Some(key.as_bytes()))?;
    let (chain, body) = read(&app, &chain, request).await.map_err(|error| owner.refuse(error))?;
    let requests = app.parts.gateway.read(&body);
    let units = requests.weight();
    owner.throttle.take(units)?;
    let response = match rpc_batch::split(&body, app.parts.gateway.config.batch_max) {
        Some(calls) => Batch { app: app.clone(), chain, calls }.respond().await,
        None => match app.parts.gateway.answer(chain, requests).await {
            Some(answer) => ([(header::CONTENT_TYPE, "application/json")], answer).into_response(),
            // A notification: JSON-RPC wants silence.
            None => StatusCode::NO_CONTENT.into_response(),
        },
    };
    Ok(weighed(response, units))
}

async fn read(app: &App, chain: &str, request: Request) -> Result<(ChainId, Bytes), ApiError> {
    let chain = served_chain(app, chain)?;
    check_json_type(request.headers())?;
    let limit = app.parts.listen.body_timeout();
    Ok((chain, whole_body(request, app.parts.config.body_bytes_max, limit).await?))
}

/// The name is not quoted: people mix up the two parts of the path, and it may be a key.
pub fn served_chain(app: &App, name: &str) -> Result<ChainId, ApiError> {
    let found = app.parts.table.find_for(Operation::Rpc, name);
    let served = found.and_then(|chain| app.served(chain.id)).ok_or_else(|| {
        ApiError::NotFound(format!("no such chain here; served chains: {}", app.slugs()))
    })?;
    Ok(served.chain.id)
}
