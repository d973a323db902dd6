//! `/admin/v1/redecode`: stored blocks decoded again by the decoders of this build.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Admin;
use crate::app::App;
use crate::error::ApiError;
use crate::params::JsonBody;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RedecodeRequest {
    /// By id; none is every chain that is served.
    pub chains: Vec<u64>,
    /// Also where the same decoders read the blocks already.
    pub force: bool,
    /// Fingerprints of the decoders that the caller expects, by chain id.
    pub decoders: BTreeMap<u64, String>,
}

/// Whoever does the work; this crate does not know how blocks are decoded.
pub trait RedecodeControl: Send + Sync {
    /// The chains that it is queued for, or why not.
    fn request(&self, request: RedecodeRequest) -> Result<Vec<u64>, String>;
    /// By chain: its progress and how the last run ended.
    fn status(&self) -> Value;
}

pub async fn status(State(app): State<App>, _: Admin) -> Json<Value> {
    Json(app.parts.redecode.status())
}

/// Progress is told by `GET` on the same path.
pub async fn request(
    State(app): State<App>,
    _: Admin,
    JsonBody(request): JsonBody<RedecodeRequest>,
) -> Result<Response, ApiError> {
    match app.parts.redecode.request(request) {
        Ok(chains) => {
            let body = Json(serde_json::json!({ "chains": chains }));
            Ok((StatusCode::ACCEPTED, body).into_response())
        }
        Err(why) => Err(ApiError::BadRequest(why)),
    }
}
