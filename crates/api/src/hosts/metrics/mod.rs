//! `/metrics` in the form of Prometheus. Open unless `auth.status` says otherwise.
//!
//! What happens is counted where it happens, by the recorder of the process. What is (heads, nodes, readers, room on
//! the disk) is looked at here, at every scrape: what is gone is then gone from the answer, too.

mod chain_state;
mod exposition;
mod process_state;
mod server_state;

use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use exposition::Exposition;

use super::Operator;
use crate::app::App;
use crate::error::ApiError;

/// A database that is away must not keep the rest from being told.
const LOOK_MAX: Duration = Duration::from_secs(3);

pub async fn metrics(State(app): State<App>, _: Operator) -> Result<Response, ApiError> {
    let mut state = Exposition::default();
    let chains = tokio::time::timeout(LOOK_MAX, chain_state::look(&app)).await;
    if let Ok(Ok(chains)) = chains {
        state.merge(chains);
    }
    chain_state::upstreams(&app, &mut state);
    let server = tokio::time::timeout(LOOK_MAX, server_state::look(&app)).await;
    state.merge(server.unwrap_or_else(|_| server_state::unknown()));
    process_state::look(&app, &mut state);
    // Whoever waits for the first one would miss it: a counter that begins with 1 has not risen.
    metrics::counter!("headwater_store_damage_total").increment(0);
    let text = (app.parts.metrics)() + &state.text();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
