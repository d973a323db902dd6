//! `GET /console/api/status`: as `/status`, made at most once a second for all pages.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::recent_answers::Asked;
use crate::app::App;
use crate::error::ApiError;
use crate::hosts::{Operator, status as host};

const LASTS: Duration = Duration::from_secs(1);

pub async fn status(
    State(app): State<App>,
    operator: Operator,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let make = async {
        let Json(status) = host::status(State(app.clone()), operator).await?;
        Ok(status)
    };
    app.recent_answers.give((Asked::Status, LASTS), &headers, make).await
}
