//! The chain goes another way: a little, a lot, altogether.

use std::time::Duration;

use testkit::{SimNode, read, write};

use crate::setup::*;

#[tokio::test]
async fn reorgs_of_any_small_depth_are_followed() {
    let chain = sim(31, 30);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let mut reverted = 0;
    for depth in 1..=10 {
        write(&chain).reorg(depth, depth + 1);
        rig.reaches(&chain, &ingest).await;
        reverted += depth as u64;
        let told = || ingest.progress.snapshot().blocks_reverted;
        eventually("the reverts are told", || told() == reverted, told).await;
        let reorg = ingest.progress.snapshot().last_reorg.unwrap();
        assert_eq!(reorg.reverted_blocks, depth as u64);
        assert_eq!(reorg.ancestor, Some(read(&chain).head_number() - depth as u64 - 1));
        rig.check(&chain, Dialect::Geth).await;
    }
}

#[tokio::test]
async fn a_branch_of_the_same_height_or_lower_is_followed() {
    let chain = sim(32, 30);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    write(&chain).reorg(4, 4);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    write(&chain).reorg(8, 3);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn reorgs_come_while_history_is_filled() {
    let chain = sim(33, 300);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.config.workers = 2;
    let ingest = rig.start();
    for depth in [2, 1, 5, 40, 3] {
        tokio::time::sleep(Duration::from_millis(120)).await;
        write(&chain).reorg(depth, depth + 2);
    }
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn a_reorg_to_below_the_oldest_block_replaces_all() {
    let chain = sim(34, 60);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.from_block = 45;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    write(&chain).reorg(25, 27);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let told = || ingest.progress.snapshot().blocks_reverted;
    eventually("the reverts are told", || told() == 16, told).await;
}

#[tokio::test]
async fn a_reorg_longer_than_one_commit_is_followed() {
    let chain = sim(35, 500);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    write(&chain).reorg(400, 402);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let told = || ingest.progress.snapshot().blocks_reverted;
    eventually("the reverts are told", || told() == 400, told).await;
}

#[tokio::test]
async fn a_reorg_during_a_stop_is_found_at_the_start() {
    let chain = sim(36, 50);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    drop(ingest);
    write(&chain).reorg(12, 20);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    drop(ingest);
    // And one that is too far away to be caught up with from below.
    write(&chain).reorg(30, 150);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn of_two_nodes_on_different_branches_the_higher_one_is_followed() {
    let (short, long) = (sim(39, 60), sim(39, 60));
    write(&long).reorg(30, 33);
    let (a, b) = (node(&short).await, node(&long).await);
    let rig = Rig::new(&[&a, &b]).await;
    let ingest = rig.start();
    rig.reaches(&long, &ingest).await;
    rig.check(&long, Dialect::Geth).await;
    // The other one overtakes it.
    write(&short).extend(5);
    rig.reaches(&short, &ingest).await;
    rig.check(&short, Dialect::Geth).await;
    for upstream in ingest.pool.status().upstreams {
        assert!(upstream.evidence.is_empty(), "another branch is no lie: {:?}", upstream.evidence);
    }
}

/// A dev node that starts over with another chain behind the same address.
async fn starts_over(first: usize, second: usize) {
    let chain = sim(37, first);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let address = node.address();
    node.stop().await;
    let chain = sim(38, second);
    let _node = SimNode::start_on(chain.clone(), address).await.unwrap();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn a_chain_that_starts_over_lower_replaces_all() {
    starts_over(60, 25).await;
}

#[tokio::test]
async fn a_chain_that_starts_over_higher_replaces_all() {
    starts_over(25, 40).await;
}

#[tokio::test]
async fn a_chain_that_starts_over_far_above_replaces_all() {
    starts_over(20, 140).await;
}

#[tokio::test]
async fn a_chain_that_starts_over_as_a_genesis_replaces_all() {
    starts_over(20, 0).await;
}
