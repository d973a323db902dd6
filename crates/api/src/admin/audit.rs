//! `/admin/v1/audit/{chain}/{number}`: balances of a block's accounts, proven by nodes, held against what is stored.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;

use super::Admin;
use super::json_body::JsonBody;
use crate::app::App;
use crate::error::ApiError;
use crate::params::Path;

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditRequest {
    /// 0 is every account of the block.
    sample: usize,
}

impl Default for AuditRequest {
    fn default() -> Self {
        AuditRequest { sample: 1 }
    }
}

pub async fn audit(
    State(app): State<App>,
    _: Admin,
    Path((chain, number)): Path<(String, String)>,
    JsonBody(request): JsonBody<AuditRequest>,
) -> Result<Json<Value>, ApiError> {
    let served = app.served_by_name(&chain)?;
    let parsed = number.parse::<u64>();
    let number =
        parsed.map_err(|_| ApiError::bad_value("number", &number, "is not a block number"))?;
    let no_node = || ApiError::Unavailable(format!("{chain} has no node that could give proofs"));
    let control = served.audit.as_ref().ok_or_else(no_node)?;
    let sample = Some(request.sample).filter(|sample| *sample > 0);
    control.audit(number, sample).await.map(Json).map_err(ApiError::Unavailable)
}
