//! (b) Wallet pages against a bare server that sends the same bytes, (c) a huge wallet against a
//! small one.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bytes::Bytes;

use crate::big_wallet::{build, wallet};
use crate::process::{KEY, Process, free_port, serve, wait_for};
use crate::{load, say};

const CONNECTIONS: usize = 16;
const LASTS: Duration = Duration::from_secs(3);
const ROUNDS: usize = 3;

pub async fn run(headwater: &Path, huge: u64) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    // A huge wallet, a small one, and one of a common size.
    build(folder.path(), &[huge, 100, 2_000]).await?;
    say(&format!(
        "made a store with a wallet of {huge} transactions in {:.0} s",
        start.elapsed().as_secs_f64()
    ))?;
    say("(b) wallet page, requests/s, best of alternated runs")?;
    for (name, cache) in [("cached", "67108864"), ("nothing cached", "0")] {
        let server =
            serve(headwater, folder.path(), &[], &[("HEADWATER__API__ANSWER_CACHE_BYTES", cache)])
                .await?;
        for limit in [25, 100] {
            page(&server.url, limit, name).await?;
        }
        if cache == "0" {
            sizes(&server.url, huge).await?;
        }
        server.process.stop()?;
    }
    Ok(())
}

/// Pages of one engine without cached answers: as many as it gives, and the huge wallet against the small one.
pub async fn compare(url: &str, huge: u64, (engine, seconds): (&str, u64)) -> Result<()> {
    let path = format!("/api/v2.2/{:#x}?chain=eth&limit=25", wallet(2));
    let (address, headers) = (url.trim_start_matches("http://"), format!("x-api-key: {KEY}\r\n"));
    let lasts = Duration::from_secs(seconds);
    let load = load::run(address, &path, &headers, CONNECTIONS, lasts).await?;
    say(&format!(
        "  {engine}: wallet page of 25 rows, nothing cached, {:.0} requests/s",
        load.requests_per_s
    ))?;
    sizes(url, huge).await
}

async fn page(url: &str, limit: u32, name: &str) -> Result<()> {
    let path = format!("/api/v2.2/{:#x}?chain=eth&limit={limit}", wallet(2));
    let headers = format!("x-api-key: {KEY}\r\n");
    let body = reqwest::Client::new()
        .get(format!("{url}{path}"))
        .header("x-api-key", KEY)
        .send()
        .await?
        .bytes()
        .await?;
    let bare = Bare::start(&body).await?;
    let address = url.trim_start_matches("http://");
    let (mut ours, mut theirs) = (0f64, 0f64);
    for _ in 0..ROUNDS {
        ours =
            ours.max(load::run(address, &path, &headers, CONNECTIONS, LASTS).await?.requests_per_s);
        let bare = load::run(&bare.address, "/", "", CONNECTIONS, LASTS).await?;
        theirs = theirs.max(bare.requests_per_s);
        anyhow::ensure!(bare.body_bytes == body.len(), "the bare server sends something else");
    }
    say(&format!(
        "  {limit:3} rows ({:6} bytes), {name:12}  {ours:8.0}/s   bare {theirs:8.0}/s   {:4.0} %",
        body.len(),
        100.0 * ours / theirs
    ))
}

/// The same bytes from a bare axum handler, in a process of its own.
pub struct Bare {
    _process: Process,
    pub address: String,
    _folder: tempfile::TempDir,
}

impl Bare {
    pub async fn start(body: &Bytes) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("body");
        std::fs::write(&file, body)?;
        let address = format!("127.0.0.1:{}", free_port()?);
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("bare").arg(&address).arg(&file).stdout(Stdio::null());
        let process = Process::start(&mut command)?;
        wait_for(&format!("http://{address}")).await?;
        Ok(Bare { _process: process, address, _folder: folder })
    }
}

pub fn bare(address: &str, file: &Path) -> Result<()> {
    let body = Bytes::from(std::fs::read(file)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let handler = move || async move { ([("content-type", "application/json")], body) };
        let router = axum::Router::new().route("/", axum::routing::get(handler));
        Ok(axum::serve(tokio::net::TcpListener::bind(address).await?, router).await?)
    })
}

/// One request at a time, so that time is what one costs.
async fn sizes(url: &str, huge: u64) -> Result<()> {
    say(
        "(c) first page of 100 rows with its total, one request at a time, median, nothing cached",
    )?;
    let questions =
        [("whole history", ""), ("a range of blocks", "&from_block=1&to_block=99999999")];
    for (name, extra) in questions {
        let mut medians = Vec::new();
        for n in [0, 1] {
            let url = format!("{url}/api/v2.2/{:#x}?chain=eth&limit=100{extra}", wallet(n));
            medians.push(median(&url).await?);
        }
        let [big, small] = medians.as_slice() else { continue };
        say(&format!(
            "  {name:18} {huge} rows: {:6.0} us   100 rows: {:6.0} us   {:4.2} x",
            big,
            small,
            big / small
        ))?;
    }
    Ok(())
}

pub async fn median(url: &str) -> Result<f64> {
    let client = reqwest::Client::new();
    let mut times = Vec::new();
    for _ in 0..400 {
        let start = Instant::now();
        let body = client.get(url).header("x-api-key", KEY).send().await?.bytes().await?;
        anyhow::ensure!(!body.is_empty());
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().context("no times")
}
