//! A request that was charged and then refused.

use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use streams::StreamError;
use streams::definition::FieldError;

use crate::error::{ApiError, InvalidField};
use crate::hosts::WEIGHT;

/// What a refused request costs, as an answered one does here.
const UNITS_REFUSED: u32 = 1;

#[derive(Debug)]
pub struct Refused(pub ApiError);

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Refused(error)
    }
}

impl From<StreamError> for Refused {
    fn from(error: StreamError) -> Self {
        Refused(match error {
            StreamError::Fields(fields) => {
                ApiError::Invalid(fields.into_iter().map(of_body).collect())
            }
            StreamError::BadRequest(message) | StreamError::TooMany(message) => {
                ApiError::BadRequest(message)
            }
            StreamError::NotFound(what) => ApiError::NotFound(what.to_owned()),
            StreamError::Secret(error) => ApiError::Internal(Box::new(error)),
            StreamError::Store(error) => error.into(),
        })
    }
}

/// A field without a path is the body itself. One that is missing has no value to show.
fn of_body(field: FieldError) -> InvalidField {
    let FieldError { path, message, value } = field;
    let dot = if path.is_empty() { "" } else { "." };
    let is_missing = value == Value::Null && message.ends_with("is required");
    InvalidField {
        name: format!("requestBody{dot}{path}"),
        message,
        value: (!is_missing).then_some(value),
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        response.headers_mut().insert(WEIGHT, HeaderValue::from(UNITS_REFUSED));
        response
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(error: StreamError) -> (u16, Value) {
        let Refused(error) = error.into();
        (error.status().as_u16(), serde_json::from_str(&error.body()).unwrap())
    }

    #[test]
    fn every_refusal_of_a_stream_has_its_status_and_form() {
        let field = |path: &str, message: &str, value| FieldError {
            path: path.into(),
            message: message.into(),
            value,
        };
        let fields = vec![
            field("abi.0.type", "invalid string value", json!(7)),
            field("webhookUrl", "'webhookUrl' is required", Value::Null),
            field("", "invalid object", json!([])),
        ];
        let details = json!({
            "requestBody": { "message": "invalid object", "value": [] },
            "requestBody.abi.0.type": { "message": "invalid string value", "value": 7 },
            "requestBody.webhookUrl": { "message": "'webhookUrl' is required" },
        });
        for (error, status, expected) in [
            (
                StreamError::Fields(fields),
                422,
                json!({ "message": "Validation Failed", "details": details }),
            ),
            (StreamError::BadRequest("no".into()), 400, json!({ "message": "no" })),
            (StreamError::TooMany("full".into()), 400, json!({ "message": "full" })),
            (
                StreamError::NotFound("Stream not found"),
                404,
                json!({ "message": "Stream not found" }),
            ),
        ] {
            assert_eq!(body(error), (status, expected));
        }
    }

    #[test]
    fn a_refused_request_says_what_it_cost() {
        let response = Refused(ApiError::NotFound("x".into())).into_response();
        assert_eq!(response.headers().get(WEIGHT).unwrap(), "1");
    }
}
