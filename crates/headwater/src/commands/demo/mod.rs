//! `headwater demo`: everything in one process on a simulated chain that goes on living.

mod client;
mod greeting;
mod operations;
mod simulation;
mod stream;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use testkit::{SimNode, read};

use self::client::Client;
use self::simulation::{BLOCK_TIME_S, Simulation};
use self::stream::{DemoStream, Watch};
use super::signals::stop_asked;
use crate::cli::{DemoArgs, DemoChain, Role};
use crate::config::{ChainSection, Flags, Settings};
use crate::server::Server;
use crate::telemetry::{self, Metrics};

/// Blocks before the head at which the demo's stream begins.
const STREAM_BLOCKS: u64 = 20;
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longer than any machine takes for a history of the usual length.
const FILL_LOOKS: usize = 600;

pub fn run(args: &DemoArgs) -> Result<ExitCode> {
    let folder = std::env::temp_dir().join(format!("headwater-demo-{}", std::process::id()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(demo(args, &folder));
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map(|()| ExitCode::SUCCESS)
}

async fn demo(args: &DemoArgs, folder: &Path) -> Result<()> {
    let simulation = Simulation::start(args);
    let node = SimNode::start(simulation.chain.clone());
    let node = node.await.context("cannot start the simulated node")?;
    let key = api::keys::fresh();
    let settings = settings(args, folder, &node, &key)?;
    telemetry::logs(&settings.log)?;
    let stop = stop_asked()?;
    let server = Server::start(&settings, Role::All, &Metrics::start()?).await?;
    wait_until_filled(&server).await;
    let address = server.addresses.first().context("no listener")?;
    let client = Client::new(format!("http://{address}"), key);
    let watch = {
        let chain = read(&simulation.chain);
        let from_block = chain.head_number().saturating_sub(STREAM_BLOCKS);
        let address = simulation::named(&chain, "exchange");
        Watch { chain_id: args.served_as.id(), address, from_block }
    };
    let stream = DemoStream::start(&client, watch).await?;
    greeting::greet(args, &simulation, &client, &stream).await?;
    tokio::select! {
        () = simulation.live(), if !args.fixed => {}
        () = stop => {}
    }
    server.stop().await
}

fn settings(args: &DemoArgs, folder: &Path, node: &SimNode, key: &str) -> Result<Settings> {
    let flags = Flags { listen: Some(args.listen.clone()), ..Flags::default() };
    let mut settings = Settings::load_with(&flags, std::iter::empty())?;
    settings.store.path = folder.to_owned();
    settings.auth.bootstrap_key = key.to_owned();
    // That its block 0 is not Ethereum's is no news here.
    settings.log.filter = "warn,ingest::chain=error".into();
    // Its webhooks go to this machine: to the receiver inside, or to `headwater listen`.
    settings.streams.allow_private_targets =
        vec!["127.0.0.1/32".parse().map_err(anyhow::Error::msg)?];
    // Nobody balances between demos.
    settings.listen.drain_notice_ms = 0;
    let mut upstream = rpc::UpstreamConfig::from_url(node.url());
    upstream.ws_url = Some(node.ws_url());
    let mut section = ChainSection { upstreams: vec![upstream], ..ChainSection::default() };
    if args.served_as == DemoChain::Demo {
        section.id = Some(args.served_as.id());
        section.block_time_ms = Some(BLOCK_TIME_S * 1000);
        // The simulated exchanges and marketplaces stand where Ethereum has them.
        section.contracts_of = Some("eth".into());
    }
    settings.chains = BTreeMap::from([(args.served_as.slug().to_owned(), section)]);
    Ok(settings)
}

/// The history is short: a second or so. Whatever is missing after that fills in while we talk.
async fn wait_until_filled(server: &Server) {
    for _ in 0..FILL_LOOKS {
        let running = server.ingests.iter().filter_map(|slot| slot.running());
        let done = running
            .map(|ingest| ingest.progress.snapshot())
            .all(|now| now.blocks_applied > 0 && now.blocks_applied > now.node_head);
        if done {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
