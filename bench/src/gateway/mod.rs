//! (j) The node RPC against nginx in the same run: calls that are forwarded against `proxy_pass`, blocks that are cached
//! against `proxy_cache` of the same bytes.
//!
//! The node behind both is one of a few lines. Rounds take turns, so that whatever else the machine does hits both.

mod calls;
mod client;
mod nginx;
mod node;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::process::{KEY, serve};
use crate::quantile::quantile;
use crate::say;
use calls::Calls;
use client::{Load, load};
use nginx::Nginx;
use node::Node;

const CONNECTIONS: usize = 32;
const CHAIN_ID: u64 = 1337;

pub struct GatewayOptions<'a> {
    pub headwater: &'a Path,
    pub nginx: &'a Path,
    pub blocks: usize,
    pub rounds: usize,
    pub seconds: u64,
}

/// One way to the node.
struct Way {
    name: &'static str,
    address: String,
    path: String,
}

pub async fn run(options: &GatewayOptions<'_>) -> Result<()> {
    let node = Node::start(options.blocks).await?;
    let folder = tempfile::tempdir()?;
    let nginx = Nginx::start(options.nginx, folder.path(), &node.address).await?;
    let config = folder.path().join("headwater.toml");
    let text = format!(
        "[chains.{CHAIN_ID}]\nupstreams = [{{ url = \"http://{}\", max_concurrency = 64 }}]\ningest = \"off\"\nverification = \"full\"\n",
        node.address
    );
    std::fs::write(&config, text)?;
    let arguments = ["--config".to_owned(), config.display().to_string()];
    let server = serve(options.headwater, &folder.path().join("data"), &arguments, &[]).await?;
    let address = server.url.trim_start_matches("http://").to_owned();
    let ours = Way { name: "headwater", address, path: format!("/{CHAIN_ID:#x}/{KEY}") };
    let proxy = Way { name: "nginx", address: nginx.address.clone(), path: "/proxy".into() };
    let cache = Way { name: "nginx", address: nginx.address.clone(), path: "/cache".into() };
    wait_until_forwarding(&ours).await?;
    say(
        "| what | headwater req/s | nginx req/s | ratio | headwater p99 ms | nginx p99 ms | ratio |",
    )?;
    say("|---|---|---|---|---|---|---|")?;
    compare("forwarded eth_call", &Calls::distinct(), [&ours, &proxy], options).await?;
    let one = Calls::blocks(node.hashes.get(..1).unwrap_or_default());
    compare("cached block, one", &one, [&ours, &cache], options).await?;
    let all = Calls::blocks(&node.hashes);
    for way in [&ours, &cache] {
        client::each_once(&way.address, &way.path, &all, CONNECTIONS).await?;
    }
    let what = format!("cached block, {} distinct", node.hashes.len());
    compare(&what, &all, [&ours, &cache], options).await?;
    compare("the same, each with its own id", &all.with_ids(), [&ours, &cache], options).await?;
    server.process.stop()?;
    nginx.process.stop()
}

async fn wait_until_forwarding(ours: &Way) -> Result<()> {
    for _ in 0..200 {
        let tried =
            load(&ours.address, &ours.path, &Calls::distinct(), 1, Duration::from_millis(50)).await;
        if tried.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    anyhow::bail!("{} does not forward", ours.name)
}

async fn compare(
    what: &str,
    calls: &Calls,
    ways: [&Way; 2],
    options: &GatewayOptions<'_>,
) -> Result<()> {
    let lasts = Duration::from_secs(options.seconds);
    let mut loads: [Vec<Load>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..options.rounds {
        for (way, loads) in ways.iter().zip(&mut loads) {
            loads.push(load(&way.address, &way.path, calls, CONNECTIONS, lasts).await?);
        }
    }
    let [ours, theirs] = &loads;
    let of =
        |loads: &[Load], value: fn(&Load) -> f64| loads.iter().map(value).collect::<Vec<f64>>();
    let lines = [|load: &Load| load.requests_per_s, |load: &Load| load.p99_ms].map(|value| {
        let (ours, theirs) = (of(ours, value), of(theirs, value));
        // A round and the one beside it see the same machine; rounds far apart often do not.
        let ratios = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
        (median(ours), median(theirs), median(ratios))
    });
    let [(our_rate, their_rate, rate_ratio), (our_p99, their_p99, p99_ratio)] = lines;
    say(&format!(
        "| {what} | {our_rate:.0} | {their_rate:.0} | {rate_ratio:.2} | {our_p99:.2} | {their_p99:.2} | {p99_ratio:.2} |"
    ))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}
