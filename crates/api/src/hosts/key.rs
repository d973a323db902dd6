//! The API key of a request to the data host, or the session that stands for one.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use crate::app::App;
use crate::console::SessionOwner;
use crate::error::ApiError;
use crate::keys::Owner;

pub struct Key {
    pub owner: Arc<Owner>,
}

impl FromRequestParts<App> for Key {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if let Some(SessionOwner(owner)) = parts.extensions.get() {
            return Ok(Key { owner: owner.clone() });
        }
        let owner = app.parts.keys.check(presented(&parts.headers))?;
        Ok(Key { owner })
    }
}

/// The SDKs' newer operations send the key as a bearer token, too; alone it will do. What is no
/// text is a wrong key, not a missing one.
fn presented(headers: &HeaderMap) -> Option<&[u8]> {
    let key = headers.get("x-api-key").map(|value| value.as_bytes().trim_ascii());
    let bearer = headers.get(AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.as_bytes().split_at_checked("Bearer ".len())?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
    });
    key.filter(|key| !key.is_empty()).or(bearer.filter(|token| !token.is_empty()))
}
