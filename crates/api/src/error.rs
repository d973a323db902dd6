//! Every refusal, as status and `{"message"}`.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::printable;

/// How much of a value an error quotes.
const QUOTED_CHARS_MAX: usize = 80;

#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("{0}")]
    BadRequest(String),
    #[error("API key is missing; send it in the X-API-Key header")]
    KeyMissing,
    #[error("invalid token: this API key is not known here")]
    KeyWrong,
    #[error("this API key may not do that; it needs the admin role")]
    NotAdmin,
    #[error("{0}")]
    NotFound(String),
    #[error("method {0} is not allowed here")]
    MethodNotAllowed(String),
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
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

    pub fn status(&self) -> StatusCode {
        match self {
            ApiError::BadRequest(_) => StatusCode::BAD_REQUEST,
            ApiError::KeyMissing | ApiError::KeyWrong => StatusCode::UNAUTHORIZED,
            ApiError::NotAdmin => StatusCode::FORBIDDEN,
            ApiError::NotFound(_) => StatusCode::NOT_FOUND,
            ApiError::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            ApiError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
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
        serde_json::json!({ "message": message }).to_string()
    }
}

impl From<store::Error> for ApiError {
    fn from(error: store::Error) -> Self {
        ApiError::Internal(Box::new(error))
    }
}

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
