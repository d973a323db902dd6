//! The hosts' own endpoints, and what their handlers share.

mod charge;
pub mod health;
mod key;
pub mod metrics;
pub mod node_rpc;
mod operator;
mod rpc_batch;
pub mod rpc_socket;
pub mod shared_answer;
pub mod status;

use axum::routing::MethodRouter;

use crate::app::App;
use crate::openapi::Document;
use crate::routes::Routes;

pub use charge::{RATE_LIMIT_COST, Refusal, weighed};
pub use key::Key;
pub use operator::Operator;

/// Compute units an answer is priced at.
pub const WEIGHT: axum::http::HeaderName = axum::http::HeaderName::from_static("x-request-weight");

/// On every listener. The two that share answers between those who ask at the same time come with their layers.
pub fn operator_routes(
    status: MethodRouter<App>,
    metrics: MethodRouter<App>,
    document: Document,
) -> Routes {
    Routes::default()
        .get("/openapi.json", move || async move { document.response() })
        .get("/health/live", health::live)
        .get("/health/ready", health::ready)
        .get_by("/status", status)
        .get("/status/{chain}/blocks/{number}", status::block_status)
        .get_by("/metrics", metrics)
}

pub fn node_rpc_routes() -> Routes {
    Routes::default()
        .post(node_rpc::ROUTE, node_rpc::node_rpc)
        .get(node_rpc::ROUTE, rpc_socket::rpc_socket)
}
