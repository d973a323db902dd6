//! Blocks that get their traces or receipts later.

use model::facts::Facts;
use model::proof::Proof;
use store::{Change, EntryKind, Error, Origin, PreparedBlock, VerifiedBlock};
use testkit::SimChain;

use crate::chain::*;
use crate::engine::{Engine, on_every_engine};
use crate::home::Home;
use crate::made_facts;

on_every_engine!(
    traces_that_come_later_make_the_block_what_it_would_have_been,
    receipts_that_come_later_do_so_too,
    blocks_without_traces_stand_in_a_queue_until_they_have_them,
    one_change_reverts_then_amends_then_applies,
    what_is_not_stored_so_cannot_be_amended,
    traces_are_taken_from_a_block_and_nothing_else,
    a_change_that_is_refused_leaves_no_pool_unwritten,
);

fn hash(chain: &SimChain, number: u64) -> alloy_primitives::B256 {
    chain.block(number).unwrap().hash
}

/// All blocks, as a node gives them that cannot trace.
async fn untraced(engine: Engine, chain: &SimChain) -> Home {
    let home = Home::new(engine).await;
    let blocks = chain.blocks().iter().map(|block| home.untraced(chain, block.hash));
    home.apply(blocks.collect()).await.unwrap();
    home
}

async fn traces_that_come_later_make_the_block_what_it_would_have_been(engine: Engine) {
    let chain = chain(41, 10);
    let home = untraced(engine, &chain).await;
    let expected = Home::indexed(engine, &chain).await;
    assert_ne!(home.digest().await, expected.digest().await);
    let before = home.seq().await;
    let done = home.amend(vec![home.at(&chain, 4), home.at(&chain, 2)]).await.unwrap();
    let told: Vec<_> = done.entries.iter().map(|e| (e.seq, e.kind, e.number, e.origin)).collect();
    let amended = |seq, number| (seq, EntryKind::Amend, number, Origin::History);
    assert_eq!(told, [amended(before + 1, 4), amended(before + 2, 2)]);
    assert_eq!(done.coverage.ranges(), [(0, 10)]);
    assert!(home.view().await.block_summary(CHAIN, 4).await.unwrap().unwrap().has_traces);
    let rest = chain.blocks().iter().map(|block| home.prepared(&chain, block.hash)).collect();
    home.amend(rest).await.unwrap();
    assert_eq!(home.digest().await, expected.digest().await);
    home.revert((0..=10).rev().collect()).await.unwrap();
    assert_eq!(home.digest().await, Home::new(engine).await.digest().await);
}

async fn receipts_that_come_later_do_so_too(engine: Engine) {
    let chain = chain(42, 4);
    let home = Home::new(engine).await;
    for number in 0..=4 {
        let mut bare = verified(&chain, hash(&chain, number));
        bare.block.receipts = vec![None; bare.block.txs.len()];
        bare.proof = Proof::HEADER;
        home.apply(vec![home.store().prepare(CHAIN, bare)]).await.unwrap();
    }
    home.amend(home.all(&chain)).await.unwrap();
    assert_eq!(home.digest().await, Home::indexed(engine, &chain).await.digest().await);
}

async fn blocks_without_traces_stand_in_a_queue_until_they_have_them(engine: Engine) {
    let chain = chain(43, 6);
    let home = untraced(engine, &chain).await;
    let queue =
        async |below, limit| home.view().await.untraced_blocks(CHAIN, below, limit).await.unwrap();
    // The first block has no transactions: there is nothing to trace.
    assert_eq!(queue(u64::MAX, 100).await, [6, 5, 4, 3, 2, 1]);
    assert_eq!(queue(5, 2).await, [4, 3]);
    assert!(queue(0, 2).await.is_empty());
    assert!(queue(9, 0).await.is_empty());
    home.amend(vec![home.at(&chain, 3)]).await.unwrap();
    home.revert(vec![6, 5]).await.unwrap();
    assert_eq!(queue(u64::MAX, 100).await, [4, 2, 1]);
    home.apply(vec![home.at(&chain, 5)]).await.unwrap();
    assert_eq!(queue(u64::MAX, 100).await, [4, 2, 1]);
    let other = model::chain::ChainId(CHAIN.0 - 1);
    assert!(home.view().await.untraced_blocks(other, 9, 9).await.unwrap().is_empty());
}

async fn one_change_reverts_then_amends_then_applies(engine: Engine) {
    let mut chain = chain(44, 8);
    let home = untraced(engine, &chain).await;
    chain.reorg(3, 4);
    let change = Change {
        origin: Origin::Import,
        revert: vec![8, 7, 6],
        amend: (1..=5).map(|number| home.at(&chain, number)).collect(),
        apply: (6..=9).map(|number| home.at(&chain, number)).collect(),
        ..Change::default()
    };
    let done = home.commit(change).await.unwrap();
    let told: Vec<_> = done.entries.iter().map(|entry| (entry.kind, entry.number)).collect();
    let mut expected: Vec<(EntryKind, u64)> = Vec::new();
    expected.extend([8, 7, 6].map(|number| (EntryKind::Revert, number)));
    expected.extend((1..=5).map(|number| (EntryKind::Amend, number)));
    expected.extend((6..=9).map(|number| (EntryKind::Apply, number)));
    assert_eq!(told, expected);
    assert!(done.entries.iter().all(|entry| entry.origin == Origin::Import));
    home.amend(vec![home.at(&chain, 0)]).await.unwrap();
    assert_eq!(home.digest().await, Home::indexed(engine, &chain).await.digest().await);
}

async fn what_is_not_stored_so_cannot_be_amended(engine: Engine) {
    let mut chain = chain(45, 6);
    let home = untraced(engine, &chain).await;
    home.amend(vec![home.at(&chain, 2)]).await.unwrap();
    let (digest, seq) = (home.digest().await, home.seq().await);
    let without = |number, change: fn(&mut VerifiedBlock)| {
        let mut block = verified(&chain, hash(&chain, number));
        change(&mut block);
        home.store().prepare(CHAIN, block)
    };
    let loses_traces = without(2, |block| block.block.traces = None);
    let loses_a_receipt = without(2, |block| block.block.receipts[0] = None);
    let [good, twice, reverted] = [3, 3, 6].map(|number| home.at(&chain, number));
    let reorg = chain.reorg(2, 3);
    let other = |place: usize| home.prepared(&chain, reorg.added[place].hash);
    let amend = |amend: Vec<PreparedBlock>| Change::amend(Origin::History, amend);
    let again = || home.at(&chain, 3);
    let refused = [
        (2, amend(vec![again(), loses_traces])),
        (2, amend(vec![again(), loses_a_receipt])),
        (5, amend(vec![again(), other(0)])),
        (7, amend(vec![again(), other(2)])),
        (3, amend(vec![good, twice])),
        (6, Change { revert: vec![6], ..amend(vec![again(), reverted]) }),
    ];
    for (expected, change) in refused {
        match home.commit(change).await {
            Err(Error::NotStored { number }) => assert_eq!(number, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
    assert_eq!((home.digest().await, home.seq().await), (digest, seq), "nothing is written");
}

/// Traces that turned out to be wrong go, and come again from somebody else.
async fn traces_are_taken_from_a_block_and_nothing_else(engine: Engine) {
    let chain = chain(47, 6);
    let home = Home::indexed(engine, &chain).await;
    let whole = home.digest().await;
    let untrace = |block| Change::untrace(Origin::History, vec![block]);
    let done = home.commit(untrace(home.untraced(&chain, hash(&chain, 3)))).await.unwrap();
    assert_eq!((done.entries[0].kind, done.entries[0].number), (EntryKind::Amend, 3));
    let view = home.store().view().await.unwrap();
    assert_eq!(view.untraced_blocks(CHAIN, u64::MAX, 10).await.unwrap(), [3]);
    assert!(!view.block_summary(CHAIN, 3).await.unwrap().unwrap().has_traces);
    let digest = home.digest().await;
    assert_ne!(digest, whole);
    // With traces it is no such change, and without a receipt it loses too much.
    let mut short = verified(&chain, hash(&chain, 4));
    (short.block.traces, short.block.receipts[0]) = (None, None);
    for wrong in [home.at(&chain, 4), home.store().prepare(CHAIN, short)] {
        assert!(matches!(home.commit(untrace(wrong)).await, Err(Error::NotStored { number: 4 })));
    }
    assert_eq!(home.digest().await, digest, "nothing is written");
    home.amend(vec![home.at(&chain, 3)]).await.unwrap();
    assert_eq!(home.digest().await, whole);
}

/// An engine may remember which pools it wrote; what was refused it did not write.
async fn a_change_that_is_refused_leaves_no_pool_unwritten(engine: Engine) {
    let chain = chain(46, 3);
    let home = Home::new(engine).await;
    let without_facts = |number| {
        let mut block = verified(&chain, hash(&chain, number));
        (block.facts, block.block.traces) = (Facts::default(), None);
        home.store().prepare(CHAIN, block)
    };
    home.apply(vec![without_facts(1), without_facts(2)]).await.unwrap();
    home.amend(vec![home.at(&chain, 2)]).await.unwrap();
    let with_pools = (0..1000u64).map(|n| alloy_primitives::keccak256(n.to_be_bytes()));
    let facts = with_pools
        .map(|hash| made_facts::facts(hash, 1))
        .find(|facts| facts.pools.seen.len() == 2)
        .unwrap();
    let amended = || {
        let block = VerifiedBlock { facts: facts.clone(), ..verified(&chain, hash(&chain, 1)) };
        home.store().prepare(CHAIN, block)
    };
    let loses_traces = home.untraced(&chain, hash(&chain, 2));
    home.amend(vec![amended(), loses_traces]).await.unwrap_err();
    home.amend(vec![amended()]).await.unwrap();
    let known = home.view().await.pools_of(CHAIN, facts.pools.seen[0].token0).await.unwrap();
    assert!(facts.pools.seen.iter().all(|pool| known.contains(pool)), "{known:?}");
}
