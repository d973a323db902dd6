//! What an operation of the streams host answers: JSON, and what it cost.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;

use super::refused::Refused;
use crate::error::ApiError;
use crate::hosts::WEIGHT;

/// Compute units of every operation.
pub const UNITS: u32 = 1;

pub fn json(body: &impl Serialize) -> Result<Response, Refused> {
    let written = serde_json::to_vec(body).map_err(|error| ApiError::Internal(Box::new(error)))?;
    Ok(json_text(written.into()))
}

/// What is JSON already.
pub fn json_text(body: Bytes) -> Response {
    let mut response = ([(header::CONTENT_TYPE, "application/json")], body).into_response();
    response.headers_mut().insert(WEIGHT, HeaderValue::from(UNITS));
    response
}
