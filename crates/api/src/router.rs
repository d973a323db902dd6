//! Every path of the server, one line each.

use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::app::App;
use crate::data::get_wallet_transactions::get_wallet_transactions;
use crate::error::ApiError;
use crate::hosts::{node_rpc, operations};
use crate::request_id;

/// Which hosts a listener serves; one listener may serve all, their paths do not clash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hosts {
    pub data: bool,
    pub rpc: bool,
}

impl Hosts {
    pub const ALL: Hosts = Hosts { data: true, rpc: true };
}

pub fn router(app: App, hosts: Hosts) -> Router {
    let mut router = Router::new()
        .route("/health/live", get(operations::live))
        .route("/health/ready", get(operations::ready))
        .route("/status", get(operations::status))
        .route("/status/{chain}/blocks/{number}", get(operations::block_status))
        .route("/metrics", get(operations::metrics));
    if hosts.data {
        router = router.route("/api/v2.2/{address}", get(get_wallet_transactions));
    }
    if hosts.rpc {
        router = router.route("/{chain}/{key}", post(node_rpc::node_rpc));
    }
    router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(app.clone(), in_time))
        .layer(middleware::from_fn(request_id::layer))
        .with_state(app)
}

/// No path is named back: it may hold a key that was meant for another host.
async fn not_found(_uri: Uri) -> ApiError {
    ApiError::NotFound("nothing is served at this path".into())
}

async fn method_not_allowed(method: Method) -> ApiError {
    ApiError::MethodNotAllowed(method.to_string())
}

/// A request that takes too long is answered, whoever is to blame.
async fn in_time(State(app): State<App>, request: Request, next: Next) -> Response {
    let limit = Duration::from_millis(app.parts.config.request_timeout_ms);
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let why = format!("the answer took longer than {} ms", limit.as_millis());
            ApiError::Unavailable(why).into_response()
        }
    }
}
