//! Requests about streams that came to a process that does not have them: handed on by way of the store, answered by
//! the process that does, as if they had come to it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use bytes::Bytes;
use store::{Error, MethodRules, Role, Store, StreamAnswer, StreamCall};
use streams::REPORT;
use tower::Service;

use super::answer::UNITS;
use crate::app::App;
use crate::console::SessionOwner;
use crate::error::ApiError;
use crate::hosts::{Key, WEIGHT};
use crate::keys::Owner;
use crate::params::whole_body;
use crate::throttle::Throttle;

/// A new stream's receiver is tried first, which may take ten seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(25);
const NOBODY: &str = "no process could answer for streams just now; look whether the change was made before you try it again";
/// Headers of an answer that are the operation's own.
const KEPT: [HeaderName; 3] = [header::CONTENT_TYPE, header::RETRY_AFTER, WEIGHT];

pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let is_here = app.parts.streams.as_ref().is_none_or(|slot| slot.get().is_some());
    // Between processes it means something; from a client it is a method that does not exist.
    let is_unknown = request.method().as_str() == REPORT;
    if is_here || is_unknown || !app.parts.store.is_shared() {
        return next.run(request).await;
    }
    match hand_on(&app, request).await {
        Ok(answer) => written(answer),
        Err(error) => error.into_response(),
    }
}

async fn hand_on(app: &App, request: Request) -> Result<StreamAnswer, ApiError> {
    let (mut parts, body) = request.into_parts();
    let owner = Key::from_request_parts(&mut parts, app).await?.owner;
    owner.throttle.take(UNITS)?;
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let (method, content_type) = (parts.method.to_string(), content_type.map(str::to_owned));
    let limit = app.parts.listen.body_timeout();
    let request = Request::from_parts(parts, body);
    let body = whole_body(request, app.parts.config.body_bytes_max, limit).await?;
    let call = StreamCall { tenant: owner.tenant.clone(), method, path, content_type, body };
    let answer = app.parts.store.call_streams(&call, ANSWER_WITHIN).await?;
    answer.ok_or_else(|| ApiError::Unavailable(NOBODY.to_owned()))
}

fn written(answer: StreamAnswer) -> Response {
    let mut response = Body::from(answer.body).into_response();
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or_default();
    for (name, value) in answer.headers {
        let name = HeaderName::try_from(name);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Answers what other processes were asked, under the term that `store` is of; ends with an error of the store's.
pub async fn answer_others(app: &App, store: &Store) -> Result<(), Error> {
    let routes = super::routes().into_router().with_state(app.clone());
    loop {
        for (id, call) in store.take_stream_calls().await? {
            let (app, routes, store) = (app.clone(), routes.clone(), store.clone());
            tokio::spawn(async move {
                let answer = match call.method.as_str() {
                    REPORT => take_report(&app, call).await,
                    _ => answer(routes, call).await,
                };
                if let Err(error) = store.answer_stream_call(&id, &answer).await {
                    tracing::warn!(%error, "another process's request was done, and its answer could not be handed back");
                }
            });
        }
    }
}

/// Senders of other processes say how streams fare.
async fn take_report(app: &App, call: StreamCall) -> StreamAnswer {
    let message = String::from_utf8_lossy(&call.body).into_owned();
    if let Some(streams) = app.parts.streams.as_ref().and_then(|slot| slot.get())
        && let Err(error) = streams.take_report(&call.path, message).await
    {
        tracing::warn!(%error, "a stream's new status could not be written");
    }
    StreamAnswer { status: 204, headers: Vec::new(), body: Bytes::new() }
}

async fn answer(routes: Router, call: StreamCall) -> StreamAnswer {
    let StreamCall { tenant, method, path, content_type, body } = call;
    let mut request = Request::builder().method(method.as_str()).uri(path);
    if let Some(content_type) = content_type {
        request = request.header(header::CONTENT_TYPE, content_type);
    }
    let refused = |error: ApiError| (error.status().as_u16(), error.body());
    let (status, text) = match request.body(Body::from(body)) {
        Ok(request) => return run(routes, tenant, request).await,
        Err(error) => refused(ApiError::BadRequest(error.to_string())),
    };
    StreamAnswer { status, headers: Vec::new(), body: text.into() }
}

async fn run(routes: Router, tenant: String, request: Request) -> StreamAnswer {
    // It was let in and charged where it came in.
    let owner = Owner {
        id: String::new(),
        name: String::new(),
        tenant,
        role: Role::Tenant,
        throttle: Throttle::new(0),
        methods: MethodRules::default(),
    };
    let mut routes = routes.layer(Extension(SessionOwner(Arc::new(owner))));
    let response = match routes.as_service::<Body>().call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let status = response.status().as_u16();
    let kept = |name: &HeaderName| {
        let value = response.headers().get(name)?.to_str().ok()?;
        Some((name.to_string(), value.to_owned()))
    };
    let headers = KEPT.iter().filter_map(kept).collect();
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await;
    StreamAnswer { status, headers, body: body.unwrap_or_else(|_| Bytes::new()) }
}
