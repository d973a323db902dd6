//! Receipts that a node makes up, beside blocks that are known.

use gateway::{Config, Source};
use serde_json::{Value, json};
use testkit::{Rule, SimNode, Tamper};

use crate::setup::*;

/// What a receipt of the block says that no other block's would.
const LIES: [Tamper; 4] =
    [Tamper::EverySender, Tamper::SwappedReceipts, Tamper::DroppedLog, Tamper::ChangedLogData];
const BLOCK: u64 = 9;

/// Two nodes, the block's hash, and its transactions.
async fn world(config: Config) -> (Rig, [SimNode; 2], String, Vec<String>) {
    let chain = simulated(30);
    let nodes = [node(&chain).await, node(&chain).await];
    let rig = rig(config, &nodes.each_ref().map(SimNode::url)).await;
    rig.all_healthy().await;
    let chain = testkit::read(&chain);
    let block = chain.block(BLOCK).unwrap();
    let txs = block.txs.iter().map(|tx| tx.hash.to_string()).collect();
    let hash = block.hash.to_string();
    drop(chain);
    (rig, nodes, hash, txs)
}

/// Whichever is asked first lies once.
fn one_lies(nodes: &[SimNode; 2], lie: Tamper, method: &str) {
    let lie = Rule::from(lie).on_methods([method]).times_shared(1);
    for node in nodes {
        node.faults.clear();
        node.faults.add(lie.clone());
    }
}

fn caught(rig: &Rig) -> usize {
    rig.pool.status().upstreams.iter().map(|node| node.evidence.len()).sum()
}

#[tokio::test]
async fn all_that_the_receipts_of_a_block_say_is_held_against_its_transactions() {
    for lie in LIES.into_iter().chain([Tamper::DroppedTransaction]) {
        let config = Config { cache_bytes_max: 0, ..Config::default() };
        let (rig, nodes, hash, _) = world(config).await;
        let truth = rig.ask("eth_getBlockReceipts", json!([hash])).await;
        one_lies(&nodes, lie, "eth_getBlockReceipts");
        let told = rig.ask("eth_getBlockReceipts", json!([hash])).await;
        assert_eq!(told["result"], truth["result"], "{lie:?}");
        assert_eq!(nodes.iter().map(|node| node.faults.hits()).sum::<u64>(), 1, "{lie:?}");
    }
}

#[tokio::test]
async fn one_receipt_is_held_against_its_block_where_that_is_at_hand() {
    for lie in LIES {
        let (rig, nodes, hash, txs) = world(Config::default()).await;
        let all = rig.ask("eth_getBlockReceipts", json!([hash])).await;
        let truth = all["result"].as_array().unwrap();
        let alone = |at: usize| call(at, "eth_getTransactionReceipt", json!([txs[at]]));
        let mut wrong = 0;
        for (at, truth) in truth.iter().enumerate() {
            one_lies(&nodes, lie, "eth_getTransactionReceipt");
            let (told, from) = rig.ask_text(&alone(at).to_string()).await;
            assert_eq!((&told["result"], from), (truth, vec![Source::Node]), "{lie:?} {at}");
            wrong = wrong.max(caught(&rig));
        }
        assert!(wrong > 0, "{lie:?} was never told");
    }
}

#[tokio::test]
async fn a_receipt_whose_block_is_not_at_hand_is_told_as_it_came() {
    let (rig, _nodes, _, txs) = world(Config::default()).await;
    let told: Value = rig.ask("eth_getTransactionReceipt", json!([txs[0]])).await;
    assert_eq!(told["result"]["transactionHash"], json!(txs[0]));
}
