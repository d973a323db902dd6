//! `/admin/v1/upstreams`: the nodes of each chain; drain one before maintenance, try one again after.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::Admin;
use crate::app::App;
use crate::error::ApiError;
use crate::params::Path;

pub async fn list(State(app): State<App>, _: Admin) -> Json<Value> {
    let mut chains = serde_json::Map::new();
    for served in &app.parts.chains {
        let status = served.pool.as_ref().map(|pool| pool.status().upstreams);
        let status = serde_json::to_value(status.unwrap_or_default()).unwrap_or_default();
        chains.insert(served.chain.slug.clone(), status);
    }
    Json(chains.into())
}

pub async fn act(
    State(app): State<App>,
    _: Admin,
    Path((chain, name, action)): Path<(String, String, String)>,
) -> Result<Json<Value>, ApiError> {
    let served = app.served_by_name(&chain)?;
    let unknown = || ApiError::NotFound(format!("{} has no upstream '{name}'", served.chain.slug));
    let pool = served.pool.as_ref().ok_or_else(unknown)?;
    let upstream = pool.upstreams().into_iter().find(|id| pool.label(*id) == name);
    let upstream = upstream.ok_or_else(unknown)?;
    match action.as_str() {
        // Nothing new is sent to it; what is under way ends.
        "drain" => pool.drain(upstream),
        // Also ends a drain, and the pause of one that was caught lying.
        "retry" => pool.retry(upstream),
        _ => return Err(ApiError::NotFound("an upstream can be told to: drain, retry".into())),
    }
    Ok(Json(json!({ "upstream": name, "action": action })))
}
