//! History: down to the start block, around what is there already.

use ingest::Config;
use store::Origin;
use testkit::{Fault, Rule, SharedChain, read, write};

use crate::setup::*;

#[tokio::test]
async fn history_is_filled_down_to_the_start_block() {
    let chain = sim(21, 200);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.from_block = 37;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    eventually("nothing is missing", || ingest.progress.snapshot().blocks_missing == 0, || "more")
        .await;
    drop(ingest);
    // A lower start block is taken up where the last one ended.
    rig.from_block = 5;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn requests_of_any_size_give_the_same_store() {
    let chain = sim(22, 40);
    let node = node(&chain).await;
    for (segment_blocks, workers) in [(1, 1), (1, 8), (7, 3), (100, 1)] {
        let mut rig = Rig::new(&[&node]).await;
        rig.config = Config { segment_blocks, workers, ..rig.config };
        let ingest = rig.start();
        rig.reaches(&chain, &ingest).await;
        rig.check(&chain, Dialect::Geth).await;
    }
}

/// What waits is written at once, and hardly more is asked for than what is missing next; nothing stands still.
#[tokio::test]
async fn history_gets_on_with_hardly_any_memory() {
    let chain = sim(28, 120);
    let node = node(&chain).await;
    for flight_bytes in [0, 1, 20_000] {
        let mut rig = Rig::new(&[&node]).await;
        rig.flight_bytes = flight_bytes;
        let ingest = rig.start();
        rig.reaches(&chain, &ingest).await;
        rig.check(&chain, Dialect::Geth).await;
    }
}

async fn import(rig: &Rig, chain: &SharedChain, numbers: impl Iterator<Item = u64>) {
    let blocks = verified(&read(chain), numbers, Dialect::Geth);
    put(&rig.store, blocks).await;
}

#[tokio::test]
async fn islands_are_joined_and_not_asked_for_again() {
    let chain = sim(23, 150);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    import(&rig, &chain, (10..=20).chain(40..=40).chain(60..=90)).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    counts(&ingest, 151 - 43, 0).await;
}

#[tokio::test]
async fn an_island_of_another_branch_is_reverted() {
    let chain = sim(24, 80);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    import(&rig, &chain, (5..=60).chain(70..=75)).await;
    // While nobody looked, the chain became another one from block 41 on, and grew.
    write(&chain).reorg(40, 150);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let journal = rig.journal_after(0).await;
    let reverted: Vec<u64> = journal
        .iter()
        .filter(|entry| entry.kind == store::EntryKind::Revert)
        .map(|entry| entry.number)
        .collect();
    let expected: Vec<u64> = (70..=75).rev().chain((41..=60).rev()).collect();
    assert_eq!(reverted, expected, "no more than what was wrong");
}

#[tokio::test]
async fn ranges_above_the_nodes_head_are_left_alone() {
    let chain = sim(25, 90);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    import(&rig, &chain, 80..=85).await;
    node.faults.add(Fault::Lag(30));
    let ingest = rig.start();
    let reached = async || {
        let ranges = rig.ranges().await;
        if ranges == [(0, 60), (80, 85)] { Ok(()) } else { Err(format!("{ranges:?}")) }
    };
    eventually_gives("what the node has", reached).await;
    node.faults.clear();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn a_start_on_a_chain_that_stands_still_is_whole() {
    let chain = sim(26, 60);
    let node = node(&chain).await;
    // The head is stored long after it was told.
    let slow = Fault::Delay(std::time::Duration::from_millis(900));
    node.faults.add(Rule::new(slow).on_methods(["eth_getBlockReceipts"]).on_block(60));
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn the_gap_below_the_head_is_filled_before_older_history() {
    let chain = sim(27, 300);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    // As a stop left it: history was not complete, and the head is far away by now.
    import(&rig, &chain, 100..=120).await;
    let before = rig.seq().await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let entries = rig.journal_after(before).await;
    let newer = entries.iter().filter(|entry| entry.number > 120).count();
    assert_eq!((newer, entries.len()), (180, 280));
    assert!(entries[..180].iter().all(|entry| entry.number > 120), "the gap comes first");
    let origins: Vec<Origin> = entries.iter().map(|entry| entry.origin).collect();
    assert_eq!(
        (origins[0], origins[1], origins[279]),
        (Origin::Head, Origin::History, Origin::History)
    );
}

#[tokio::test]
async fn a_gap_that_comes_up_meanwhile_is_filled_before_older_history() {
    let chain = sim(28, 900);
    let node = node(&chain).await;
    let slow = Rule::new(Fault::Delay(std::time::Duration::from_millis(40)));
    node.faults.add(slow.on_methods(["eth_getBlockReceipts"]));
    let mut rig = Rig::new(&[&node]).await;
    rig.config = Config { segment_blocks: 6, workers: 2, ..rig.config };
    let ingest = rig.start();
    let deep = async || {
        let ranges = rig.ranges().await;
        if ranges.first().is_some_and(|(from, _)| *from < 800) { Ok(()) } else { Err("no".into()) }
    };
    eventually_gives("history is being filled", deep).await;
    write(&chain).extend(200);
    rig.reaches(&chain, &ingest).await;
    let numbers: Vec<u64> = rig.journal_after(0).await.iter().map(|entry| entry.number).collect();
    let place = |number| numbers.iter().position(|n| *n == number).unwrap();
    let between = place(1_099) - place(1_100);
    assert!(between <= 2 * 240, "{between} blocks of older history came first");
    assert!(place(901) < place(0), "older history comes last");
}
