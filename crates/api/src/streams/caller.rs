//! Who asks the streams host, and through what it is answered.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use streams::Streams;

use super::answer::UNITS;
use crate::app::App;
use crate::error::ApiError;
use crate::hosts::Key;
use crate::keys::Owner;

const ELSEWHERE: &str = "another process takes over streams just now; try again";

/// The key was checked and charged: a request that is refused later costs the same. A key acts for its own tenant,
/// whatever its role.
pub struct Caller {
    pub streams: Streams,
    owner: Arc<Owner>,
}

impl Caller {
    pub fn tenant(&self) -> &str {
        &self.owner.tenant
    }

    /// For work that outlives the request.
    pub fn owned(self) -> (Streams, String) {
        (self.streams, self.owner.tenant.clone())
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let owner = Key::from_request_parts(parts, app).await?.owner;
        owner.throttle.take(UNITS)?;
        let none = || ApiError::NotFound("this server has no streams host".into());
        let slot = app.parts.streams.as_ref().ok_or_else(none)?;
        let elsewhere = || ApiError::Unavailable(ELSEWHERE.to_owned());
        Ok(Caller { streams: slot.get().ok_or_else(elsewhere)?, owner })
    }
}
