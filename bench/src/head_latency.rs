//! (e) From a block's birth at the node to its rows in an answer: while nothing else happens, and while the history of
//! another chain is filled as fast as it goes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use testkit::{SimConfig, SimNode, shared, write};

use crate::ingest_rate::{blocks_stored, generator, wait_until};
use crate::process::{KEY, serve};
use crate::say;

const HISTORY: usize = 50;

#[derive(clap::Args)]
pub struct Arguments {
    #[arg(long)]
    headwater: PathBuf,
    #[arg(long, default_value_t = 200)]
    blocks: usize,
    /// The rig's generator, and the folder of a chain that it made: the same again while that is filled
    #[arg(long, requires = "chain")]
    synthchain: Option<PathBuf>,
    #[arg(long)]
    chain: Option<PathBuf>,
}

pub async fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { headwater, blocks, synthchain, chain } = arguments;
    follow(headwater, *blocks, None).await?;
    let Some((program, chain)) = synthchain.as_ref().zip(chain.as_ref()) else { return Ok(()) };
    let (node, _generator) = generator(program, chain).await?;
    follow(headwater, *blocks, Some(&node)).await
}

/// `history` is a node of another chain.
async fn follow(headwater: &Path, blocks: usize, history: Option<&str>) -> Result<()> {
    let chain =
        shared(SimConfig { txs_per_block: 150, render_ahead: true, ..SimConfig::seeded(5) });
    write(&chain).extend(HISTORY);
    let node = SimNode::start(chain.clone()).await?;
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("config.toml");
    let section = format!(
        "[chains.sim]\nid = 1337\nupstreams = [{{ url = \"{}\", ws_url = \"{}\" }}]\n",
        node.url(),
        node.ws_url()
    );
    std::fs::write(&config, section)?;
    let mut arguments = vec!["--config".to_owned(), config.display().to_string()];
    if let Some(node) = history {
        let more = ["--rpc", &format!("eth={node}"), "--from-block", "eth=1"];
        arguments.extend(more.map(str::to_owned));
    }
    let server = serve(headwater, &folder.path().join("data"), &arguments, &[]).await?;
    wait_until(&server.url, "sim", HISTORY as u64 + 1).await?;
    let client = reqwest::Client::new();
    let url =
        format!("{}/api/v2.2/{:#x}?chain=sim&limit=1", server.url, alloy_primitives::Address::ZERO);
    let mut times = Vec::new();
    let (began, filled_before) = (Instant::now(), filled(&server.url, history).await?);
    for _ in 0..blocks {
        tokio::time::sleep(Duration::from_millis(150)).await;
        let number = {
            let mut chain = write(&chain);
            chain.extend(1);
            chain.head_number()
        };
        // The block is made and announced when `extend` returns.
        let born = Instant::now();
        while newest(&client, &url).await? < number {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        times.push(born.elapsed().as_secs_f64() * 1e3);
    }
    let filled = filled(&server.url, history).await?.saturating_sub(filled_before);
    let beside = match history {
        Some(_) => {
            let rate = filled as f64 / began.elapsed().as_secs_f64();
            format!(", while history is filled at {rate:.0} blocks/s")
        }
        None => String::new(),
    };
    times.sort_by(f64::total_cmp);
    let at =
        |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN);
    say(&format!(
        "(e) head to answer, {blocks} blocks of 150 transactions with traces{beside}: p50 {:.1} ms, p99 {:.1} ms",
        at(0.5),
        at(0.99)
    ))?;
    server.process.stop()
}

async fn filled(server: &str, history: Option<&str>) -> Result<u64> {
    match history {
        Some(_) => blocks_stored(server, "eth").await,
        None => Ok(0),
    }
}

async fn newest(client: &reqwest::Client, url: &str) -> Result<u64> {
    let response = client.get(url).header("x-api-key", KEY).send().await?;
    let ranges =
        response.headers().get("x-indexed-blocks").context("no coverage header")?.to_str()?;
    let last = ranges.rsplit('-').next().unwrap_or_default();
    Ok(last.parse().unwrap_or(0))
}
