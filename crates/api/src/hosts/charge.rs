//! What a request costs its key, and how the answer tells it.
//!
//! Two numbers, as the live service has them: a key's bucket is charged with the rate-limit cost, the header says
//! the price. What is refused costs next to nothing, but not nothing: guessing is work, too.

use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};

use super::{Key, WEIGHT};
use crate::error::ApiError;
use crate::keys::Owner;

/// Of a key's compute units per second, for one answer of the data host.
pub const RATE_LIMIT_COST: u32 = 20;
const REFUSED_COST: u32 = 1;

/// A refusal with what it cost: nothing where the key had nothing left.
#[derive(Debug)]
pub struct Refusal {
    error: ApiError,
    units: Option<u32>,
}

impl Key {
    /// Lets a request through that could be read and paid for.
    pub fn admit<R>(&self, read: Result<R, ApiError>, cost: u32) -> Result<R, Refusal> {
        match read {
            Ok(request) => {
                self.owner.throttle.take(cost)?;
                Ok(request)
            }
            Err(error) => Err(self.owner.refuse(error)),
        }
    }
}

impl Owner {
    /// Whoever has nothing left is told that instead.
    pub fn refuse(&self, error: ApiError) -> Refusal {
        match self.throttle.take(REFUSED_COST) {
            Ok(()) => Refusal { error, units: Some(REFUSED_COST) },
            Err(limited) => limited.into(),
        }
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Refusal { error, units: None }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self.units {
            Some(units) => weighed(self.error.into_response(), units),
            None => self.error.into_response(),
        }
    }
}

/// An answer that was paid for, found or not.
pub fn weighed(mut response: Response, units: u32) -> Response {
    response.headers_mut().insert(WEIGHT, HeaderValue::from(units));
    response
}
