//! The latest answers of /status and /metrics, for those who ask while one is being made.

use std::time::Instant;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use tokio::sync::Mutex;

/// By path. Whoever makes an answer holds the lock, and those behind find it there.
#[derive(Default)]
pub struct SharedAnswers {
    pub status: Mutex<Option<SharedAnswer>>,
    pub metrics: Mutex<Option<SharedAnswer>>,
}

pub struct SharedAnswer {
    pub begun: Instant,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl SharedAnswer {
    pub fn give(&self) -> Response {
        let mut response = Response::new(Body::from(self.body.clone()));
        *response.headers_mut() = self.headers.clone();
        response
    }
}
