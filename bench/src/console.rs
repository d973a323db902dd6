//! (n) What open pages of the console cost ingest: blocks that are all there at once, written with nobody looking and
//! with many overviews open, in turns.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use reqwest::Client;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_TYPE, COOKIE, SET_COOKIE};
use testkit::SimConfig;
use tokio::task::JoinSet;

use crate::ingest_rate::wait_until;
use crate::process::KEY;
use crate::say;
use crate::streams::host::Host;

/// What one login may have open.
const PAGES_PER_LOGIN: usize = 16;
/// How often an overview asks for the status.
const LOOK: Duration = Duration::from_secs(5);
const OURS: (&str, &str) = ("x-headwater-console", "1");

#[derive(Clone, Copy, Default)]
struct Round {
    blocks_per_s: f64,
    cpu_s: f64,
    /// Bytes that the pages were told.
    told: u64,
}

pub async fn run(headwater: &Path, pages: usize, blocks: usize, rounds: usize) -> Result<()> {
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        alone.push(round(headwater, 0, blocks).await?);
        watched.push(round(headwater, pages, blocks).await?);
    }
    let (alone, watched) = (median(alone), median(watched));
    say(&format!(
        "(n) ingest of {blocks} blocks of 150 transactions: {:.0} blocks/s with {pages} pages open ({:.0} KiB told to each), \
         {:.0} without: {:.1} %; processor time of the server {:.2} s and {:.2} s; median of {rounds} rounds each",
        watched.blocks_per_s,
        watched.told as f64 / pages.max(1) as f64 / 1024.0,
        alone.blocks_per_s,
        100.0 * watched.blocks_per_s / alone.blocks_per_s,
        watched.cpu_s,
        alone.cpu_s,
    ))
}

fn median(mut rounds: Vec<Round>) -> Round {
    rounds.sort_by(|a, b| a.blocks_per_s.total_cmp(&b.blocks_per_s));
    rounds.get(rounds.len() / 2).copied().unwrap_or_default()
}

async fn round(headwater: &Path, pages: usize, blocks: usize) -> Result<Round> {
    let config = SimConfig { txs_per_block: 150, wallets: 20_000, ..SimConfig::seeded(5) };
    let host = Host::start(headwater, config).await?;
    let told = Arc::new(AtomicU64::new(0));
    let mut open = JoinSet::new();
    for first in (0..pages).step_by(PAGES_PER_LOGIN) {
        let cookie = log_in(&host.server.url).await?;
        let client = somebody(first / PAGES_PER_LOGIN)?;
        for number in first..pages.min(first + PAGES_PER_LOGIN) {
            let page = (&client, cookie.as_str());
            open_page(&mut open, &host.server.url, page, told.clone()).await?;
            // Spread over the time between two looks, as those of people are.
            let wait = LOOK.mul_f64(number as f64 / pages as f64);
            open.spawn(look(client.clone(), host.server.url.clone(), cookie.clone(), wait));
        }
    }
    host.extend(blocks);
    let (began, cpu_s) = (Instant::now(), host.server.process.usage().cpu_s);
    wait_until(&host.server.url, "sim", host.head() + 1).await?;
    let blocks_per_s = blocks as f64 / began.elapsed().as_secs_f64();
    let cpu_s = host.server.process.usage().cpu_s - cpu_s;
    while let Some(ended) = open.try_join_next() {
        ended??;
    }
    open.shutdown().await;
    host.stop()?;
    Ok(Round { blocks_per_s, cpu_s, told: told.load(Ordering::Relaxed) })
}

/// People come from addresses of their own, each of which may hold so many connections.
fn somebody(number: usize) -> Result<Client> {
    let host = u8::try_from(number + 1)?;
    let address = std::net::Ipv4Addr::new(127, 0, 1, host);
    Ok(Client::builder().local_address(Some(address.into())).build()?)
}

async fn log_in(url: &str) -> Result<String> {
    let body = serde_json::json!({ "key": KEY }).to_string();
    let request = Client::new().post(format!("{url}/console/session")).header(OURS.0, OURS.1);
    let response = request.header(CONTENT_TYPE, "application/json").body(body).send().await?;
    let response = response.error_for_status()?;
    let cookie = response.headers().get(SET_COOKIE).context("no cookie")?.to_str()?;
    Ok(cookie.split(';').next().unwrap_or_default().to_owned())
}

/// Reads until it is dropped.
async fn open_page(
    open: &mut JoinSet<Result<()>>,
    url: &str,
    (client, cookie): (&Client, &str),
    told: Arc<AtomicU64>,
) -> Result<()> {
    let request = client.get(format!("{url}/console/api/events")).header(OURS.0, OURS.1);
    let mut events = request.header(COOKIE, cookie).send().await?.error_for_status()?;
    open.spawn(async move {
        while let Some(piece) = events.chunk().await? {
            told.fetch_add(piece.len() as u64, Ordering::Relaxed);
        }
        anyhow::bail!("the server let a page go")
    });
    Ok(())
}

async fn look(client: Client, url: String, cookie: String, first: Duration) -> Result<()> {
    tokio::time::sleep(first).await;
    loop {
        let request = client.get(format!("{url}/console/api/status")).header(OURS.0, OURS.1);
        let request = request.header(COOKIE, &cookie).header(ACCEPT_ENCODING, "gzip");
        request.send().await?.error_for_status()?.bytes().await?;
        tokio::time::sleep(LOOK).await;
    }
}
