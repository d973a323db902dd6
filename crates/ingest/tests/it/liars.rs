//! Nodes that lie: beside an honest one, and alone.

use testkit::{Fault, Rule, SharedChain, SimNode, Tamper, write};

use crate::setup::*;

/// Every lie that something in a block can tell, and the check that does.
const LIES: [(Tamper, &[&str]); 10] = [
    (Tamper::ChangedValue, &["transaction hash"]),
    (Tamper::ChangedFrom, &["sender", "receipt's transaction"]),
    (Tamper::ChangedTimestamp, &["header hash", "transaction place"]),
    (Tamper::DroppedTransaction, &["transactions root"]),
    (
        Tamper::OtherBlocksBody,
        &["transaction gas price", "transactions root", "receipt's transaction"],
    ),
    (Tamper::WrongParent, &["header hash"]),
    // The genesis names no parent, and what is put there shows in its hash.
    (Tamper::WrongParentRehashed, &["parent link", "header hash"]),
    (Tamper::DroppedLog, &["log place", "receipt's logs bloom", "receipts root"]),
    (Tamper::ChangedLogData, &["receipts root"]),
    (Tamper::SwappedReceipts, &["gas used", "log place", "receipts root"]),
];

/// The liar comes first, so that it is asked first.
async fn beside_an_honest_node(chain: &SharedChain, rule: Rule) -> Vec<String> {
    let (liar, honest) = (node(chain).await, node(chain).await);
    liar.faults.add(rule);
    let rig = Rig::new(&[&liar, &honest]).await;
    let ingest = rig.start();
    rig.reaches(chain, &ingest).await;
    for _ in 0..3 {
        write(chain).extend(1);
        rig.reaches(chain, &ingest).await;
    }
    write(chain).reorg(2, 3);
    rig.reaches(chain, &ingest).await;
    rig.check(chain, Dialect::Geth).await;
    let status = ingest.pool.status();
    assert!(status.upstreams[1].evidence.is_empty(), "{:?}", status.upstreams[1].evidence);
    status.upstreams[0].evidence.iter().map(|evidence| evidence.check.clone()).collect()
}

fn assert_caught(tamper: Tamper, expected: &[&str], caught: &[String]) {
    assert!(!caught.is_empty(), "{tamper:?} was not noticed");
    assert!(
        caught.iter().all(|check| expected.contains(&check.as_str())),
        "{tamper:?}: {caught:?}"
    );
}

#[tokio::test]
async fn a_node_that_lies_about_everything_is_caught_and_healed_from_another() {
    for (i, (tamper, expected)) in LIES.into_iter().enumerate() {
        let chain = busy_sim(60 + i as u64, 30);
        let caught = beside_an_honest_node(&chain, tamper.into()).await;
        assert_caught(tamper, expected, &caught);
    }
}

#[tokio::test]
async fn a_node_that_lies_about_the_head_is_caught() {
    for (i, (tamper, expected)) in LIES.into_iter().enumerate() {
        let chain = busy_sim(80 + i as u64, 30);
        let caught = beside_an_honest_node(&chain, Rule::from(tamper).on_block(30)).await;
        assert_caught(tamper, expected, &caught);
    }
}

/// Whether the liar is asked for the one block is chance, and so is whether it is caught: but
/// nothing of it may be stored.
#[tokio::test]
async fn a_lie_about_one_old_block_is_never_stored() {
    for (i, (tamper, expected)) in LIES.into_iter().enumerate() {
        let chain = busy_sim(100 + i as u64, 40);
        let caught = beside_an_honest_node(&chain, Rule::from(tamper).on_block(17)).await;
        if !caught.is_empty() {
            assert_caught(tamper, expected, &caught);
        }
    }
}

struct Alone {
    chain: SharedChain,
    node: SimNode,
    rig: Rig,
    ingest: ingest::ChainIngest,
}

/// Waits until the only node was caught, and the ingest says so.
async fn alone(seed: u64, rule: Rule) -> Alone {
    let chain = busy_sim(seed, 30);
    let node = node(&chain).await;
    node.faults.add(rule);
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    let waiting = || ingest.progress.snapshot().waiting.unwrap_or_default();
    let caught = || !ingest.pool.status().upstreams[0].evidence.is_empty();
    let told = || waiting().contains("lied") || waiting().contains("Lying");
    eventually("the liar is caught", || caught() && told(), waiting).await;
    Alone { chain, node, rig, ingest }
}

async fn heals(alone: Alone) {
    let Alone { chain, node, rig, ingest } = alone;
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    rig.holds_only(&chain).await;
    node.faults.clear();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let state = || format!("{:?}", ingest.progress.snapshot().waiting);
    eventually("nobody waits", || ingest.progress.snapshot().waiting.is_none(), state).await;
}

#[tokio::test]
async fn with_a_liar_alone_ingest_waits_and_heals_when_it_is_honest() {
    for (i, (tamper, _)) in LIES.into_iter().enumerate() {
        let alone = alone(120 + i as u64, tamper.into()).await;
        assert!(!alone.rig.is_at(&alone.chain).await, "{tamper:?}");
        heals(alone).await;
    }
}

#[tokio::test]
async fn with_a_liar_alone_about_old_blocks_history_waits_above_the_lie() {
    for (i, (tamper, _)) in LIES.into_iter().enumerate() {
        let alone = alone(140 + i as u64, Rule::from(tamper).on_blocks(10..=12)).await;
        let ranges = alone.rig.ranges().await;
        let (from, _) = *ranges.last().unwrap();
        assert!(from > 12, "{tamper:?}: {ranges:?}");
        heals(alone).await;
    }
}

#[tokio::test]
async fn a_node_that_begins_to_lie_reverts_nothing() {
    let chain = busy_sim(160, 30);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    for tamper in [Tamper::WrongParentRehashed, Tamper::WrongParent, Tamper::OtherBlocksBody] {
        node.faults.add(tamper);
        write(&chain).extend(1);
        let waiting = || ingest.progress.snapshot().waiting.unwrap_or_default();
        let told = || waiting().contains("lied") || waiting().contains("Lying");
        eventually("the liar is caught", told, waiting).await;
        rig.holds_only(&chain).await;
        node.faults.clear();
        rig.reaches(&chain, &ingest).await;
    }
    assert_eq!(ingest.progress.snapshot().blocks_reverted, 0);
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn a_node_of_another_chain_is_not_asked() {
    let chain = busy_sim(161, 20);
    let (foreign, good) = (node(&busy_sim(162, 50)).await, node(&chain).await);
    foreign.faults.add(Fault::WrongChainId(5));
    let rig = Rig::new(&[&foreign, &good]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    assert_eq!(foreign.faults.requests("eth_getBlockReceipts"), 0);
}
