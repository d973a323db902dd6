//! `/admin/v1/sizes`: what the store takes on disk.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::Admin;
use crate::app::App;
use crate::error::ApiError;

pub async fn sizes(State(app): State<App>, _: Admin) -> Result<Json<Value>, ApiError> {
    describe(&app).await.map(Json)
}

/// As /status shows it, too.
pub async fn describe(app: &App) -> Result<Value, ApiError> {
    let store = &app.parts.store;
    let tables: Vec<Value> = store
        .table_sizes()
        .await
        .iter()
        .map(|t| json!({ "table": t.name, "disk_bytes": t.disk_bytes, "rows_estimate": t.rows }))
        .collect();
    let budget = app.parts.disk_budget.as_ref().map(|budget| budget());
    Ok(json!({ "disk_bytes": store.disk_bytes(), "tables": tables, "budget": budget }))
}
