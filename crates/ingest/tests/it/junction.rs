//! Where history meets an older range of another branch: nobody waits for the look, and no node's bare
//! word removes what is stored.

use store::EntryKind;
use testkit::{Fault, Rule, SharedChain, Tamper, read, write};

use crate::setup::*;

/// Blocks 5 to 60 are stored; then the chain becomes another one from block 41 on, and grows.
async fn stored_before_a_reorg(rig: &Rig, chain: &SharedChain) {
    let blocks = verified(&read(chain), 5..=60, Dialect::Geth);
    put(&rig.store, blocks).await;
    write(chain).reorg(40, 150);
}

async fn reverted(rig: &Rig) -> Vec<u64> {
    let journal = rig.journal_after(0).await;
    let reverts = journal.iter().filter(|entry| entry.kind == EntryKind::Revert);
    reverts.map(|entry| entry.number).collect()
}

/// The node does not answer about the older range, and the head is written all the same.
#[tokio::test]
async fn the_head_is_written_while_a_junction_is_looked_at() {
    let chain = sim(330, 80);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    stored_before_a_reorg(&rig, &chain).await;
    let hang = Rule::new(Fault::Hang).on_methods(["eth_getBlockByNumber"]);
    let hanging = node.faults.add(hang.on_blocks(41..=60));
    let ingest = rig.start();
    let at_junction = async || {
        let ranges = rig.ranges().await;
        let is_there = ranges.last().is_some_and(|(from, _)| *from < 180);
        if is_there { Ok(()) } else { Err(format!("{ranges:?}")) }
    };
    eventually_gives("history is filled", at_junction).await;
    for _ in 0..3 {
        write(&chain).extend(1);
        let head = read(&chain).head_number();
        let followed = async || rig.summary(head).await.map(|_| ()).ok_or(format!("{head}"));
        eventually_gives("the head is followed", followed).await;
    }
    assert_eq!(reverted(&rig).await, [0u64; 0], "the junction is still looked at");
    node.faults.remove(hanging);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

/// The node says that all of the older range is of another chain.
#[tokio::test]
async fn a_nodes_bare_word_reverts_nothing() {
    let chain = sim(331, 80);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    stored_before_a_reorg(&rig, &chain).await;
    node.faults.add(Rule::from(Tamper::WrongParentRehashed).on_blocks(5..=40));
    let ingest = rig.start();
    let met = async || {
        let reverted = reverted(&rig).await;
        if reverted.is_empty() { Err("nothing yet".into()) } else { Ok(reverted) }
    };
    let reverted_first = eventually_gives("the stale blocks go", met).await;
    assert_eq!(reverted_first, (41..=60).rev().collect::<Vec<u64>>(), "and no others");
    node.faults.clear();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    assert_eq!(reverted(&rig).await, reverted_first);
}

/// Its word on a stale block contradicts what was verified: the block above names another parent.
#[tokio::test]
async fn a_node_whose_numbers_contradict_verified_hashes_is_reported() {
    let chain = sim(332, 80);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    stored_before_a_reorg(&rig, &chain).await;
    node.faults.add(Rule::from(Tamper::WrongParentRehashed).on_blocks(50..=52));
    let ingest = rig.start();
    let evidence = || ingest.pool.status().upstreams[0].evidence.clone();
    eventually("it is reported", || !evidence().is_empty(), || "nothing").await;
    assert_eq!(evidence()[0].check, "parent link");
    assert_eq!(reverted(&rig).await, [0u64; 0]);
    node.faults.clear();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    assert_eq!(reverted(&rig).await, (41..=60).rev().collect::<Vec<u64>>());
}

/// More than is reverted at one junction.
#[tokio::test]
async fn a_long_stale_range_is_reverted_step_by_step() {
    let chain = sim(333, 420);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let blocks = verified(&read(&chain), 5..=400, Dialect::Geth);
    put(&rig.store, blocks).await;
    write(&chain).reorg(390, 500);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let mut gone = reverted(&rig).await;
    gone.sort_unstable();
    assert_eq!(gone, (31..=400).collect::<Vec<u64>>());
}
