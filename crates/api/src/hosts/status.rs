//! `/status`: what the server knows of its chains, nodes and store. Open unless `auth.status` says
//! otherwise: it names nodes by label and host, never by URL or key.

use axum::Json;
use axum::extract::State;
use model::proof::Proof;
use serde_json::{Value, json};

use super::Operator;
use crate::admin;
use crate::app::App;
use crate::error::ApiError;
use crate::params::Path;
use crate::readiness::problems;
use crate::served_chain::ServedChain;

pub async fn status(State(app): State<App>, _: Operator) -> Result<Json<Value>, ApiError> {
    let view = app.parts.store.view().await?;
    let mut chains = serde_json::Map::new();
    for served in &app.parts.chains {
        let status = match chain_status(served, &view).await {
            // Its own database is away; those of other chains are not.
            Err(error) if error.is_retryable() => json!({
                "id": served.chain.id.0,
                "error": error.to_string(),
                "ingest": served.ingest.as_ref().map(|status| status()),
            }),
            status => status?,
        };
        chains.insert(served.chain.slug.clone(), status);
    }
    Ok(Json(json!({
        "version": app.parts.version,
        "problems": problems(&app).await,
        "chains": chains,
        "gateway": gateway_status(&app),
        "store": admin::sizes::describe(&app).await?,
    })))
}

/// What the node RPC answered since the process started, by method, and what it keeps of nodes' answers.
fn gateway_status(app: &App) -> Value {
    let forwarder = &app.parts.gateway.forwarder;
    json!({
        "methods": forwarder.counts.status(),
        "cache": { "entries": forwarder.cache_entries(), "bytes": forwarder.cache_bytes() },
        "calls_in_flight": forwarder.calls_in_flight(),
        "bytes_in_flight": app.parts.gateway.bytes_in_flight(),
    })
}

async fn chain_status(served: &ServedChain, view: &store::View) -> Result<Value, store::Error> {
    let id = served.chain.id;
    let coverage = view.coverage(id).await?;
    let head = view.head(id).await?;
    let node_head = served.node_head().map(|head| head.number);
    let lag = node_head.zip(coverage.newest()).map(|(node, ours)| node.saturating_sub(ours));
    let readers = view.readers(id).await?;
    let readers: Vec<Value> = readers.iter().map(admin::readers::describe).collect();
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
        "journal": view.version(id).await?.seq,
        "readers": readers,
        "ingest": served.ingest.as_ref().map(|status| status()),
        "redecode": served.redecode.as_ref().map(|status| status()),
        "upstreams": served.pool.as_ref().map(|pool| serde_json::to_value(pool.status()).unwrap_or_default()),
    }))
}

/// `/status/{chain}/blocks/{number}`: what was proven of one block.
pub async fn block_status(
    State(app): State<App>,
    _: Operator,
    Path((chain, number)): Path<(String, String)>,
) -> Result<Json<Value>, ApiError> {
    let served = app.served_by_name(&chain)?;
    let parsed = number.parse::<u64>();
    let number =
        parsed.map_err(|_| ApiError::bad_value("number", &number, "is not a block number"))?;
    let view = app.parts.store.view().await?;
    let block = view.block_summary(served.chain.id, number).await?;
    let block = block.ok_or_else(|| ApiError::NotFound(format!("block {number} is not stored")))?;
    // No hash covers traces: that they fit the block proves nothing of them.
    let proven: Vec<_> = block.proof.without(Proof::TRACES).names().collect();
    let traces = match (block.has_traces, block.proof.has(Proof::TRACES)) {
        (false, _) => "missing",
        (true, true) => "consistent",
        (true, false) => "unchecked",
    };
    Ok(Json(json!({
        "number": number,
        "hash": block.hash.to_string(),
        "timestamp": crate::date::iso_millis_utc(block.timestamp),
        "transactions": block.tx_count,
        "level": block.proof.level().name(),
        "proven": proven,
        "has_traces": block.has_traces,
        "traces": traces,
        // Pairs of account and block whose balances the state proves, since the process started.
        "accounts_proven": served.audit.as_ref().map(|audit| audit.proven_of(number, block.hash)),
    })))
}
