//! The head: followed while it grows, found again after a stop, not confused by a node that flaps.

use std::time::Duration;

use testkit::{Fault, Rule, SimNode, read, write};

use crate::setup::*;

#[tokio::test]
async fn a_growing_chain_is_followed() {
    let chain = sim(1, 10);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    let mut written = rig.store.subscribe(CHAIN);
    rig.reaches(&chain, &ingest).await;
    for count in [1, 1, 3, 1, 7] {
        written.mark_unchanged();
        write(&chain).extend(count);
        written.changed().await.unwrap();
        rig.reaches(&chain, &ingest).await;
    }
    rig.check(&chain, Dialect::Geth).await;
    counts(&ingest, 24, 0).await;
    let snapshot = ingest.progress.snapshot();
    assert_eq!((snapshot.node_head, snapshot.transactions_applied), (23, 23 * 4));
    let seq = rig.seq().await;
    let told = || *rig.store.subscribe(CHAIN).borrow();
    eventually("the newest entry is announced", || told() == seq, told).await;
}

#[tokio::test]
async fn a_head_that_was_known_before_the_start_is_enough() {
    let chain = sim(2, 30);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let first = rig.start();
    rig.reaches(&chain, &first).await;
    // The same pool goes on with another ingest; its head does not change any more.
    let other = Rig::new(&[&node]).await;
    let second = ingest::ChainIngest::start(ingest::Options {
        chain: other.chain.clone(),
        pool: first.pool.clone(),
        store: other.store.clone(),
        config: other.config.clone(),
        flights: ingest::Flights::new(64 << 20),
        retain_blocks: None,
        from_block: 0,
        decode: other.decode.clone(),
    });
    other.reaches(&chain, &second).await;
    other.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn work_resumes_after_a_stop() {
    let chain = sim(3, 40);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let before = rig.seq().await;
    drop(ingest);
    write(&chain).extend(5);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let entries = rig.seq().await - before;
    assert_eq!(entries, 5, "nothing was done twice");
}

#[tokio::test]
async fn a_long_downtime_leaves_a_gap_that_is_filled_from_the_head() {
    let chain = sim(4, 20);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    drop(ingest);
    write(&chain).extend(150);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let entries = rig.journal_after(21).await;
    assert_eq!(entries[0].number, 170, "the newest block comes first");
}

#[tokio::test]
async fn a_flapping_head_reverts_nothing() {
    let chain = sim(5, 30);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    node.faults.add(Fault::FlappingHead);
    for _ in 0..15 {
        write(&chain).extend(1);
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    assert_eq!(ingest.progress.snapshot().blocks_reverted, 0);
    assert!(ingest.pool.status().upstreams[0].evidence.is_empty(), "a flapping node is no liar");
}

#[tokio::test]
async fn a_node_that_flaps_from_the_start_is_indexed_whole() {
    let chain = sim(6, 50);
    let node = node(&chain).await;
    node.faults.add(Fault::FlappingHead);
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    assert_eq!(ingest.progress.snapshot().blocks_reverted, 0);
}

#[tokio::test]
async fn a_lagging_node_beside_a_good_one_does_no_harm() {
    let chain = sim(7, 30);
    let (good, late) = (node(&chain).await, node(&chain).await);
    late.faults.add(Fault::Lag(4));
    let rig = Rig::new(&[&late, &good]).await;
    let ingest = rig.start();
    for _ in 0..10 {
        write(&chain).extend(1);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    assert_eq!(ingest.progress.snapshot().blocks_reverted, 0);
}

#[tokio::test]
async fn a_node_that_dies_and_comes_back_is_followed_again() {
    let chain = sim(8, 20);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let address = node.address();
    node.stop().await;
    write(&chain).extend(3);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let node = SimNode::start_on(chain.clone(), address).await.unwrap();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    drop(node);
}

#[tokio::test]
async fn that_no_node_answers_is_told_until_one_does() {
    let chain = sim(207, 5);
    let gone = node(&chain).await;
    let address = gone.address();
    let rig = Rig::new(&[&gone]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    gone.stop().await;
    let waiting = || ingest.progress.snapshot().waiting;
    let is_told = || waiting().is_some_and(|why| why.contains("no node"));
    eventually("it is told", is_told, || format!("{:?}", waiting())).await;
    let back = SimNode::start_on(chain.clone(), address).await.unwrap();
    write(&chain).extend(2);
    rig.reaches(&chain, &ingest).await;
    eventually("nothing is waited for", || waiting().is_none(), || format!("{:?}", waiting()))
        .await;
    drop(back);
}

#[tokio::test]
async fn a_websocket_alone_is_enough() {
    let chain = sim(9, 20);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[]).await;
    rig.upstreams = vec![rpc::UpstreamConfig::from_url(node.ws_url())];
    let ingest = rig.start();
    for _ in 0..5 {
        write(&chain).extend(2);
        rig.reaches(&chain, &ingest).await;
    }
    write(&chain).reorg(3, 4);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    assert_eq!(node.faults.http_requests(), 0);
}

#[tokio::test]
async fn a_genesis_alone_is_indexed() {
    let chain = sim(10, 0);
    let node = node(&chain).await;
    node.faults.add(Rule::new(Fault::Delay(Duration::from_millis(5))));
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    assert_eq!(read(&chain).head_number(), 0);
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn the_head_is_followed_while_history_holds_every_place_it_may() {
    let chain = sim(11, 200);
    let node = node(&chain).await;
    // What history asks for never comes, and nobody gives up waiting for it.
    let hang = Rule::new(Fault::Hang).on_methods(["eth_getBlockReceipts"]).on_blocks(0..=150);
    node.faults.add(hang);
    let mut rig = Rig::new(&[&node]).await;
    rig.upstreams[0].max_concurrency = Some(2);
    rig.pool.timeout_ms = 600_000;
    let ingest = rig.start();
    let waiting = || ingest.pool.status().upstreams[0].waiting;
    eventually("history queues", || waiting() > 4, waiting).await;
    for _ in 0..5 {
        write(&chain).extend(1);
        let (number, hash) = (read(&chain).head_number(), read(&chain).head().hash);
        let stored = async || {
            let stored = rig.summary(number).await.map(|stored| stored.hash);
            (stored == Some(hash)).then_some(()).ok_or(format!("{:?}", ingest.pool.status()))
        };
        eventually_gives("the new head is stored", stored).await;
        eventually("history still waits", || waiting() > 4, waiting).await;
    }
}
