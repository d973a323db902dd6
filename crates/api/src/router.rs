//! Which paths are served. Those of a host are listed in its folder: `data`, `streams`, `admin`.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware;
use axum::response::Response;
use axum::routing::get;

use crate::app::App;
use crate::error::ApiError;
use crate::hosts::{metrics, node_rpc_routes, operator_routes, shared_answer, status};
use crate::openapi::Document;
use crate::{admin, console, cors, data, request_id, streams};

/// Which hosts a listener serves; one listener may serve all, their paths do not clash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hosts {
    pub data: bool,
    pub rpc: bool,
    pub streams: bool,
    pub admin: bool,
    pub console: bool,
}

impl Hosts {
    pub const ALL: Hosts =
        Hosts { data: true, rpc: true, streams: true, admin: true, console: true };
    pub const NONE: Hosts =
        Hosts { data: false, rpc: false, streams: false, admin: false, console: false };
    /// A listener of the console's own: what it shows is not on the listener itself.
    pub const CONSOLE: Hosts = Hosts { console: true, ..Hosts::NONE };
}

pub fn router(app: App, hosts: Hosts) -> Router {
    let share_status = middleware::from_fn_with_state(app.clone(), shared_answer::status);
    let share_metrics = middleware::from_fn_with_state(app.clone(), shared_answer::metrics);
    let document = Document::new(&app, hosts);
    let status = get(status::status).layer(share_status);
    let metrics = get(metrics::metrics).layer(share_metrics);
    let mut for_operators = operator_routes(status, metrics, document);
    if hosts.admin {
        for_operators = for_operators.merge(admin::routes());
    }
    let mut for_operators = for_operators.into_router();
    if hosts.console && app.parts.console.enabled {
        let has_admin = hosts.admin || hosts == Hosts::CONSOLE;
        for_operators = for_operators.merge(console::routes(&app, has_admin));
    }
    for_operators = for_operators.method_not_allowed_fallback(method_not_allowed);
    let mut for_clients = Router::new();
    if hosts.data {
        for_clients = for_clients.merge(data::routes().into_router());
    }
    if hosts.rpc {
        for_clients = for_clients.merge(node_rpc_routes().into_router());
    }
    if hosts.streams && app.parts.streams.is_some() {
        for_clients = for_clients.merge(streams::router(&app));
    }
    // Before the layer, so that browsers can read this refusal, too.
    for_clients = for_clients.method_not_allowed_fallback(method_not_allowed);
    if app.parts.config.cors {
        for_clients = for_clients.layer(middleware::from_fn(cors::layer));
    }
    let all = for_operators.merge(for_clients);
    let all = if hosts.data { all.fallback(not_offered) } else { all.fallback(not_found) };
    all.layer(middleware::from_fn_with_state(app.clone(), request_id::layer)).with_state(app)
}

/// No path is named back: it may hold a key that was meant for another host.
async fn not_found() -> ApiError {
    ApiError::NotFound("nothing is served at this path".into())
}

/// The data host tells what the live service has and this server has not.
async fn not_offered(State(app): State<App>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let mut response = data::not_offered::not_offered(&app, &mut parts).await;
    if app.parts.config.cors {
        cors::allow(response.headers_mut());
    }
    response
}

async fn method_not_allowed(method: Method) -> ApiError {
    ApiError::MethodNotAllowed(method.to_string())
}
