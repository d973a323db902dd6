//! `POST /{chain}/{key}`: JSON-RPC. The key stands in the path and goes nowhere else.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{self, HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use gateway::{Answer, RequestScope};
use http_body::Body as HttpBody;
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

const ANSWER_HEADERS: usize = 12;
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The key comes first: whoever has none learns nothing, not even which chains there are.
pub async fn node_rpc(
    State(app): State<App>,
    Path((chain, key)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Refusal> {
    let owner = app.parts.keys.check(Some(key.as_bytes()))?;
    answer(&app, owner, &chain, request).await
}

/// Chain and key of a call, where they stand plainly in its path.
pub struct CallPath {
    chain: ChainId,
    owner: Result<Arc<Owner>, ApiError>,
}

impl CallPath {
    /// None for what is another path, or a chain that is not served.
    pub fn read(app: &App, path: &str) -> Option<Self> {
        let (chain, key) = path.strip_prefix('/')?.split_once('/')?;
        let is_plain = |part: &str| !part.is_empty() && !part.contains(['/', '%']);
        let chain = (is_plain(chain) && is_plain(key)).then(|| served_chain(app, chain).ok())??;
        Some(CallPath { chain, owner: app.parts.keys.check(Some(key.as_bytes())) })
    }
}

/// The same past the router (`site`).
pub fn direct<B>(
    app: &App,
    call: CallPath,
    request: http::Request<B>,
) -> impl Future<Output = Response>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let body = read(app, request);
    async move {
        let answered = async { answer_for(app, call.owner?, call.chain, body).await };
        let mut response = answered.await.into_response();
        if app.parts.config.cors {
            cors::allow(response.headers_mut());
        }
        response
    }
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
    let chain = served_chain(app, chain).map_err(|error| owner.refuse(error))?;
    answer_for(app, owner, chain, read(app, request)).await
}

async fn answer_for(
    app: &App,
    owner: Arc<Owner>,
    chain: ChainId,
    body: impl Future<Output = Result<Bytes, ApiError>>,
) -> Result<Response, Refusal> {
    let body = body.await.map_err(|error| owner.refuse(error))?;
    let requests = app.parts.gateway.read(&body);
    let units = requests.weight();
    owner.throttle.take(units)?;
    let response = match rpc_batch::split(&body, app.parts.gateway.config.batch_max) {
        Some(calls) => {
            let scope = Arc::new(RequestScope::of_batch());
            Box::pin(Batch { app: app.clone(), owner, chain, calls, scope }.respond()).await
        }
        None => {
            let scope = RequestScope::default();
            let requests = requests.permitted(|method| owner.methods.permits(method));
            let answer = app.parts.gateway.answer_in_scope(chain, requests, &scope).await;
            let response = match answer.map(Answer::into_vec) {
                Some(text) => json(text),
                // A notification: JSON-RPC wants silence.
                None => StatusCode::NO_CONTENT.into_response(),
            };
            answered_from(put_off(response, &scope), &scope)
        }
    };
    Ok(weighed(response, units))
}

/// Made at once with room for all headers that an answer of ours has.
fn json(text: Vec<u8>) -> Response {
    let mut headers = HeaderMap::with_capacity(ANSWER_HEADERS);
    headers.insert(header::CONTENT_TYPE, JSON);
    let mut response = Response::new(Body::from(text));
    *response.headers_mut() = headers;
    response
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

/// To be awaited when the key was checked.
fn read<B>(
    app: &App,
    request: http::Request<B>,
) -> impl Future<Output = Result<Bytes, ApiError>> + use<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let checked = check_json_type(request.headers());
    let limit = app.parts.listen.body_timeout();
    let body = whole_body(request, app.parts.config.body_bytes_max, limit);
    async move {
        checked?;
        body.await
    }
}

/// The name is not quoted: people mix up the two parts of the path, and it may be a key.
pub fn served_chain(app: &App, name: &str) -> Result<ChainId, ApiError> {
    let found = app.parts.table.find_for(Operation::Rpc, name);
    let served = found.and_then(|chain| app.served(chain.id)).ok_or_else(|| {
        ApiError::NotFound(format!("no such chain here; served chains: {}", app.slugs()))
    })?;
    Ok(served.chain.id)
}
