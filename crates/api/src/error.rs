//! Every refusal, as status and `{"message"}`, with `details` where fields were wrong.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::printable;
use serde_json::{Map, Value, json};

/// How much of a value an error quotes.
const QUOTED_CHARS_MAX: usize = 80;

/// How many wrong fields an error lists.
const FIELDS_MAX: usize = 10;

/// A field or parameter that is not as it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidField {
    /// `requestBody.abi.0.type` for a field of the body, the name of a parameter otherwise.
    pub name: String,
    pub message: String,
    /// None where it is missing.
    pub value: Option<Value>,
}

#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("{0}")]
    BadRequest(String),
    #[error("Validation Failed")]
    Invalid(Vec<InvalidField>),
    #[error("API key is missing; send it in the X-API-Key header")]
    KeyMissing,
    #[error("invalid token: this API key is not known here")]
    KeyWrong,
    #[error("this API key may not do that; it needs the admin role")]
    NotAdmin,
    #[error("nobody is logged in any more: the session ended, or its key was revoked")]
    LoggedOut,
    #[error("only the console's own pages may ask this")]
    CrossSite,
    #[error("{0}")]
    NotFound(String),
    #[error("this server does not have this operation; {0}")]
    NotImplemented(String),
    #[error("method {0} is not allowed here")]
    MethodNotAllowed(String),
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the path and query of the request are longer than this server takes ({0} bytes)")]
    UriTooLong(usize),
    #[error(
        "the head of the request is larger than this server takes ({0} bytes); send fewer or shorter headers"
    )]
    HeadTooLarge(usize),
    #[error("{0} is not taken; send plain application/json")]
    UnsupportedMedia(String),
    #[error("the body did not arrive within {limit_ms} ms")]
    BodyTimeout { limit_ms: u128 },
    #[error("more than {requests_max} requests from this address are under way at once")]
    TooManyAtOnce { requests_max: usize },
    #[error("Rate Limit exceeded: this key may use {units_per_second} compute units per second")]
    RateLimited { units_per_second: u32, retry_after_s: u64 },
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("{0}")]
    Unavailable(String),
}

impl ApiError {
    pub fn bad_value(parameter: &str, value: &str, why: &str) -> Self {
        // A value is quoted back, so it is cut: an error must not be larger than its cause.
        let shown = printable(value, QUOTED_CHARS_MAX);
        ApiError::BadRequest(format!("{parameter} with value '{shown}' {why}"))
    }

    /// A parameter of the streams host that is not as it should be.
    pub fn invalid_param(name: &str, value: &str, message: impl Into<String>) -> Self {
        let value = Some(Value::from(value));
        ApiError::Invalid(vec![InvalidField {
            name: name.to_owned(),
            message: message.into(),
            value,
        }])
    }

    pub fn status(&self) -> StatusCode {
        match self {
            ApiError::BadRequest(_) => StatusCode::BAD_REQUEST,
            ApiError::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ApiError::KeyMissing | ApiError::KeyWrong | ApiError::LoggedOut => {
                StatusCode::UNAUTHORIZED
            }
            ApiError::NotAdmin | ApiError::CrossSite => StatusCode::FORBIDDEN,
            ApiError::NotFound(_) => StatusCode::NOT_FOUND,
            ApiError::NotImplemented(_) => StatusCode::NOT_IMPLEMENTED,
            ApiError::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            ApiError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ApiError::UriTooLong(_) => StatusCode::URI_TOO_LONG,
            ApiError::HeadTooLarge(_) => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            ApiError::UnsupportedMedia(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ApiError::BodyTimeout { .. } => StatusCode::REQUEST_TIMEOUT,
            ApiError::RateLimited { .. } | ApiError::TooManyAtOnce { .. } => {
                StatusCode::TOO_MANY_REQUESTS
            }
            ApiError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            ApiError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Says nothing of our insides.
    pub fn body(&self) -> String {
        let message = match self {
            ApiError::Internal(_) => {
                "internal error; the server's log has it under this request's X-Request-Id".into()
            }
            other => other.to_string(),
        };
        match self {
            ApiError::Invalid(fields) => {
                json!({ "message": message, "details": details(fields) }).to_string()
            }
            _ => json!({ "message": message }).to_string(),
        }
    }
}

/// By name. An error must not be larger than its cause, so all of it is cut.
fn details(fields: &[InvalidField]) -> Value {
    let mut details = Map::new();
    for field in fields.iter().take(FIELDS_MAX) {
        let mut entry = Map::new();
        entry.insert("message".into(), printable(&field.message, 4 * QUOTED_CHARS_MAX).into());
        if let Some(value) = &field.value {
            entry.insert("value".into(), shown(value));
        }
        details.insert(printable(&field.name, QUOTED_CHARS_MAX), entry.into());
    }
    details.into()
}

fn shown(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.len() <= QUOTED_CHARS_MAX && !value.is_string() {
        return value.clone();
    }
    printable(&text, QUOTED_CHARS_MAX).into()
}

impl From<store::Error> for ApiError {
    fn from(error: store::Error) -> Self {
        if error.is_damage() {
            metrics::counter!("headwater_store_damage_total").increment(1);
        }
        if error.is_retryable() {
            tracing::warn!(%error, "a request was put off");
            return ApiError::Unavailable(STORE_WAITS.to_owned());
        }
        ApiError::Internal(Box::new(error))
    }
}

/// A full disk, an engine that is being opened anew: the operator reads more in /health/ready than a tenant may here.
const STORE_WAITS: &str = "the store cannot take this now, and nothing was changed; GET /health/ready says why and what to do";

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let ApiError::Internal(source) = &self {
            // Logged once, here at the edge.
            tracing::error!(error = %source, "a request failed");
        }
        let content = [(header::CONTENT_TYPE, "application/json")];
        let mut response = (self.status(), content, self.body()).into_response();
        let retry_after_s = match &self {
            ApiError::RateLimited { retry_after_s, .. } => Some(*retry_after_s),
            ApiError::TooManyAtOnce { .. } | ApiError::Unavailable(_) => Some(1),
            _ => None,
        };
        if let Some(seconds) = retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_fields_are_named_with_what_is_wrong_and_what_was_given() {
        let field = |name: &str, message: &str, value| InvalidField {
            name: name.into(),
            message: message.into(),
            value,
        };
        let error = ApiError::Invalid(vec![
            field("requestBody.demo", "invalid boolean value", Some(json!(7))),
            field("limit", "'limit' is required", None),
            field("id", "Not match", Some(json!("x\n"))),
        ]);
        assert_eq!(error.status(), 422);
        let body: Value = serde_json::from_str(&error.body()).unwrap();
        assert_eq!(body["message"], "Validation Failed");
        assert_eq!(
            body["details"]["requestBody.demo"],
            json!({ "message": "invalid boolean value", "value": 7 })
        );
        assert_eq!(body["details"]["limit"], json!({ "message": "'limit' is required" }));
        assert_ne!(body["details"]["id"]["value"], "x\n", "no control characters");
    }

    #[test]
    fn what_the_store_can_do_later_is_no_internal_error() {
        let path = std::path::PathBuf::from("/secret/place");
        let full = store::Error::DiskFull { path, free: 0, min: 1 };
        let error = ApiError::from(full);
        assert_eq!(error.status(), 503);
        assert!(error.body().contains("/health/ready") && !error.body().contains("/secret"));
        let broken = ApiError::from(store::Error::Broken { what: "row" });
        assert_eq!(broken.status(), 500);
    }

    #[test]
    fn an_error_is_never_much_larger_than_its_cause() {
        let long = "x".repeat(1_000_000);
        let field = InvalidField {
            name: long.clone(),
            message: long.clone(),
            value: Some(json!({ "deep": [long] })),
        };
        let body = ApiError::Invalid(vec![field; 1000]).body();
        assert!(body.len() < 10_000, "{}", body.len());
    }
}
