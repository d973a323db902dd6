//! `/metrics` in the form of Prometheus. Open unless `auth.status` says otherwise.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::Operator;
use crate::app::App;
use crate::error::ApiError;

pub async fn metrics(State(app): State<App>, _: Operator) -> Result<Response, ApiError> {
    for table in app.parts.store.table_sizes().await {
        metrics::gauge!("headwater_store_table_bytes", "table" => table.name)
            .set(table.disk_bytes as f64);
        metrics::gauge!("headwater_store_table_rows", "table" => table.name).set(table.rows as f64);
    }
    metrics::gauge!("headwater_store_bytes").set(app.parts.store.disk_bytes() as f64);
    for share in app.parts.store.memory_use() {
        metrics::gauge!("headwater_memory_bytes", "part" => share.part).set(share.bytes as f64);
        metrics::gauge!("headwater_memory_budget_bytes", "part" => share.part)
            .set(share.bytes_max as f64);
    }
    let text = (app.parts.metrics)();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
