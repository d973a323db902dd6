//! Health, status and metrics, for operators and their machines. No key: bind them to where only
//! operators reach, or put them behind what guards the rest.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::app::{App, ServedChain};
use crate::error::ApiError;
use crate::params::Path;

pub async fn live() -> Response {
    json_response(StatusCode::OK, &json!({ "status": "live" }))
}

/// Ready to answer: the store is open and nobody asked us to stop.
pub async fn ready(State(app): State<App>) -> Response {
    match app.is_stopping() {
        false => json_response(StatusCode::OK, &json!({ "status": "ready" })),
        true => json_response(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "stopping" })),
    }
}

pub async fn status(State(app): State<App>) -> Result<Response, ApiError> {
    gateway::off_the_reactor(|| tell_status(&app))
}

fn tell_status(app: &App) -> Result<Response, ApiError> {
    let view = app.parts.store.view();
    let mut chains = serde_json::Map::new();
    for served in &app.parts.chains {
        chains.insert(served.chain.slug.clone(), chain_status(served, &view)?);
    }
    let tables: Vec<Value> = app
        .parts
        .store
        .table_statistics()
        .iter()
        .map(|t| json!({ "table": t.name, "disk_bytes": t.disk_bytes, "rows_estimate": t.rows }))
        .collect();
    let body = json!({
        "version": app.parts.version,
        "chains": chains,
        "store": { "disk_bytes": app.parts.store.disk_bytes()?, "tables": tables },
    });
    Ok(json_response(StatusCode::OK, &body))
}

fn chain_status(served: &ServedChain, view: &store::View) -> Result<Value, ApiError> {
    let id = served.chain.id;
    let coverage = view.coverage(id)?;
    let head = view.head(id)?;
    let node_head = served.pool.as_ref().and_then(|p| p.heads().borrow().map(|h| h.number));
    let lag = node_head.zip(coverage.newest()).map(|(node, ours)| node.saturating_sub(ours));
    Ok(json!({
        "id": id.0,
        "hex_id": id.hex(),
        "name": served.chain.name,
        "head": head.map(|h| json!({
            "number": h.number,
            "hash": h.hash.to_string(),
            "timestamp": crate::date::iso_millis_utc(h.timestamp),
            "level": h.proof.level().name(),
        })),
        "node_head": node_head,
        "lag_blocks": lag,
        "coverage": coverage.to_string(),
        "blocks": coverage.blocks(),
        "journal": view.journal_head(id)?,
        "ingest": served.ingest.as_ref().map(|tell| tell()),
        "redecode": served.redecode.as_ref().map(|tell| tell()),
        "upstreams": served.pool.as_ref().map(|pool| serde_json::to_value(pool.status()).unwrap_or_default()),
    }))
}

/// What was proven of one block.
pub async fn block_status(
    State(app): State<App>,
    Path((chain, number)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let served = app.parts.table.find(&chain).and_then(|c| app.served(c.id));
    let served =
        served.ok_or_else(|| ApiError::NotFound("this chain is not served here".into()))?;
    let parsed = number.parse::<u64>();
    let number =
        parsed.map_err(|_| ApiError::bad_value("number", &number, "is not a block number"))?;
    let view = app.parts.store.view();
    let stamp = view.stamp(served.chain.id, number)?;
    let stamp = stamp.ok_or_else(|| ApiError::NotFound(format!("block {number} is not stored")))?;
    let checks: Vec<_> = stamp.proof.names().collect();
    let body = json!({
        "number": number,
        "hash": stamp.hash.to_string(),
        "timestamp": crate::date::iso_millis_utc(stamp.timestamp),
        "transactions": stamp.tx_count,
        "level": stamp.proof.level().name(),
        "proven": checks,
        "has_traces": stamp.has_traces,
    });
    Ok(json_response(StatusCode::OK, &body))
}

pub async fn metrics(State(app): State<App>) -> Result<Response, ApiError> {
    gateway::off_the_reactor(|| tell_metrics(&app))
}

fn tell_metrics(app: &App) -> Result<Response, ApiError> {
    for table in app.parts.store.table_statistics() {
        metrics::gauge!("headwater_store_table_bytes", "table" => table.name)
            .set(table.disk_bytes as f64);
        metrics::gauge!("headwater_store_table_rows", "table" => table.name).set(table.rows as f64);
    }
    metrics::gauge!("headwater_store_bytes").set(app.parts.store.disk_bytes()? as f64);
    let text = (app.parts.metrics)();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
