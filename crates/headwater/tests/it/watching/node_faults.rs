//! Nodes that are well, gone, lying, short of blocks, or of two minds.

use testkit::{Fault, Rule, Tamper, write};

use super::world::{World, chain_and_node, follows, small};
use crate::client::Client;
use crate::process::KEY;
use crate::world::{CHAIN, SLUG};

/// Nobody listens there.
const DEAD: &str = "http://127.0.0.1:9";
const TRACES: [&str; 2] = ["debug_traceBlockByNumber", "trace_block"];

/// Nothing may fire.
pub async fn well() -> World {
    let (chain, node) = chain_and_node(small(901), 30).await;
    let folder = tempfile::tempdir().unwrap();
    let server = follows(&folder.path().join("data"), &[&node.url()]).start();
    World::new("well", server, &[]).growing(&chain).keep((node, folder))
}

/// One node is gone, one sends wrong receipts, one does what it should.
pub async fn some_bad() -> World {
    let (chain, good) = chain_and_node(small(902), 30).await;
    let liar = testkit::SimNode::start(chain.clone()).await.unwrap();
    liar.faults.add(Rule::from(Tamper::ChangedValue).on_blocks(31..=1_000_000));
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = follows(&data, &[&liar.url(), DEAD, &good.url()]).start();
    let fires = &["HeadwaterUpstreamDown", "HeadwaterUpstreamLied", "HeadwaterUpstreamErrors"];
    World::new("some bad", server, fires).growing(&chain).keep((good, liar, folder))
}

/// The only node goes away after it gave its blocks.
pub async fn alone() -> World {
    let (chain, node) = chain_and_node(small(903), 10).await;
    let folder = tempfile::tempdir().unwrap();
    let server = follows(&folder.path().join("data"), &[&node.url()]).start();
    let (head, hash) = crate::world::head(&chain);
    Client::new(server.url()).until_indexed(SLUG, head, &hash).await;
    node.stop().await;
    World::new("alone", server, &["HeadwaterNoUpstream"]).keep(folder)
}

/// Old blocks and new ones have no receipts: neither history nor the head gets on.
pub async fn no_receipts() -> World {
    let (chain, node) = chain_and_node(small(904), 120).await;
    let fails = || Fault::RpcError { code: -32000, message: "out of order".into() };
    let receipts = ["eth_getBlockReceipts", "eth_getTransactionReceipt"];
    for blocks in [0..=60, 121..=1_000_000] {
        node.faults.add(Rule::new(fails()).on_methods(receipts).on_blocks(blocks));
    }
    let folder = tempfile::tempdir().unwrap();
    let server = follows(&folder.path().join("data"), &[&node.url()]).start();
    let client = Client::new(server.url());
    until(&client, |status| status["head"]["number"] == 120).await;
    write(&chain).extend(30);
    let fires = &["HeadwaterHeadBehind", "HeadwaterHistoryStopped"];
    World::new("no receipts", server, fires).keep((node, folder))
}

/// A node without old blocks and without some traces, on a chain that stands still.
pub async fn pruned() -> World {
    // Blocks near the head could still be on their way, so those that are gone lie far below.
    let (_, node) = chain_and_node(small(905), 250).await;
    node.faults.add(Rule::new(Fault::NotFound).on_blocks(0..=140));
    node.faults.add(Rule::from(Tamper::DroppedTrace).on_methods(TRACES).on_block(190));
    let folder = tempfile::tempdir().unwrap();
    let server = follows(&folder.path().join("data"), &[&node.url()]).start();
    let fires = &["HeadwaterHistoryEnds", "HeadwaterBlocksUntraced", "HeadwaterHeadNotMoving"];
    World::new("pruned", server, fires).keep((node, folder))
}

/// The chain is another from far below, and nobody else can say whether that is right.
pub async fn reverts() -> World {
    let (chain, node) = chain_and_node(small(906), 60).await;
    let folder = tempfile::tempdir().unwrap();
    let serve = follows(&folder.path().join("data"), &[&node.url(), DEAD]);
    let server = serve.set("ingest.revert_second_word_ms", "200").start();
    let (head, hash) = crate::world::head(&chain);
    Client::new(server.url()).until_indexed(SLUG, head, &hash).await;
    let world = World::new("reverts", server, &["HeadwaterUnconfirmedRevert"]);
    world.keep((node, folder)).again(3_000, move || {
        write(&chain).reorg(20, 21);
        async {}
    })
}

/// Traces that say of a transfer what the state does not bear out.
pub async fn audited() -> World {
    let config = testkit::SimConfig { state_proofs: true, txs_per_block: 10, ..small(71) };
    let (chain, node) = chain_and_node(config, 12).await;
    node.faults.add(Rule::from(Tamper::ChangedTraceValue).on_blocks(5..=1_000_000));
    let folder = tempfile::tempdir().unwrap();
    let serve = follows(&folder.path().join("data"), &[&node.url()]).set("ingest.audit", "0");
    let server = serve.set(&format!("chains.{CHAIN}.verification"), "full").start();
    let client = Client::new(server.url());
    let (head, hash) = crate::world::head(&chain);
    client.until_indexed(SLUG, head, &hash).await;
    let url = format!("{}/admin/v1/audit/{CHAIN}", server.url());
    let world = World::new("audited", server, &["HeadwaterAuditMismatch"]).growing(&chain);
    // A block that was contradicted has no traces any more, so each time it is another.
    let mut numbers = 5..;
    world.keep((node, folder)).again(1_000, move || {
        let url = format!("{url}/{}", numbers.next().unwrap());
        let http = reqwest::Client::new().post(url).header("x-api-key", KEY);
        let asked = http.header("content-type", "application/json").body(r#"{"sample":0}"#);
        async move {
            asked.send().await.unwrap();
        }
    })
}

/// Until /status says so of the chain.
pub async fn until(client: &Client, is_so: impl Fn(&serde_json::Value) -> bool) {
    let started = std::time::Instant::now();
    loop {
        let status = client.status(SLUG).await;
        if is_so(&status) {
            return;
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(120), "{status}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}
