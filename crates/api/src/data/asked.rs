//! A request to the data host as it came, nothing of it checked: what cannot be read is refused by the handler, when
//! the key was charged.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use crate::app::App;
use crate::error::ApiError;
use crate::params::{Path, Query};
use crate::profile::Profile;

pub struct Asked {
    /// The variable part of the path, or why it cannot be read.
    address: Result<String, String>,
    query: Result<Query, String>,
    headers: HeaderMap,
}

impl Asked {
    pub fn address(&self) -> Result<&str, ApiError> {
        self.address.as_deref().map_err(|why| ApiError::BadRequest(why.clone()))
    }

    pub fn query(&self) -> Result<&Query, ApiError> {
        self.query.as_ref().map_err(|why| ApiError::BadRequest(why.clone()))
    }

    pub fn profile(&self, app: &App) -> Result<Profile, ApiError> {
        Profile::choose(&self.headers, app.parts.config.wire_profile)
    }
}

impl FromRequestParts<App> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let address = Path::<String>::from_request_parts(parts, app).await;
        let query = Query::from_request_parts(parts, app).await;
        Ok(Asked {
            address: address.map(|Path(address)| address).map_err(|error| error.to_string()),
            query: query.map_err(|error| error.to_string()),
            headers: parts.headers.clone(),
        })
    }
}
