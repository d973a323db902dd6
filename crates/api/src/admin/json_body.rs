//! The body of a request, read as JSON into what the handler wants.

use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::error::ApiError;
use crate::params::whole_body;

/// No request that is read as JSON has a long body.
const JSON_BYTES_MAX: usize = 64 << 10;

pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let limit = app.parts.listen.body_timeout();
        let bytes = whole_body(request, JSON_BYTES_MAX, limit).await?;
        let body = if bytes.is_empty() { b"{}".as_slice() } else { &bytes };
        match serde_json::from_slice(body) {
            Ok(value) => Ok(JsonBody(value)),
            Err(error) => {
                Err(ApiError::BadRequest(format!("the body is not as it should be: {error}")))
            }
        }
    }
}
