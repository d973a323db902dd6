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
        read(&bytes).map(JsonBody)
    }
}

/// No body is an empty object. Of a field that is there twice neither is taken.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let body = if bytes.is_empty() { b"{}".as_slice() } else { bytes };
    let wrong = |error| ApiError::BadRequest(format!("the body is not as it should be: {error}"));
    serde_json::from_slice(body).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::keys::KeyRequest;

    #[test]
    fn a_field_that_is_there_twice_is_refused_and_named() {
        assert!(read::<KeyRequest>(br#"{"tenant":"a"}"#).is_ok());
        let error = read::<KeyRequest>(br#"{"tenant":"a","tenant":"b"}"#).err().unwrap();
        assert_eq!(error.status().as_u16(), 400);
        assert!(error.body().contains("tenant"), "{}", error.body());
    }
}
