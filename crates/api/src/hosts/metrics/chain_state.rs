//! How each chain stands: its head and the nodes', history, journal readers, nodes.

use rpc::{State, UpstreamStatus};
use serde_json::Value;

use super::exposition::{Exposition, Metric};
use crate::app::App;
use crate::served_chain::ServedChain;

const HEAD: Metric = ("headwater_indexed_head", "Number of the newest stored block.");
const HEAD_TIME: Metric =
    ("headwater_indexed_head_timestamp_seconds", "When the newest stored block was made.");
const NODE_HEAD: Metric =
    ("headwater_node_head", "Number of the newest block that the chain's nodes know.");
const LAG: Metric =
    ("headwater_head_lag_blocks", "How many blocks the store is behind the nodes' head.");
const READABLE: Metric =
    ("headwater_chain_readable", "Whether the database that holds the chain can be read: 1 or 0.");
const STORED: Metric = ("headwater_stored_blocks", "Blocks that are stored.");
const JOURNAL: Metric = ("headwater_journal_seq", "Sequence of the journal's newest entry.");
const READER_LAG: Metric =
    ("headwater_reader_lag_blocks", "How many blocks a journal reader is behind the head.");
const MISSING: Metric =
    ("headwater_history_missing_blocks", "Blocks below the head that are still to be filled.");
const HISTORY_END: Metric = (
    "headwater_history_end_block",
    "The oldest block that any node has, where that is above the block to fill down to.",
);
const RESTARTS: Metric = (
    "headwater_ingest_restarts_total",
    "How often a task of the chain's ingest was started again.",
);
const REDECODE_LEFT: Metric =
    ("headwater_redecode_left_blocks", "Stored blocks that are still to be decoded again.");
const UP: Metric = ("headwater_upstream_up", "Whether a node is in use: 1, or left out: 0.");
const STATE: Metric = ("headwater_upstream_state", "1 for the state that a node is in.");
const UPSTREAM_HEAD: Metric = ("headwater_upstream_head", "Number of the node's newest block.");
const UPSTREAM_LAG: Metric =
    ("headwater_upstream_lag_blocks", "How many blocks a node is behind the best one.");
const EVIDENCE: Metric = (
    "headwater_upstream_evidence_total",
    "How often a node was caught with what cannot be true, or announced a block that it did not give.",
);
const IN_FLIGHT: Metric = ("headwater_upstream_in_flight", "Requests to a node under way.");
const WAITING: Metric =
    ("headwater_upstream_waiting", "Requests that wait for their turn at a node.");

/// What the store says, and ingest.
pub async fn look(app: &App) -> Result<Exposition, store::Error> {
    let mut out = Exposition::default();
    let view = app.parts.store.view().await?;
    for served in &app.parts.chains {
        let of_chain = [("chain", served.chain.slug.as_str())];
        match look_at(served, &view, &mut out).await {
            Ok(()) => out.gauge(READABLE, &of_chain, 1.0),
            // Its own database is away; those of other chains are not.
            Err(error) if error.is_retryable() => out.gauge(READABLE, &of_chain, 0.0),
            Err(error) => return Err(error),
        }
    }
    Ok(out)
}

async fn look_at(
    served: &ServedChain,
    view: &store::View,
    out: &mut Exposition,
) -> Result<(), store::Error> {
    let (id, chain) = (served.chain.id, served.chain.slug.as_str());
    let coverage = view.coverage(id).await?;
    let of_chain = [("chain", chain)];
    if let Some(head) = view.head(id).await? {
        out.gauge(HEAD, &of_chain, head.number as f64);
        out.gauge(HEAD_TIME, &of_chain, head.timestamp as f64);
    }
    // Nothing stored is all of it behind. A chain that is only forwarded is never behind.
    let is_stored = coverage.newest().is_some() || is_ingested(served);
    if let Some(head) = served.node_head().filter(|_| is_stored) {
        let ours = coverage.newest().map_or(0, |newest| newest + 1);
        out.gauge(LAG, &of_chain, (head.number + 1).saturating_sub(ours) as f64);
    }
    out.gauge(STORED, &of_chain, coverage.blocks() as f64);
    out.gauge(JOURNAL, &of_chain, view.version(id).await?.seq as f64);
    for reader in view.readers(id).await? {
        let labels = [("chain", chain), ("reader", reader.name.as_str())];
        out.gauge(READER_LAG, &labels, reader.lag_blocks as f64);
    }
    Ok(())
}

fn is_ingested(served: &ServedChain) -> bool {
    served.ingest.as_ref().is_some_and(|status| status().is_object())
}

/// What needs no store: nodes, and what ingest and redecoding say of themselves.
pub fn upstreams(app: &App, out: &mut Exposition) {
    for served in &app.parts.chains {
        let chain = served.chain.slug.as_str();
        if let Some(head) = served.node_head() {
            out.gauge(NODE_HEAD, &[("chain", chain)], head.number as f64);
        }
        if let Some(ingest) = &served.ingest {
            of_ingest(&ingest(), chain, out);
        }
        if let Some(redecode) = &served.redecode {
            of_redecode(&redecode(), chain, out);
        }
        let Some(pool) = &served.pool else { continue };
        for upstream in pool.status().upstreams {
            of_upstream(&upstream, chain, out);
        }
    }
}

fn of_ingest(status: &Value, chain: &str, out: &mut Exposition) {
    let number = |name: &str| status.get(name).and_then(Value::as_f64);
    for (metric, name) in [(MISSING, "blocks_missing"), (HISTORY_END, "history_ends_at")] {
        if let Some(value) = number(name) {
            out.gauge(metric, &[("chain", chain)], value);
        }
    }
    if let Some(restarts) = number("restarts") {
        out.counter(RESTARTS, &[("chain", chain)], restarts);
    }
}

fn of_redecode(status: &Value, chain: &str, out: &mut Exposition) {
    let number = |name: &str| status.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    out.gauge(REDECODE_LEFT, &[("chain", chain)], number("blocks_total") - number("blocks_done"));
}

fn of_upstream(status: &UpstreamStatus, chain: &str, out: &mut Exposition) {
    let labels = [("chain", chain), ("upstream", status.name.as_str())];
    let is_up = matches!(status.state, State::Healthy | State::RateLimited);
    out.gauge(UP, &labels, f64::from(u8::from(is_up)));
    let [of_chain, upstream] = labels;
    let state = serde_json::to_value(status.state).unwrap_or_default();
    let state = state.as_str().unwrap_or("unknown");
    out.gauge(STATE, &[of_chain, upstream, ("state", state)], 1.0);
    out.counter(EVIDENCE, &labels, status.evidence_total as f64);
    out.gauge(IN_FLIGHT, &labels, status.in_flight as f64);
    out.gauge(WAITING, &labels, status.waiting as f64);
    if let Some(head) = &status.head {
        out.gauge(UPSTREAM_HEAD, &labels, head.number as f64);
    }
    if let Some(lag) = status.lag_blocks {
        out.gauge(UPSTREAM_LAG, &labels, lag as f64);
    }
}
