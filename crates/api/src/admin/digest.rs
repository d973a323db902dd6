//! `/admin/v1/digest/{chain}`: one hash over all that is stored of a chain, to compare two stores.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::Admin;
use crate::app::App;
use crate::error::ApiError;
use crate::params::Path;

pub async fn digest(
    State(app): State<App>,
    _: Admin,
    Path(chain): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let served = app.served_by_name(&chain)?;
    let view = app.parts.store.view().await?;
    let digest = view.digest(served.chain.id).await?;
    let coverage = view.coverage(served.chain.id).await?;
    Ok(Json(json!({ "digest": digest.to_string(), "coverage": coverage.to_string() })))
}
