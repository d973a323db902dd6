//! What each node of a chain is good for.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::chain::Chain;
use rpc::{NodeFindings, NodeOutcome, NodeReport, Subscription, Traces};

use super::finding::Notes;
use crate::config::ChainSection;

/// Slower than this for the smallest question, and the head comes late.
const LATENCY_MS_MAX: f64 = 500.0;
/// A head may be so far from this machine's clock, beside some blocks of the chain.
const CLOCK_S: u64 = 30;
const LATE_BLOCKS: u64 = 10;

/// What is expected of the nodes of a chain.
pub struct Wanted<'a> {
    pub name: &'a str,
    pub chain: &'a Chain,
    pub section: &'a ChainSection,
    /// Internal transactions are wanted (`ingest.traces`).
    pub traces: bool,
    pub now: SystemTime,
}

pub fn notes(wanted: &Wanted<'_>, report: &NodeReport) -> Notes {
    let shown =
        if report.name == report.url { String::new() } else { format!(" ({})", report.url) };
    let mut notes = Notes::new(format!("node {} {}{shown}", wanted.name, report.name));
    match &report.outcome {
        NodeOutcome::Unreachable { why } => notes.wrong(
            "reachable",
            why,
            "see that the node runs, that its HTTP API is on (geth: --http), and that the URL is right",
        ),
        NodeOutcome::Useless { why } => notes.wrong(
            "reachable",
            why,
            "the URL must be that of an EVM node's JSON-RPC, with the eth methods allowed",
        ),
        NodeOutcome::WrongChain { got } => notes.wrong(
            "chain",
            format!("it serves chain {got}, not {} ({})", wanted.chain.id.0, wanted.chain.slug),
            format!("name it under the chain that it serves: --rpc {got}=URL, or [chains.{got}]"),
        ),
        NodeOutcome::Usable(found) => usable(wanted, found, &mut notes),
    }
    notes
}

fn usable(wanted: &Wanted<'_>, found: &NodeFindings, notes: &mut Notes) {
    let client = &found.capabilities.client;
    let client = if client.is_empty() { "a node that does not say what it is" } else { client };
    notes.good("reachable", client);
    notes.good("chain", format!("{} ({})", wanted.chain.id.0, wanted.chain.name));
    head(wanted, found, notes);
    if wanted.section.ingest.is_on() {
        history(wanted, found, notes);
        if wanted.traces {
            traces(found, notes);
        }
    }
    archive(found, notes);
    batches(found, notes);
    speed(wanted, found, notes);
    match &found.subscription {
        Some(Subscription::Works) => notes.good("socket", "tells new heads"),
        Some(Subscription::Fails { why }) => notes.warning(
            "socket",
            format!("does not tell new heads: {why}"),
            "heads are polled instead; check ws_url (geth: --ws)",
        ),
        None => {}
    }
}

/// Also what the machine's clock is held against.
fn head(wanted: &Wanted<'_>, found: &NodeFindings, notes: &mut Notes) {
    let number = found.head.number;
    let at = UNIX_EPOCH + Duration::from_secs(found.head.timestamp);
    let late = CLOCK_S + LATE_BLOCKS * wanted.chain.block_time_ms / 1000;
    match wanted.now.duration_since(at) {
        Err(ahead) if ahead.duration().as_secs() > CLOCK_S => notes.wrong(
            "clock",
            format!("head {number} is {} s in the future", ahead.duration().as_secs()),
            "set this machine's clock (timedatectl set-ntp true); a dev chain whose time was moved on does that, too",
        ),
        Ok(age) if age.as_secs() > late => notes.warning(
            "head",
            format!("head {number} is {} s old", age.as_secs()),
            "wait until the node is in sync; else this machine's clock is ahead",
        ),
        Ok(age) => notes.good("head", format!("{number}, {} s old", age.as_secs())),
        Err(_) => notes.good("head", format!("{number}, just now")),
    }
}

fn history(wanted: &Wanted<'_>, found: &NodeFindings, notes: &mut Notes) {
    let (oldest, from) = (found.capabilities.oldest_block, wanted.section.from_block.unwrap_or(0));
    if oldest <= from {
        return notes.good("blocks", format!("has all from {from} on"));
    }
    let text = format!("has blocks from {oldest} on; history is wanted from {from}");
    let todo = format!(
        "set [chains.{}] from_block = {oldest}, or add a node with whole history",
        wanted.name
    );
    notes.warning("blocks", text, todo);
}

fn traces(found: &NodeFindings, notes: &mut Notes) {
    let able = &found.capabilities;
    let method = match able.traces {
        Traces::DebugTraceBlock => "debug_traceBlockByNumber",
        Traces::TraceBlock => "trace_block",
        Traces::None => {
            let why = found.trace_failure.as_deref().unwrap_or("they are switched off for it");
            let todo = "internal transactions will be missing: allow debug or trace methods (geth: --http.api eth,net,web3,debug; \
                        erigon, reth: trace), or add a node that has them";
            return notes.warning("traces", format!("none: {why}"), todo);
        }
    };
    match &found.trace_failure {
        Some(why) => notes.warning(
            "traces",
            format!("by {method}, not as they should be: {why}"),
            "the server asks again by itself; look at the node's log if it stays so",
        ),
        None if !able.traces_old_blocks => notes.warning(
            "traces",
            format!("by {method}, of recent blocks alone"),
            "old blocks will lack internal transactions; an archive node has them",
        ),
        None => notes.good("traces", format!("by {method}, of old blocks, too")),
    }
}

fn archive(found: &NodeFindings, notes: &mut Notes) {
    match found.keeps_old_state {
        Some(true) => notes.good("archive", "has old state"),
        Some(false) => notes.warning(
            "archive",
            "has recent state alone",
            "enough for blocks and new prices; calls and prices at old blocks, and audits of them, need an archive node",
        ),
        None => notes.warning(
            "archive",
            "gave no clear answer about old state",
            "ask it yourself: eth_getBalance at an old block",
        ),
    }
}

fn batches(found: &NodeFindings, notes: &mut Notes) {
    let (asked, takes) = (found.batch_asked, found.batch_max);
    if takes >= asked {
        notes.good("batches", format!("takes {asked} calls in one request"));
    } else {
        let todo = format!("works; max_batch = {takes} for this node spares it the refusals");
        notes.warning("batches", format!("takes {takes} calls in one request, not {asked}"), todo);
    }
}

fn speed(wanted: &Wanted<'_>, found: &NodeFindings, notes: &mut Notes) {
    let latency = found.latency_ms;
    let rate = match found.blocks_per_second {
        Some(rate) => format!("{rate} blocks with receipts per second on one connection"),
        None => "its blocks could not be timed".to_owned(),
    };
    let text = format!("{latency} ms for a small question, {rate}");
    let pace = 1000.0 / wanted.chain.block_time_ms.max(1) as f64;
    if latency > LATENCY_MS_MAX || found.blocks_per_second.is_some_and(|rate| rate < pace) {
        notes.warning(
            "speed",
            text,
            "a node nearby is faster; history will take long with this one",
        );
    } else {
        notes.good("speed", text);
    }
}
