//! Nodes that change one field of a block: what they say is not stored as verified, whether they are alone
//! or not.

use std::sync::Arc;

use model::chain::{ChainTable, PrivateChain, Verification};
use model::proof::{Level, Proof};
use testkit::lies::{self, BlockLie, Edit, Object};
use testkit::{Rule, SharedChain, SimConfig, Tamper};

use crate::setup::*;

/// How many nodes lie at the same time.
const AT_ONCE: usize = 12;
const BLOCKS: u64 = 18;
/// What a node's head is read from.
const HEAD: [&str; 4] = ["number", "hash", "parentHash", "timestamp"];

fn sim_with(op_stack: bool) -> SharedChain {
    let withdrawals_per_block = if op_stack { 0 } else { 2 };
    let config = SimConfig {
        txs_per_block: 10,
        wallets: 20,
        op_stack,
        withdrawals_per_block,
        ..SimConfig::seeded(31)
    };
    let chain = testkit::shared(config);
    testkit::write(&chain).extend(BLOCKS as usize);
    chain
}

fn chain_with(verification: Verification) -> Arc<model::chain::Chain> {
    let mut private = PrivateChain::new(CHAIN, "sim");
    private.verification = Some(verification);
    let mut usual = Proof::HEADER;
    usual.add(Proof::TRANSACTIONS);
    usual.add(Proof::RECEIPTS);
    private.proof = Some(usual);
    let table = ChainTable::default().with_private(private).unwrap();
    Arc::new(table.get(CHAIN).unwrap().clone())
}

async fn rig(nodes: &[&testkit::SimNode], verification: Verification) -> Rig {
    let mut rig = Rig::new(nodes).await;
    rig.chain = chain_with(verification);
    rig
}

/// A node that lies about every block, alone: it is caught, or what it says is stored for less than it
/// claims. Blocks that have nothing to change are as good as ever.
async fn alone(chain: SharedChain, tamper: Tamper, verification: Verification) {
    let node = node(&chain).await;
    node.faults.add(Rule::from(tamper));
    let rig = rig(&[&node], verification).await;
    let ingest = rig.start();
    let settled = async || {
        let caught = !ingest.pool.status().upstreams[0].evidence.is_empty();
        let done = caught || rig.is_at(&chain).await;
        done.then_some(()).ok_or(format!("{tamper:?}: {:?}", ingest.progress.snapshot()))
    };
    eventually_gives("the liar is caught, or all is stored", settled).await;
    let Tamper::Field(lie) = tamper else { return };
    for number in 0..=BLOCKS {
        let Some(stored) = rig.summary(number).await else { continue };
        let changes = {
            let chain = testkit::read(&chain);
            let text = match lie.is_about_receipts() {
                true => chain.receipts_json(number).unwrap(),
                false => chain.block_json(number, true).unwrap(),
            };
            lie.apply(&mut serde_json::from_slice(&text).unwrap())
        };
        assert!(!changes || stored.proof.level() < Level::Verified, "{lie}: block {number}");
    }
}

async fn every_lie(op_stack: bool, verification: Verification, of: impl Fn(&BlockLie) -> bool) {
    let chain = sim_with(op_stack);
    let lies: Vec<BlockLie> = lies::all().into_iter().filter(of).collect();
    assert!(!lies.is_empty());
    for some in lies.chunks(AT_ONCE) {
        let one = |lie: &BlockLie| alone(chain.clone(), Tamper::Field(*lie), verification);
        let together = tokio::task::LocalSet::new();
        let running: Vec<_> = some.iter().map(one).map(|it| together.spawn_local(it)).collect();
        together.await;
        for ended in running {
            ended.await.unwrap();
        }
    }
}

#[tokio::test]
async fn no_node_gets_a_changed_field_stored_as_verified() {
    // Each field and change once: that they are the same for every type is another test's part.
    let mut seen = std::collections::HashSet::new();
    let lies: Vec<BlockLie> = lies::all();
    let kept: Vec<BlockLie> = lies
        .into_iter()
        .filter(|lie| {
            lie.object != Object::Tx(Some(0x7e)) && lie.object != Object::Receipt(Some(0x7e))
        })
        // Whoever cannot be read there has no head, and is not asked.
        .filter(|lie| !(lie.object == Object::Header && HEAD.contains(&lie.field)))
        .filter(|lie| seen.insert((lie.field, format!("{:?}", lie.edit), lie.is_about_receipts())))
        .collect();
    assert!(kept.len() > 150, "{}", kept.len());
    every_lie(false, Verification::Full, |lie| kept.contains(lie)).await;
}

#[tokio::test]
async fn no_node_gets_a_changed_deposit_stored_as_verified() {
    let is_deposit =
        |lie: &BlockLie| matches!(lie.object, Object::Tx(Some(0x7e)) | Object::Receipt(Some(0x7e)));
    every_lie(true, Verification::OpStack, is_deposit).await;
}

#[tokio::test]
async fn named_lies_are_caught_on_a_node_alone() {
    for tamper in [Tamper::RepeatedKey, Tamper::EverySender] {
        let chain = sim_with(false);
        let node = node(&chain).await;
        node.faults.add(Rule::from(tamper));
        let rig = rig(&[&node], Verification::Full).await;
        let ingest = rig.start();
        let caught = || !ingest.pool.status().upstreams[0].evidence.is_empty();
        let state = || format!("{tamper:?}: {:?}", ingest.progress.snapshot());
        eventually("the liar is caught", caught, state).await;
        // The genesis has no transactions to lie about.
        for number in 1..=BLOCKS {
            assert!(rig.summary(number).await.is_none(), "{tamper:?}: block {number}");
        }
    }
}

/// Not known to be wrong, but less than is usual: a network may have another price of blobs.
const LOWERING: BlockLie =
    BlockLie { object: Object::Receipt(Some(3)), field: "blobGasPrice", edit: Edit::Bump };

#[tokio::test]
async fn a_block_below_the_usual_proof_is_asked_of_another_node() {
    let chain = sim_with(false);
    let (low, honest) = (node(&chain).await, node(&chain).await);
    low.faults.add(Rule::from(Tamper::Field(LOWERING)));
    let mut both = rig(&[&low, &honest], Verification::Full).await;
    both.config.head_trace_ms = 60_000;
    let ingest = both.start();
    both.reaches(&chain, &ingest).await;
    // The head, too, though it was asked of the node that announced it.
    for number in 0..=BLOCKS {
        let stored = both.summary(number).await.unwrap();
        assert_eq!(stored.proof.level(), Level::Verified, "block {number}");
    }
    assert!(low.faults.hits() > 0, "the other was asked, too");
    // Alone, what it says is stored for what it is.
    let alone = rig(&[&low], Verification::Full).await;
    let ingest = alone.start();
    alone.reaches(&chain, &ingest).await;
    let mut lowered = 0;
    for number in 0..=BLOCKS {
        let stored = alone.summary(number).await.unwrap();
        lowered += usize::from(stored.proof.level() == Level::Partial);
    }
    assert!(lowered > 0 && ingest.pool.status().upstreams[0].evidence.is_empty());
}
