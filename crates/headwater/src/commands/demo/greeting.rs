//! What the demo prints once it can be used.

use anyhow::Result;
use testkit::read;

use super::client::Client;
use super::operations::{self, Subjects};
use super::simulation::{BLOCK_TIME_S, Simulation, named};
use super::stream::DemoStream;
use crate::cli::{DemoArgs, DemoChain};
use crate::say;

/// Deep enough that no reorg of the demo takes it away.
const DEEP_BLOCKS: u64 = 10;

pub async fn greet(
    args: &DemoArgs,
    simulation: &Simulation,
    client: &Client,
    stream: &DemoStream,
) -> Result<()> {
    let (subjects, height) = subjects(args, simulation, stream);
    let mut lines = places(args, client, stream, height);
    lines.push("Every operation, and what it answered just now:".to_owned());
    lines.push(String::new());
    lines.extend(operations::lines(client, &subjects).await?);
    let (Client { url, key, .. }, DemoStream { id, secret, .. }) = (client, stream);
    let receive = format!(
        "  curl -s -X POST -H 'X-API-Key: {key}' -H 'Content-Type: application/json' -d '{{\"webhookUrl\":\"http://127.0.0.1:9090/\"}}' '{url}/streams/evm/{id}'"
    );
    lines.extend([
        String::new(),
        "To receive webhooks yourself, and see them verified, in two other terminals:".to_owned(),
        format!("  headwater listen --secret {secret}"),
        receive,
        String::new(),
        "Ctrl-C ends it; nothing stays behind.".to_owned(),
    ]);
    lines.iter().try_for_each(|line| say(line))?;
    Ok(())
}

fn subjects(args: &DemoArgs, simulation: &Simulation, stream: &DemoStream) -> (Subjects, u64) {
    let chain = read(&simulation.chain);
    let height = chain.head_number();
    let block = chain.block(height.saturating_sub(DEEP_BLOCKS)).unwrap_or_else(|| chain.head());
    let address = |name| named(&chain, name);
    let subjects = Subjects {
        chain: args.served_as.slug(),
        wallet: address("exchange"),
        inner: address("internal-only"),
        nft: address("nft"),
        token: address("token"),
        block_hash: format!("{:#x}", block.hash),
        block_number: block.number(),
        stream: stream.id.clone(),
    };
    (subjects, height)
}

fn places(args: &DemoArgs, client: &Client, stream: &DemoStream, height: u64) -> Vec<String> {
    let Client { url, key, .. } = client;
    let slug = args.served_as.slug();
    let goes_on = match args.fixed {
        true => "and no new ones".to_owned(),
        false => format!("a new one every {BLOCK_TIME_S} seconds"),
    };
    let mut lines =
        vec![format!("Headwater demo: a simulated chain of {height} blocks, {goes_on}.")];
    if args.served_as == DemoChain::Eth {
        lines.push(
            "It is served as eth (0x1), which SDKs accept. Nothing in it is Ethereum's.".into(),
        );
    }
    lines.extend([
        String::new(),
        format!("  console     {url}/    log in with the key below"),
        format!("  data host   {url}/api/v2.2"),
        format!("  node RPC    {url}/{slug}/{key}"),
        format!("  streams     {url}/streams/evm"),
        format!("  status      {url}/status    metrics {url}/metrics"),
        format!("  API key     {key}"),
        String::new(),
        "For the examples in docs/operations:".to_owned(),
        format!("  export URL={url} KEY={key} STREAM={}", stream.id),
        String::new(),
    ]);
    lines
}
