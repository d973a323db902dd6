//! A stream that wants internal transactions, at a node that does not trace for a while: what is there is sent within a
//! bound however many blocks wait, and what the traces bring later is sent as an addition.

use testkit::{Fault, Rule, SimConfig, SimNode, read, shared, write};

use super::engines::on_both_engines;
use super::owner::{confirmed, create, serving, until_told, until_whole};
use super::receiver::{Taken, WebhookReceiver, prove};
use super::truth::{Watched, expected};
use crate::client::Client;
use crate::world::{SLUG, head};

const CONFIRMATIONS: u64 = 12;
const BLOCKS: usize = 40;
/// So much for each block would be longer than anybody waits here.
const WAIT_MS: &str = "8000";

on_both_engines!(many_blocks_without_traces_wait_no_longer_than_one_and_are_completed_later);

async fn many_blocks_without_traces_wait_no_longer_than_one_and_are_completed_later(url: &str) {
    let chain = shared(SimConfig { txs_per_block: 8, wallets: 12, ..SimConfig::seeded(81) });
    write(&chain).extend(5);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let receiver = WebhookReceiver::start(82).await;
    let server = serving(&folder.path().join("data"), &node, url)
        .set("ingest.head_trace_ms", "100")
        .set("streams.traces_wait_ms", WAIT_MS)
        .start();
    let (first, hash) = head(&chain);
    Client::new(server.url()).until_indexed(SLUG, first, &hash).await;
    let addresses = read(&chain).wallets().iter().map(|it| format!("{it:#x}")).collect();
    let name = "late".to_owned();
    let one = Watched { name, addresses, logs: true, internals: true, retractions: false };
    create(&server, &receiver, &one).await;

    let methods = ["debug_traceBlockByNumber", "debug_traceBlockByHash", "trace_block"];
    let error = Fault::RpcError { code: -32000, message: "header not found".into() };
    let fault = node.faults.add(Rule::new(error).on_methods(methods));
    write(&chain).extend(BLOCKS + CONFIRMATIONS as usize);
    let (last, hash) = head(&chain);
    Client::new(server.url()).until_indexed(SLUG, last, &hash).await;
    let blocks = first + 1..=last - CONFIRMATIONS;
    let without = Watched { internals: false, ..one.clone() };
    until_told(&server, &receiver, &one.name, &expected(&chain, &without, blocks.clone())).await;
    let untraced = receiver.taken(&one.name);
    assert!(untraced.values().all(|it| it.traces_missing && it.amends.is_none()));

    node.faults.remove(fault);
    let wanted = expected(&chain, &one, blocks);
    assert!(wanted.len() > confirmed(&receiver, &one.name).len(), "the chain has internal ones");
    until_told(&server, &receiver, &one.name, &wanted).await;
    let taken = until_whole(&server, &receiver, &one.name).await;
    prove(&taken);
    let amending: Vec<&Taken> = taken.values().filter(|it| it.amends.is_some()).collect();
    assert!(!amending.is_empty());
    for it in amending {
        let amended = &taken[&it.amends.unwrap()];
        assert_eq!(it.body["block"], amended.body["block"]);
        assert!(amended.traces_missing && !it.traces_missing);
        assert_eq!(it.body["txs"], serde_json::json!([]), "only what the traces add");
    }
}
