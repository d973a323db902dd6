//! A JSON body, read into what the handler wants.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::error::ApiError;

pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let bytes = Bytes::from_request(request, app).await;
        let bytes = bytes.map_err(|_| ApiError::TooLarge(app.parts.config.body_bytes_max))?;
        let body = if bytes.is_empty() { b"{}".as_slice() } else { &bytes };
        match serde_json::from_slice(body) {
            Ok(value) => Ok(JsonBody(value)),
            Err(error) => {
                Err(ApiError::BadRequest(format!("the body is not as it should be: {error}")))
            }
        }
    }
}
