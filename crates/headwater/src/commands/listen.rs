//! `headwater listen`: a small receiver of webhooks, to try a stream in a minute. It takes everything, checks what
//! can be checked, and prints it.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use model::printable;
use streams::receive::{ReceivedRequest, ReceiverLog, Reception};

use super::run_async;
use super::signals::stop_asked;
use crate::cli::ListenArgs;
use crate::say;

/// More than any server sends by default.
const BODY_BYTES_MAX: usize = 256 << 20;
/// Holes shown in a line.
const HOLES_SHOWN: usize = 5;

struct Receiver {
    log: Mutex<ReceiverLog>,
    /// Of all requests, this share is answered with 500.
    fail: f64,
    is_quiet: bool,
    is_terminal: bool,
}

pub fn run(args: &ListenArgs) -> Result<ExitCode> {
    ensure!((0.0..=1.0).contains(&args.fail), "--fail {}: give a share from 0 to 1", args.fail);
    let secret = args.secret.as_deref().map(streams::signature::secret_of);
    let receiver = Arc::new(Receiver {
        log: Mutex::new(ReceiverLog::new(secret)),
        fail: args.fail,
        is_quiet: args.quiet,
        is_terminal: std::io::stdout().is_terminal(),
    });
    run_async(async {
        let stop = stop_asked()?;
        let listener = tokio::net::TcpListener::bind(&args.listen).await;
        let listener = listener.with_context(|| format!("cannot listen on {}", args.listen))?;
        say(&format!("headwater waits for webhooks on http://{}", listener.local_addr()?))?;
        if args.secret.is_none() {
            say(
                "without --secret signatures are not checked (GET /settings shows it as secretKey)",
            )?;
        }
        let service = axum::Router::new()
            .fallback(receive)
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .with_state(receiver);
        tokio::select! {
            served = axum::serve(listener, service).into_future() => served?,
            () = stop => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn receive(
    State(receiver): State<Arc<Receiver>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, &'static str) {
    if rand::random::<f64>() < receiver.fail {
        let number = headers.get("x-sequence").and_then(|value| value.to_str().ok()).unwrap_or("-");
        receiver.print(&format!("{}  answered 500, as --fail asks for", label(number)), None);
        return (StatusCode::INTERNAL_SERVER_ERROR, "failed on purpose");
    }
    let header = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let request = ReceivedRequest { header: &header, body: &body, now_s };
    let reception = receiver.log.lock().unwrap_or_else(PoisonError::into_inner).take(&request);
    receiver.print(&line(&reception), Some(&body));
    (StatusCode::OK, "")
}

impl Receiver {
    fn print(&self, line: &str, body: Option<&[u8]>) {
        let payload = body.filter(|_| !self.is_quiet).map(|body| self.payload(body));
        let text = payload.map_or_else(|| line.to_owned(), |payload| format!("{line}\n{payload}"));
        // Whoever reads no more of it has still got an answer.
        let _ = say(&text);
    }

    /// As it came; for people, indented.
    fn payload(&self, body: &[u8]) -> String {
        let json =
            serde_json::from_slice::<serde_json::Value>(body).ok().filter(|_| self.is_terminal);
        let pretty = json.and_then(|json| serde_json::to_string_pretty(&json).ok());
        pretty.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned())
    }
}

fn label(number: &str) -> String {
    format!("#{}", printable(number, 20))
}

/// What came and whether it holds, in one line.
fn line(reception: &Reception) -> String {
    let summary = &reception.summary;
    let mut parts = Vec::new();
    match reception.sequence {
        Some(seq) => parts.push(label(&seq.to_string())),
        None if summary.stream_id.is_empty() => parts.push("test call".to_owned()),
        None => parts.push("without a number".to_owned()),
    }
    if !summary.block.number.is_empty() {
        let state = match (summary.retracted, summary.confirmed) {
            (true, _) => "retracted",
            (false, true) => "confirmed",
            (false, false) => "unconfirmed",
        };
        let (chain, block) =
            (printable(&summary.chain_id, 20), printable(&summary.block.number, 20));
        parts.push(format!("chain {chain} block {block} {state}"));
        let (txs, logs, internal) = (summary.txs, summary.logs, summary.txs_internal);
        parts.push(format!("{txs} txs, {logs} logs, {internal} internal"));
    }
    if !summary.tag.is_empty() {
        parts.push(format!("tag {}", printable(&summary.tag, 60)));
    }
    if summary.retries > 0 {
        parts.push(format!("retry {}", summary.retries));
    }
    if reception.is_repeated {
        parts.push("came before".to_owned());
    }
    if !reception.holes.is_empty() {
        parts.push(format!("missing {}", holes(reception)));
    }
    let problems = reception.problems.iter().map(|problem| format!("PROBLEM: {problem}"));
    parts.extend(problems);
    parts.join("  ")
}

fn holes(reception: &Reception) -> String {
    let one = |hole: &std::ops::RangeInclusive<u64>| {
        let (first, last) = (hole.start(), hole.end());
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let mut shown: Vec<String> = reception.holes.iter().take(HOLES_SHOWN).map(one).collect();
    if reception.holes.len() > HOLES_SHOWN {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
