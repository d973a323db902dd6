//! `/health/live` and `/health/ready`, for balancers and supervisors. Always open.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::app::App;
use crate::readiness::problems;

pub async fn live() -> Response {
    Json(json!({ "status": "live" })).into_response()
}

/// Ready: nothing stands still, and nobody asked us to stop.
pub async fn ready(State(app): State<App>) -> Response {
    if app.is_stopping() {
        // What made it stop is still what people look for. Nothing here waits for the store.
        let problems = (app.parts.problems)();
        let body = if problems.is_empty() {
            json!({ "status": "stopping" })
        } else {
            json!({ "status": "stopping", "problems": problems })
        };
        return (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response();
    }
    let problems = problems(&app).await;
    if problems.is_empty() {
        return Json(json!({ "status": "ready" })).into_response();
    }
    let body = Json(json!({ "status": "not ready", "problems": problems }));
    (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
}
