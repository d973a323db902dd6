//! `POST /{chain}/{key}`: JSON-RPC. The key stands in the path and goes nowhere else.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{self, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use gateway::{Answer, RequestScope};
use http_body::Body as HttpBody;
use hyper::body::Incoming;
use model::chain::{ChainId, Operation};

use super::rpc_batch::{self, Batch};
use super::{Refusal, weighed};
use crate::app::App;
use crate::cors;
use crate::error::ApiError;
use crate::keys::Owner;
use crate::params::{Path, check_json_type, whole_body};

pub const ANSWERED_FROM: HeaderName = HeaderName::from_static("x-answered-from");

pub const ROUTE: &str = "/{chain}/{key}";

/// The key comes first: whoever has none learns nothing, not even which chains there are.
pub async fn node_rpc(
    State(app): State<App>,
    Path((chain, key)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Refusal> {
    let owner = app.parts.keys.check(Some(key.as_bytes()))?;
    answer(&app, owner, &chain, request).await
}

/// The same past the router (`site`), for a path that has `parts`.
pub async fn direct(app: &App, request: http::Request<Incoming>) -> Response {
    let path = request.uri().clone();
    let answered = async {
        let (chain, key) = parts(path.path()).ok_or(ApiError::KeyMissing)?;
        let owner = app.parts.keys.check(Some(key.as_bytes()))?;
        answer(app, owner, chain, request).await
    };
    let mut response = answered.await.into_response();
    if app.parts.config.cors {
        cors::allow(response.headers_mut());
    }
    response
}

/// Chain and key of a path, where they stand there plainly.
pub fn parts(path: &str) -> Option<(&str, &str)> {
    let (chain, key) = path.strip_prefix('/')?.split_once('/')?;
    let is_plain = |part: &str| !part.is_empty() && !part.contains(['/', '%']);
    (is_plain(chain) && is_plain(key)).then_some((chain, key))
}

/// What the key may ask of the chain, for whoever was found to have one.
pub async fn answer<B>(
    app: &App,
    owner: Arc<Owner>,
    chain: &str,
    request: http::Request<B>,
) -> Result<Response, Refusal>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let (chain, body) = read(app, chain, request).await.map_err(|error| owner.refuse(error))?;
    let requests = app.parts.gateway.read(&body);
    let units = requests.weight();
    owner.throttle.take(units)?;
    let response = match rpc_batch::split(&body, app.parts.gateway.config.batch_max) {
        Some(calls) => {
            let scope = Arc::new(RequestScope::of_batch());
            Batch { app: app.clone(), owner, chain, calls, scope }.respond().await
        }
        None => {
            let scope = RequestScope::default();
            let requests = requests.permitted(|method| owner.methods.permits(method));
            let answer = app.parts.gateway.answer_in_scope(chain, requests, &scope).await;
            let response = match answer.map(Answer::into_vec) {
                Some(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
                // A notification: JSON-RPC wants silence.
                None => StatusCode::NO_CONTENT.into_response(),
            };
            answered_from(put_off(response, &scope), &scope)
        }
    };
    Ok(weighed(response, units))
}

/// The answer says so, too; balancers and clients look at the status.
fn put_off(mut response: Response, scope: &RequestScope) -> Response {
    if scope.is_put_off() {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(1));
    }
    response
}

/// Says where the answers came from: `store`, `cache`, `node`, or `gateway` for what needs none of them.
pub fn answered_from(mut response: Response, scope: &RequestScope) -> Response {
    let mut sources = scope.sources();
    let named = match (sources.next(), sources.next()) {
        (None, _) => return response,
        (Some(only), None) => HeaderValue::from_static(only.name()),
        _ => {
            let names: Vec<&str> = scope.sources().map(|source| source.name()).collect();
            let Ok(names) = HeaderValue::from_str(&names.join(", ")) else { return response };
            names
        }
    };
    response.headers_mut().insert(ANSWERED_FROM, named);
    response
}

async fn read<B>(
    app: &App,
    chain: &str,
    request: http::Request<B>,
) -> Result<(ChainId, Bytes), ApiError>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
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
