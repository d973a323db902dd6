//! History: down to the start block, around what is there already.

use ingest::Config;
use model::chain::Verification;
use store::Change;
use testkit::{Fault, Rule, read, write};

use crate::setup::*;

#[tokio::test]
async fn history_is_filled_down_to_the_start_block() {
    let chain = sim(21, 200);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]);
    rig.from_block = 37;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth);
    eventually("nothing is missing", || ingest.progress.snapshot().blocks_missing == 0, || "more")
        .await;
    drop(ingest);
    // A lower start block is taken up where the last one ended.
    rig.from_block = 5;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth);
}

#[tokio::test]
async fn requests_of_any_size_give_the_same_store() {
    let chain = sim(22, 40);
    let node = node(&chain).await;
    for (segment_blocks, workers) in [(1, 1), (1, 8), (7, 3), (100, 1)] {
        let mut rig = Rig::new(&[&node]);
        rig.config = Config { segment_blocks, workers, ..rig.config };
        let ingest = rig.start();
        rig.reaches(&chain, &ingest).await;
        rig.check(&chain, Dialect::Geth);
    }
}

/// Puts blocks into the store as an import would.
fn import(rig: &Rig, chain: &testkit::SharedChain, numbers: impl Iterator<Item = u64>) {
    let chain = read(chain);
    let blocks = numbers.map(|number| {
        let block = block(&chain, number, Dialect::Geth);
        let proof = ingest::verify::verify(&block, &rules(Verification::Full)).unwrap();
        store::prepare(CHAIN, block, proof, model::facts::Facts::default())
    });
    rig.store.commit(CHAIN, Change { revert: Vec::new(), apply: blocks.collect() }).unwrap();
}

#[tokio::test]
async fn islands_are_joined_and_not_asked_for_again() {
    let chain = sim(23, 150);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]);
    import(&rig, &chain, (10..=20).chain(40..=40).chain(60..=90));
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth);
    counts(&ingest, 151 - 43, 0).await;
}

#[tokio::test]
async fn an_island_of_another_branch_is_taken_back() {
    let chain = sim(24, 80);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]);
    import(&rig, &chain, (5..=60).chain(70..=75));
    // While nobody looked, the chain became another one from block 41 on, and grew.
    write(&chain).reorg(40, 150);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth);
    let journal = rig.store.view().journal_after(CHAIN, 0, 1_000).unwrap();
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
    let rig = Rig::new(&[&node]);
    import(&rig, &chain, 80..=85);
    node.faults.add(Fault::Lag(30));
    let ingest = rig.start();
    eventually("what the node has", || rig.ranges() == [(0, 60), (80, 85)], || "not yet").await;
    node.faults.clear();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth);
}

#[tokio::test]
async fn a_start_on_a_chain_that_stands_still_is_whole() {
    let chain = sim(26, 60);
    let node = node(&chain).await;
    // The head is stored long after it was told.
    let slow = Fault::Delay(std::time::Duration::from_millis(900));
    node.faults.add(Rule::new(slow).on_methods(["eth_getBlockReceipts"]).on_block(60));
    let rig = Rig::new(&[&node]);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth);
}
