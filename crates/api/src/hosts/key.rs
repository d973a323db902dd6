//! The API key of a request to the data host.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::app::App;
use crate::error::ApiError;
use crate::keys::Owner;

pub struct Key {
    pub owner: Arc<Owner>,
}

impl FromRequestParts<App> for Key {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let header = parts.headers.get("x-api-key").and_then(|value| value.to_str().ok());
        // The SDKs' newer operations send the key as a bearer token, too; alone it will do.
        let bearer = parts
            .headers
            .get(axum::http::header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "));
        let owner = app.parts.keys.check(header.or(bearer))?;
        Ok(Key { owner })
    }
}
