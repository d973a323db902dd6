//! `headwater demo`: everything in one process on a simulated chain that goes on living.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use testkit::{SharedChain, SimConfig, SimNode, read, shared, write};

use super::demo_stream::{DemoStream, Watch};
use super::signals::stop_asked;
use crate::cli::{DemoArgs, Role};
use crate::config::{ChainSection, Flags, Settings};
use crate::server::Server;
use crate::{say, telemetry};

const CHAIN: &str = "demo";
const CHAIN_ID: u64 = 1337;
/// Blocks before the head at which the demo's stream begins.
const STREAM_BLOCKS: u64 = 20;
const BLOCK_TIME_S: u64 = 2;
const NFT_SALES_PER_BLOCK: usize = 2;
/// Every so many blocks the last one or two are replaced, as happens on real chains.
const REORG_EVERY: u64 = 15;

pub fn run(args: &DemoArgs) -> Result<ExitCode> {
    let folder = std::env::temp_dir().join(format!("headwater-demo-{}", std::process::id()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(demo(args, &folder));
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map(|()| ExitCode::SUCCESS)
}

async fn demo(args: &DemoArgs, folder: &std::path::Path) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let chain = shared(SimConfig {
        chain_id: CHAIN_ID,
        start_time: now.saturating_sub(args.blocks as u64 * BLOCK_TIME_S),
        block_time_s: BLOCK_TIME_S,
        nft_sales_per_block: NFT_SALES_PER_BLOCK,
        ..SimConfig::seeded(args.seed)
    });
    write(&chain).extend(args.blocks);
    let node = SimNode::start(chain.clone()).await.context("cannot start the simulated node")?;
    let key = api::keys::fresh();
    let settings = settings(args, folder, &node, &key)?;
    telemetry::logs(&settings.log)?;
    let stop = stop_asked()?;
    let server = Server::start(&settings, Role::All).await?;
    wait_until_filled(&server).await;
    let address = server.addresses.first().context("no listener")?;
    let url = format!("http://{address}");
    let watch = {
        let chain = read(&chain);
        let from_block = chain.head_number().saturating_sub(STREAM_BLOCKS);
        Watch { chain_id: CHAIN_ID, address: named(&chain, "exchange"), from_block }
    };
    let stream = DemoStream::start(&url, &key, watch).await?;
    greet(&chain, &url, &key, &stream)?;
    tokio::select! {
        () = live(chain) => {}
        () = stop => {}
    }
    server.stop().await
}

fn settings(
    args: &DemoArgs,
    folder: &std::path::Path,
    node: &SimNode,
    key: &str,
) -> Result<Settings> {
    let flags = Flags { listen: Some(args.listen.clone()), ..Flags::default() };
    let mut settings = Settings::load_with(&flags, std::iter::empty())?;
    settings.store.path = folder.to_owned();
    settings.auth.bootstrap_key = key.to_owned();
    settings.log.filter = "warn".into();
    // Its webhooks go to this machine.
    settings.streams.allow_private_targets =
        vec!["127.0.0.0/8".parse().map_err(anyhow::Error::msg)?];
    // Nobody balances between demos.
    settings.listen.drain_notice_ms = 0;
    let mut upstream = rpc::UpstreamConfig::from_url(node.url());
    upstream.ws_url = Some(node.ws_url());
    let section = ChainSection {
        id: Some(CHAIN_ID),
        upstreams: vec![upstream],
        block_time_ms: Some(BLOCK_TIME_S * 1000),
        // The simulated marketplaces stand where Ethereum has them.
        contracts_of: Some("eth".into()),
        ..ChainSection::default()
    };
    settings.chains = BTreeMap::from([(CHAIN.to_owned(), section)]);
    Ok(settings)
}

/// The history is short: a second or so. Whatever is missing after that fills in while we talk.
async fn wait_until_filled(server: &Server) {
    for _ in 0..60 {
        let running = server.ingests.iter().filter_map(|slot| slot.running());
        let done = running
            .map(|ingest| ingest.progress.snapshot())
            .all(|now| now.blocks_applied > 0 && now.blocks_applied > now.node_head);
        if done {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn named(chain: &testkit::SimChain, name: &str) -> String {
    chain.address_of(name).map_or(String::new(), |address| format!("{address:#x}"))
}

fn greet(chain: &SharedChain, url: &str, key: &str, stream: &DemoStream) -> Result<()> {
    let (exchange, internal, nft, block_hash, height) = {
        let chain = read(chain);
        let address = |name| named(&chain, name);
        // Deep enough that no reorg of the demo takes it away.
        let height = chain.head_number();
        let block = chain.block(height.saturating_sub(10)).unwrap_or_else(|| chain.head());
        let block_hash = format!("{:#x}", block.hash);
        (address("exchange"), address("internal-only"), address("nft"), block_hash, height)
    };
    let id = &stream.id;
    let lines = [
        format!(
            "Headwater demo: a simulated chain of {height} blocks, a new one every {BLOCK_TIME_S} seconds."
        ),
        String::new(),
        format!("  console     {url}/    log in with the key below"),
        format!("  data host   {url}/api/v2.2"),
        format!("  node RPC    {url}/{CHAIN}/{key}"),
        format!("  streams     {url}/streams/evm"),
        format!("  status      {url}/status    metrics {url}/metrics"),
        format!("  API key     {key}"),
        String::new(),
        "Try:".to_owned(),
        format!(
            "  curl -s -H 'X-API-Key: {key}' '{url}/api/v2.2/{exchange}?chain={CHAIN}&limit=3'"
        ),
        format!(
            "  curl -s -H 'X-API-Key: {key}' '{url}/api/v2.2/{internal}?chain={CHAIN}&include=internal_transactions&limit=1'"
        ),
        format!(
            "  curl -s -H 'X-API-Key: {key}' '{url}/api/v2.2/nft/{nft}/trades?chain={CHAIN}&limit=3'"
        ),
        format!(
            "  curl -s -H 'X-API-Key: {key}' '{url}/api/v2.2/nft/{nft}/lowestprice?chain={CHAIN}'"
        ),
        format!(
            "  curl -s -H 'Content-Type: application/json' -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_getBlockByHash\",\"params\":[\"{block_hash}\",false]}}' '{url}/{CHAIN}/{key}'"
        ),
        String::new(),
        "A stream watches the exchange and sends webhooks to a receiver inside this demo. What it sent:".to_owned(),
        format!(
            "  curl -s -H 'X-API-Key: {key}' '{url}/streams/evm/{id}/deliveries?from=1&limit=1'"
        ),
        "To receive them yourself, and see them verified, in two other terminals:".to_owned(),
        format!("  headwater listen --secret {}", stream.secret),
        format!(
            "  curl -s -X POST -H 'X-API-Key: {key}' -H 'Content-Type: application/json' -d '{{\"webhookUrl\":\"http://127.0.0.1:9090/\"}}' '{url}/streams/evm/{id}'"
        ),
        String::new(),
        "Ctrl-C ends it; nothing stays behind.".to_owned(),
    ];
    lines.iter().try_for_each(|line| say(line))?;
    Ok(())
}

async fn live(chain: SharedChain) {
    let mut tick = tokio::time::interval(Duration::from_secs(BLOCK_TIME_S));
    tick.tick().await;
    loop {
        tick.tick().await;
        let mut chain = write(&chain);
        match chain.head_number() % REORG_EVERY {
            0 => {
                chain.reorg(2, 3);
            }
            _ => {
                chain.extend(1);
            }
        }
    }
}
