//! Nodes that have no old blocks: history ends where they end, says so, and goes on when a node has more.

use std::time::Duration;

use ingest::ChainIngest;
use rpc::UpstreamConfig;
use testkit::{Fault, Rule, SharedChain, SimNode, write};

use crate::setup::*;

const OLDEST: u64 = 141;

fn pruned(fault: Fault) -> Rule {
    Rule::new(fault).on_blocks(0..=OLDEST - 1)
}

fn refused(code: i64, message: &str) -> Fault {
    Fault::RpcError { code, message: message.into() }
}

async fn ends(rig: &Rig, ingest: &ChainIngest, head: u64) {
    let ended = async || {
        let (ranges, told) = (rig.ranges().await, ingest.progress.snapshot());
        let why = "history ends at block 141: no node has older ones";
        let is_told = told.history_ends_at == Some(OLDEST) && told.waiting.as_deref() == Some(why);
        if ranges == [(OLDEST, head)] && is_told {
            Ok(())
        } else {
            Err(format!("{ranges:?} {told:?}"))
        }
    };
    eventually_gives("history ends", ended).await;
}

/// As geth, erigon, nethermind and reth say it.
#[tokio::test]
async fn history_ends_at_the_oldest_block_of_a_pruned_node() {
    for (i, fault) in [
        Fault::NotFound,
        refused(4444, "pruned history unavailable"),
        refused(-32000, "header not found"),
        refused(-32000, "ReceiptsGen: PrepareEnv: bn=7, old data not available due to pruning"),
    ]
    .into_iter()
    .enumerate()
    {
        let chain = sim(320 + i as u64, 250);
        let node = node(&chain).await;
        node.faults.add(pruned(fault));
        let rig = Rig::new(&[&node]).await;
        let ingest = rig.start();
        ends(&rig, &ingest, 250).await;
        let upstream = &ingest.pool.status().upstreams[0];
        assert!(upstream.evidence.is_empty(), "{:?}", upstream.evidence);
        assert_eq!(ingest.progress.snapshot().blocks_missing, OLDEST);
    }
}

/// Only receipts are gone: such blocks are of no use either.
#[tokio::test]
async fn history_ends_where_receipts_end() {
    let chain = sim(325, 250);
    let node = node(&chain).await;
    node.faults.add(pruned(Fault::NotFound).on_methods(["eth_getBlockReceipts"]));
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    ends(&rig, &ingest, 250).await;
}

async fn absent(chain: &SharedChain) -> (std::net::SocketAddr, UpstreamConfig) {
    let node = node(chain).await;
    let (address, upstream) = (node.address(), UpstreamConfig::from_url(node.url()));
    node.stop().await;
    (address, upstream)
}

#[tokio::test]
async fn the_head_goes_on_nodes_are_left_in_peace_and_an_archive_node_ends_it() {
    let chain = sim(326, 250);
    let node = node(&chain).await;
    node.faults.add(pruned(Fault::NotFound));
    let (address, archive) = absent(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.upstreams.push(archive);
    let ingest = rig.start();
    ends(&rig, &ingest, 250).await;
    let asked = node.faults.requests("eth_getBlockReceipts");
    write(&chain).extend(3);
    ends(&rig, &ingest, 253).await;
    // The absent node is probed again and again, which is no reason to ask for old blocks.
    tokio::time::sleep(Duration::from_millis(2_000)).await;
    let again = node.faults.requests("eth_getBlockReceipts") - asked;
    assert!(again < 30, "asked {again} times");
    let _archive = SimNode::start_on(chain.clone(), address).await.unwrap();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let told = || ingest.progress.snapshot();
    let over = || told().history_ends_at.is_none() && told().waiting.is_none();
    eventually("nobody waits", over, || format!("{:?}", told())).await;
}

/// A node that prunes while history is filled from it.
#[tokio::test]
async fn a_new_gap_above_the_end_is_filled() {
    let chain = sim(327, 250);
    let node = node(&chain).await;
    node.faults.add(pruned(Fault::NotFound));
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    ends(&rig, &ingest, 250).await;
    drop(ingest);
    write(&chain).extend(150);
    let ingest = rig.start();
    ends(&rig, &ingest, 400).await;
}
