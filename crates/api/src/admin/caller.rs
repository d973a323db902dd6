//! Who may use the admin surface.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use store::Role;

use crate::app::App;
use crate::error::ApiError;
use crate::hosts::Key;

/// Put into every request that comes through a socket which only the owner of the data folder can open:
/// it needs no key.
#[derive(Clone, Copy, Debug)]
pub struct LocalSocket;

/// Proof that the request may do everything.
pub struct Admin;

impl FromRequestParts<App> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if parts.extensions.get::<LocalSocket>().is_some() {
            return Ok(Admin);
        }
        let key = Key::from_request_parts(parts, app).await?;
        match key.owner.role {
            Role::Admin => Ok(Admin),
            Role::Tenant => Err(ApiError::NotAdmin),
        }
    }
}
