//! The console: pages for people, from the binary, at `/`.
//!
//! In: a browser. Out: static files, a session for a key, events of the chains, and under `/console/api` the
//! public operations as they are, asked with the session in the place of the key. So the pages know nothing that
//! a client could not ask, and every limit holds for them, too.
//! Must not know: what the pages show.

mod assets;
mod config;
mod cookie;
mod coverage;
mod events;
mod live;
mod live_chain;
mod node_rpc;
mod outbox;
mod page;
mod proof_table;
mod recent_answers;
mod same_origin;
mod session;
mod session_layer;
mod sessions;
mod status;
#[cfg(test)]
mod tests;

use axum::Router;
use axum::middleware;
use axum::routing::{get, post};

pub use config::ConsoleConfig;
pub use live::Live;
pub use recent_answers::RecentAnswers;
pub use session_layer::SessionOwner;
pub use sessions::Sessions;

use crate::app::App;
use crate::hosts;
use crate::openapi::Document;
use crate::router::Hosts;
use crate::{admin, data, streams};

/// `has_admin`: whether the admin surface is within reach of this listener. An operator who gave it a listener of
/// its own does not want it on a public one.
pub fn routes(app: &App, has_admin: bool) -> Router<App> {
    let with_session = middleware::from_fn_with_state(app.clone(), session_layer::layer);
    let own_pages = middleware::from_fn(same_origin::layer);
    let sessions = get(session::show).post(session::log_in).delete(session::log_out);
    Router::new()
        .route("/", get(page::page))
        .route("/console/{file}", get(page::file))
        .route("/console/session", sessions.layer(own_pages))
        .nest("/console/api", operations(app, has_admin).layer(with_session))
}

fn operations(app: &App, has_admin: bool) -> Router<App> {
    // What is behind the session, wherever else it is served.
    let behind = Hosts { admin: has_admin, console: false, ..Hosts::ALL };
    let document = Document::new(app, behind);
    let mut all = Router::new()
        .route("/openapi.json", get(move || async move { document.response() }))
        .route("/events", get(events::events))
        .route("/coverage/{chain}", get(coverage::coverage))
        .route("/proof", get(proof_table::proof_table))
        .route("/rpc/{chain}", post(node_rpc::node_rpc))
        .route("/status", get(status::status))
        .route("/status/{chain}/blocks/{number}", get(hosts::status::block_status))
        .merge(data::routes().into_router());
    if app.parts.streams.is_some() {
        all = all.merge(streams::router(app));
    }
    if has_admin {
        all = all.merge(admin::routes().into_router());
    }
    all.fallback(not_here)
}

async fn not_here() -> crate::error::ApiError {
    crate::error::ApiError::NotFound("the console has nothing at this path".into())
}
