//! `/admin/v1/readers`: who follows the journal of each chain, and how far each came.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use store::ReaderStatus;

use super::Admin;
use crate::app::App;
use crate::error::ApiError;
use crate::params::Path;

pub async fn list(State(app): State<App>, _: Admin) -> Result<Json<Value>, ApiError> {
    let view = app.parts.store.view().await?;
    let mut chains = serde_json::Map::new();
    for served in &app.parts.chains {
        let readers = view.readers(served.chain.id).await?;
        let readers: Vec<Value> = readers.iter().map(describe).collect();
        chains.insert(served.chain.slug.clone(), readers.into());
    }
    Ok(Json(chains.into()))
}

/// As /status shows it, too.
pub fn describe(reader: &ReaderStatus) -> Value {
    json!({
        "name": reader.name,
        "next_block": reader.cursor.next,
        "journal_seq": reader.cursor.seq,
        "lag_blocks": reader.lag_blocks,
    })
}

/// For a reader that will not come back: the journal is kept for it otherwise.
pub async fn remove(
    State(app): State<App>,
    _: Admin,
    Path((chain, name)): Path<(String, String)>,
) -> Result<Json<Value>, ApiError> {
    let served = app.served_by_name(&chain)?;
    if !app.parts.store.remove_reader(served.chain.id, &name).await? {
        let message = format!("no reader '{name}' of {}", served.chain.slug);
        return Err(ApiError::NotFound(message));
    }
    Ok(Json(json!({ "removed": name })))
}
