//! Who may see /status and /metrics.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::admin::Admin;
use crate::app::App;
use crate::config::StatusAccess;
use crate::error::ApiError;

/// Anyone, unless the configuration wants an admin's key.
pub struct Operator;

impl FromRequestParts<App> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if app.parts.status_access == StatusAccess::Key {
            Admin::from_request_parts(parts, app).await?;
        }
        Ok(Operator)
    }
}
