//! (i) A client's answers while strangers by the thousand hold connections, against its answers without them.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use testkit::{Fault, Rule, SharedChain, SimConfig, SimNode, Strangers, shared, write};

use crate::ingest_rate::{blocks_stored, wait_until};
use crate::process::{KEY, Server, resident_mib, serve_under};
use crate::quantile::quantile;
use crate::say;

/// The node keeps every answer about history back for so long, and history is asked for one block at a time, so that it
/// is being filled through the whole storm.
const HISTORY_DELAY: Duration = Duration::from_millis(200);
const HISTORY_PER_SECOND: u64 = 5;
/// A question every so often, as from a page that somebody looks at.
const ASK_EVERY: Duration = Duration::from_millis(20);
/// Of new blocks meanwhile.
const BLOCK_EVERY: Duration = Duration::from_millis(500);
/// From so many addresses; the client has its own.
const ADDRESSES: usize = 200;
/// Longer than that is no answer.
const GIVE_UP: Duration = Duration::from_secs(10);

const ONE_AT_A_TIME: [(&str, &str); 2] =
    [("HEADWATER__INGEST__WORKERS", "1"), ("HEADWATER__INGEST__SEGMENT_BLOCKS", "1")];

#[derive(Default)]
struct Asked {
    times_ms: Vec<f64>,
    /// Attempts that were shed, or broke off, and were made again; their time is part of the answer's.
    again: u64,
}

pub struct StormOptions<'a> {
    pub headwater: &'a Path,
    pub strangers: usize,
    pub lasts: Duration,
    /// As the shell's `ulimit` takes it: `-n 1024`.
    pub file_limit: &'a str,
}

pub async fn run(options: &StormOptions<'_>) -> Result<()> {
    let chain = shared(SimConfig { txs_per_block: 150, ..SimConfig::seeded(5) });
    let quiet_lasts = options.lasts.min(Duration::from_secs(20));
    let history = (quiet_lasts + options.lasts).as_secs() * HISTORY_PER_SECOND;
    write(&chain).extend(history as usize);
    let node = SimNode::start(chain.clone()).await?;
    let slow = node.faults.add(
        Rule::new(Fault::Delay(HISTORY_DELAY))
            .on_blocks(0..=history)
            .on_methods(["eth_getBlockByNumber"]),
    );
    let folder = tempfile::tempdir()?;
    let arguments = ["--rpc".to_owned(), format!("1337={}", node.url())];
    let data = folder.path().join("data");
    let server =
        serve_under(options.file_limit, options.headwater, &data, &arguments, &ONE_AT_A_TIME)
            .await?;
    wait_until(&server.url, "chain-1337", 1).await?;
    let address: SocketAddr = server.url.trim_start_matches("http://").parse()?;
    let quiet = ask(&server, &chain, quiet_lasts).await?;
    let before_mib = resident_mib(&server);
    let before_blocks = blocks_stored(&server.url, "chain-1337").await?;
    let strangers = Strangers::start(address, options.strangers, ADDRESSES);
    let stormy = ask(&server, &chain, options.lasts).await?;
    let (tally, during_mib) = (strangers.tally(), resident_mib(&server));
    drop(strangers);
    let during_blocks = blocks_at_the_end(&server).await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (a, b) = (quantile(&quiet.times_ms, 0.99), quantile(&stormy.times_ms, 0.99));
    let StormOptions { strangers, file_limit, .. } = options;
    say(&format!(
        "(i) {strangers} strangers under ulimit {file_limit}, a question every {} ms: \
         p50 {:.1} ms (quiet {:.1}), p99 {b:.1} ms (quiet {a:.1}, x{:.1}), max {:.1} ms; {} answers, {} attempts again; \
         strangers connected {} times, {} ended by the server; resident {before_mib:.0} MiB before, {during_mib:.0} during, {:.0} after; \
         {before_blocks} blocks stored before, {during_blocks} at the end of it",
        ASK_EVERY.as_millis(),
        quantile(&stormy.times_ms, 0.5),
        quantile(&quiet.times_ms, 0.5),
        b / a,
        quantile(&stormy.times_ms, 1.0),
        stormy.times_ms.len(),
        stormy.again,
        tally.connected,
        tally.ended,
        resident_mib(&server),
    ))?;
    node.faults.remove(slow);
    let head = testkit::read(&chain).head_number();
    wait_until(&server.url, "chain-1337", head + 1).await.context("ingest did not go on")?;
    server.process.stop()
}

/// The first questions after the storm may still be shed.
async fn blocks_at_the_end(server: &Server) -> Result<u64> {
    let began = Instant::now();
    loop {
        match blocks_stored(&server.url, "chain-1337").await {
            Err(_) if began.elapsed() < GIVE_UP => tokio::time::sleep(ASK_EVERY).await,
            other => return other,
        }
    }
}

async fn ask(server: &Server, chain: &SharedChain, lasts: Duration) -> Result<Asked> {
    let url = format!(
        "{}/api/v2.2/{:#x}?chain=1337&limit=25",
        server.url,
        alloy_primitives::Address::ZERO
    );
    let client = reqwest::Client::builder().timeout(GIVE_UP).build()?;
    let (began, mut block, mut asked) = (Instant::now(), Instant::now(), Asked::default());
    while began.elapsed() < lasts {
        if block.elapsed() >= BLOCK_EVERY {
            block = Instant::now();
            write(chain).extend(1);
        }
        let started = Instant::now();
        loop {
            let answer = client.get(&url).header("x-api-key", KEY).send().await;
            let failure = match answer.map(|answer| answer.status()) {
                Ok(status) if status.is_success() => break,
                Ok(status) => status.to_string(),
                Err(error) => format!("{error:#}"),
            };
            asked.again += 1;
            anyhow::ensure!(
                started.elapsed() < GIVE_UP,
                "no answer within {GIVE_UP:?}, {} answers so far, last: {failure}",
                asked.times_ms.len()
            );
        }
        asked.times_ms.push(started.elapsed().as_secs_f64() * 1e3);
        tokio::time::sleep(ASK_EVERY).await;
    }
    asked.times_ms.sort_by(f64::total_cmp);
    Ok(asked)
}
