//! `/admin/v1/redecode`: stored blocks decoded again by the decoders of this build.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::Admin;
use super::json_body::JsonBody;
use crate::app::App;
use crate::error::ApiError;
use crate::redecode_control::RedecodeRequest;

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
