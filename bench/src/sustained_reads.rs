//! What is asked of a large store: pages of random wallets and of a large one, ranges, pages far down, totals, lookups
//! over node RPC; once with the system's page cache dropped, once with it warm. Every question is asked once, nothing is kept, and
//! by a client that costs next to nothing itself: what is measured is the server.

use std::collections::HashMap;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::load::Connection;
use crate::process::{KEY, Server};
use crate::quantile::quantile;
use crate::say;

const WALLETS: usize = 400;
/// Blocks from which wallets and hashes are taken, evenly apart.
const SAMPLED_BLOCKS: u64 = 100;

/// What there is to ask for.
struct Known {
    wallets: Vec<String>,
    busiest: String,
    /// Of transactions: block and place in it.
    places: Vec<(u64, usize)>,
}

pub async fn run(node: &str, server: &Server, blocks: u64) -> Result<()> {
    let client = reqwest::Client::new();
    let known = sample(&client, node, blocks).await?;
    let half = blocks / 2;
    let page = |wallet: &str, more: &str| format!("/api/v2.2/{wallet}?chain=eth&limit=25{more}");
    let mut connection = Connection::open(server.url.trim_start_matches("http://")).await?;
    let of_wallets = |more: &str| known.wallets.iter().map(|it| page(it, more)).collect::<Vec<_>>();
    let range = format!("&from_block={}&to_block={}", half / 2, half);
    let ranges: Vec<String> = (0..SAMPLED_BLOCKS)
        .map(|i| {
            page(&known.busiest, &format!("&from_block={}&to_block={}", i * 7 + 1, half + i * 11))
        })
        .collect();
    let questions = [
        ("random wallets, first page", of_wallets("")),
        ("random wallets, a range", of_wallets(&range)),
        ("the largest wallet, ranges", ranges),
    ];
    for (name, urls) in questions {
        for cold in [true, false] {
            if cold && !drop_page_cache() {
                say(&format!("  {name}: the page cache could not be dropped"))?;
                continue;
            }
            let mut times = Vec::new();
            for url in &urls {
                let request = get(url);
                let start = Instant::now();
                connection.ask(&request).await?;
                times.push(ms_since(start));
            }
            tell(name, cold, times)?;
        }
    }
    deep(&mut connection, &page(&known.busiest, "")).await?;
    lookups(&mut connection, &known).await
}

fn get(url: &str) -> Vec<u8> {
    format!("GET {url} HTTP/1.1\r\nhost: bench\r\nx-api-key: {KEY}\r\n\r\n").into_bytes()
}

fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn tell(name: &str, cold: bool, mut times: Vec<f64>) -> Result<()> {
    times.sort_by(f64::total_cmp);
    let at = |share| quantile(&times, share);
    let state = if cold { "page cache dropped" } else { "page cache warm" };
    say(&format!(
        "  {name:28} {state:18} p50 {:7.2} ms  p95 {:7.2} ms  p99 {:7.2} ms  worst {:7.2} ms",
        at(0.5),
        at(0.95),
        at(0.99),
        at(1.0)
    ))
}

/// One page after the other, as far as there are some.
async fn deep(connection: &mut Connection, url: &str) -> Result<()> {
    let (mut times, mut next) = (Vec::new(), url.to_owned());
    for _ in 0..200 {
        let request = get(&next);
        let start = Instant::now();
        let answer = connection.ask(&request).await?;
        times.push(ms_since(start));
        let answer: Value = serde_json::from_slice(answer)?;
        let Some(cursor) = answer.get("cursor").and_then(Value::as_str) else { break };
        next = format!("{url}&cursor={cursor}");
    }
    tell("the largest wallet, paged", false, times)
}

async fn lookups(connection: &mut Connection, known: &Known) -> Result<()> {
    for cold in [true, false] {
        if cold && !drop_page_cache() {
            continue;
        }
        let mut times = Vec::new();
        for (number, index) in &known.places {
            let params = json!([format!("{number:#x}"), format!("{index:#x}")]);
            let body = call_of("eth_getTransactionByBlockNumberAndIndex", params).to_string();
            let head = format!(
                "POST /eth/{KEY} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let request = head + &body;
            let start = Instant::now();
            let answer = connection.ask(request.as_bytes()).await?;
            times.push(ms_since(start));
            let answer: Value = serde_json::from_slice(answer)?;
            anyhow::ensure!(answer.pointer("/result/hash").is_some(), "{answer}");
        }
        tell("node RPC, one transaction", cold, times)?;
    }
    Ok(())
}

async fn sample(client: &reqwest::Client, node: &str, blocks: u64) -> Result<Known> {
    let (mut seen, mut places) = (HashMap::<String, u64>::new(), Vec::new());
    for i in 0..SAMPLED_BLOCKS {
        let number = 1 + i * (blocks.saturating_sub(1)) / SAMPLED_BLOCKS;
        let params = json!([format!("{number:#x}"), true]);
        let answer = call(client, node, "eth_getBlockByNumber", params).await?;
        let txs = answer.pointer("/result/transactions").and_then(Value::as_array);
        for (index, tx) in txs.context("no transactions")?.iter().enumerate() {
            for party in ["from", "to"] {
                if let Some(address) = tx.get(party).and_then(Value::as_str) {
                    *seen.entry(address.to_owned()).or_default() += 1;
                }
            }
            places.push((number, index));
        }
    }
    let busiest = seen.iter().max_by_key(|(_, count)| **count).context("no wallet")?.0.clone();
    let mut wallets: Vec<String> = seen.into_keys().filter(|it| *it != busiest).collect();
    wallets.sort();
    let every = |all: usize, wanted: usize| (all / wanted.max(1)).max(1);
    let step = every(wallets.len(), WALLETS);
    let wallets = wallets.into_iter().step_by(step).take(WALLETS).collect();
    let step = every(places.len(), WALLETS);
    let places = places.into_iter().step_by(step).take(WALLETS).collect();
    Ok(Known { wallets, busiest, places })
}

async fn call(client: &reqwest::Client, url: &str, method: &str, params: Value) -> Result<Value> {
    let request = client.post(url).header("content-type", "application/json");
    let body = call_of(method, params).to_string();
    let answer = request.body(body).send().await?.bytes().await?;
    Ok(serde_json::from_slice(&answer)?)
}

fn call_of(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// False where this process may not.
fn drop_page_cache() -> bool {
    let _ = std::process::Command::new("sync").status();
    std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok()
}
