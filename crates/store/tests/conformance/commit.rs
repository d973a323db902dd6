//! Applying and reverting: fits, misfits, journal.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, Frame};
use store::{Change, EntryKind, Error, Origin, PreparedBlock, VerifiedBlock, WalletQuery};
use testkit::{SimChain, SimConfig};

use crate::chain::*;
use crate::engine::{Engine, on_every_engine};
use crate::home::Home;
use crate::wallets::question;

on_every_engine!(
    reverting_everything_leaves_a_store_as_if_nothing_had_been,
    reverting_one_block_after_another_passes_through_the_same_stores,
    a_branch_replaces_another_in_one_commit,
    a_block_without_receipts_or_with_odd_traces_can_be_taken_back,
    a_block_that_is_stored_is_passed_over,
    a_block_must_fit_its_neighbours,
    what_is_not_stored_cannot_be_reverted,
    nothing_is_left_hanging_above_a_block_that_goes,
    the_journal_tells_what_happened_in_order,
    chains_do_not_see_each_other,
    a_wallet_grows_into_buckets_and_shrinks_out_of_them,
);

async fn reverting_everything_leaves_a_store_as_if_nothing_had_been(engine: Engine) {
    let chain = chain(1, 30);
    let home = Home::new(engine).await;
    let empty = home.digest().await;
    home.apply(home.all(&chain)).await.unwrap();
    assert_ne!(home.digest().await, empty);
    home.revert((0..=30).rev().collect()).await.unwrap();
    assert_eq!(home.digest().await, empty);
    assert!(home.view().await.coverage(CHAIN).await.unwrap().is_empty());
    assert_eq!(home.view().await.chains().await.unwrap(), []);
    assert!(home.view().await.head(CHAIN).await.unwrap().is_none());
}

async fn reverting_one_block_after_another_passes_through_the_same_stores(engine: Engine) {
    let chain = chain(2, 12);
    let home = Home::new(engine).await;
    let mut digests = vec![home.digest().await];
    for number in 0..=12 {
        home.apply(vec![home.at(&chain, number)]).await.unwrap();
        digests.push(home.digest().await);
    }
    for number in (0..=12).rev() {
        assert_eq!(Some(home.digest().await), digests.pop());
        home.revert(vec![number]).await.unwrap();
    }
    assert_eq!(Some(home.digest().await), digests.pop());
}

async fn a_branch_replaces_another_in_one_commit(engine: Engine) {
    let mut chain = chain(3, 20);
    let home = Home::indexed(engine, &chain).await;
    let reorg = chain.reorg(6, 7);
    let revert = (15..=20).rev().collect();
    let apply = reorg.added.iter().map(|block| home.prepared(&chain, block.hash)).collect();
    let done = home.commit(Change { revert, apply, ..Change::default() }).await.unwrap();
    assert_eq!(done.entries.len(), 13);
    assert_eq!(home.digest().await, Home::indexed(engine, &chain).await.digest().await);
}

async fn a_block_without_receipts_or_with_odd_traces_can_be_taken_back(engine: Engine) {
    let chain = chain(4, 3);
    let home = Home::new(engine).await;
    let empty = home.digest().await;
    let mut bare: Block = block(&chain, chain.block(1).unwrap().hash);
    bare.receipts = vec![None; bare.txs.len()];
    let mut odd = block(&chain, chain.block(2).unwrap().hash);
    for frames in odd.traces.iter_mut().flatten() {
        // A root that is not like its transaction, as some chains trace system transactions.
        frames[0] = Frame { from: [9; 20].into(), to: Some([8; 20].into()), ..frames[0].clone() };
    }
    let mut untraced = block(&chain, chain.block(3).unwrap().hash);
    untraced.traces = None;
    let prepared = |block| {
        let (proof, facts) = (Proof::default(), Facts::default());
        home.store().prepare(CHAIN, VerifiedBlock { block, proof, facts })
    };
    let blocks = [bare, odd, untraced].map(prepared);
    home.apply(blocks.into()).await.unwrap();
    assert!(!home.view().await.block_summary(CHAIN, 3).await.unwrap().unwrap().has_traces);
    home.revert(vec![3, 2, 1]).await.unwrap();
    assert_eq!(home.digest().await, empty);
}

async fn a_block_that_is_stored_is_passed_over(engine: Engine) {
    let chain = chain(5, 5);
    let home = Home::indexed(engine, &chain).await;
    let before = home.digest().await;
    let done = home.apply(home.all(&chain)).await.unwrap();
    assert_eq!(done.entries, []);
    assert_eq!(home.digest().await, before);

    let twice = Home::new(engine).await;
    let done = twice.apply(vec![home.at(&chain, 2), home.at(&chain, 2)]).await.unwrap();
    assert_eq!(done.entries.len(), 1);
    twice.revert(vec![2]).await.unwrap();
    assert_eq!(twice.digest().await, Home::new(engine).await.digest().await, "counted once");
}

async fn a_block_must_fit_its_neighbours(engine: Engine) {
    let mut chain = chain(6, 10);
    let home = Home::new(engine).await;
    home.apply(vec![home.at(&chain, 4), home.at(&chain, 8)]).await.unwrap();
    let before = home.digest().await;
    let reorg = chain.reorg(8, 8);
    let other = |number: u64| home.prepared(&chain, reorg.added[number as usize - 3].hash);
    let detached = |result, number: u64, neighbour: u64| match result {
        Err(Error::Detached { number: n, neighbour: m, .. }) => {
            assert_eq!((n, m), (number, neighbour));
        }
        other => panic!("{other:?}"),
    };
    detached(home.apply(vec![other(5)]).await, 5, 4);
    detached(home.apply(vec![other(7)]).await, 7, 8);
    detached(home.apply(vec![other(6), other(7), other(5)]).await, 7, 8);
    // The block that is stored already must not hide that the one below it does not fit.
    let stored = home.prepared(&chain, reorg.dropped[8 - 3].hash);
    detached(home.apply(vec![other(7), stored]).await, 7, 8);
    assert!(matches!(home.apply(vec![other(4)]).await, Err(Error::Occupied { number: 4, .. })));
    let both = vec![home.prepared(&chain, reorg.dropped[0].hash), other(3)];
    assert!(matches!(home.apply(both).await, Err(Error::Occupied { number: 3, .. })));
    assert_eq!(home.digest().await, before, "nothing is written");
}

async fn what_is_not_stored_cannot_be_reverted(engine: Engine) {
    let chain = chain(7, 3);
    let home = Home::indexed(engine, &chain).await;
    let before = home.digest().await;
    for list in [vec![9], vec![3, 9], vec![3, 3]] {
        assert!(matches!(home.revert(list).await, Err(Error::NotStored { .. })));
    }
    assert_eq!(home.digest().await, before);
}

async fn nothing_is_left_hanging_above_a_block_that_goes(engine: Engine) {
    let chain = chain(19, 9);
    let home = Home::new(engine).await;
    let blocks = [1, 2, 3, 7, 8].map(|number| home.at(&chain, number));
    home.apply(blocks.into()).await.unwrap();
    let (digest, seq) = (home.digest().await, home.seq().await);
    for (list, above) in [(vec![2], 3), (vec![2, 3], 3), (vec![3, 1], 2), (vec![8, 7, 2], 3)] {
        match home.revert(list.clone()).await {
            Err(Error::Detached { number, neighbour, .. }) => {
                assert_eq!((number, neighbour), (above, above - 1), "{list:?}");
            }
            other => panic!("{list:?}: {other:?}"),
        }
    }
    // Not even when the same block takes its place in the same change.
    let again = Change::apply(Origin::Head, vec![home.at(&chain, 2)]);
    let replaced = home.commit(Change { revert: vec![2], ..again }).await;
    assert!(replaced.is_err_and(|error| error.is_retryable()));
    assert_eq!((home.digest().await, home.seq().await), (digest, seq), "nothing is written");
    // Each range from its top, whatever is above in another one.
    home.revert(vec![3, 8, 2]).await.unwrap();
    let coverage = home.view().await.coverage(CHAIN).await.unwrap();
    assert_eq!(coverage.ranges(), [(1, 1), (7, 7)]);
}

async fn the_journal_tells_what_happened_in_order(engine: Engine) {
    let mut chain = chain(8, 4);
    let home = Home::new(engine).await;
    let hash = |chain: &SimChain, number| chain.block(number).unwrap().hash;
    let mut expected: Vec<(EntryKind, u64, B256)> = Vec::new();
    for number in [3, 4, 1, 2] {
        home.apply(vec![home.at(&chain, number)]).await.unwrap();
        expected.push((EntryKind::Apply, number, hash(&chain, number)));
    }
    expected.extend([4, 3].map(|number| (EntryKind::Revert, number, hash(&chain, number))));
    chain.reorg(2, 2);
    expected.extend([3, 4].map(|number| (EntryKind::Apply, number, hash(&chain, number))));
    let (revert, apply) = (vec![4, 3], vec![home.at(&chain, 3), home.at(&chain, 4)]);
    let change = Change { origin: Origin::Head, revert, apply, ..Change::default() };
    let done = home.commit(change).await.unwrap();
    assert_eq!(done.coverage.ranges(), [(1, 4)]);

    let view = home.view().await;
    let entries = view.journal_after(CHAIN, 0, 100).await.unwrap();
    assert!(entries.iter().zip(1..).all(|(entry, seq)| entry.seq == seq));
    let told: Vec<_> = entries.iter().map(|e| (e.kind, e.number, e.hash)).collect();
    assert_eq!(told, expected);
    assert_eq!(done.entries, entries[4..]);
    assert!(entries.iter().all(|entry| entry.origin == Origin::Head));
    assert_eq!(view.version(CHAIN).await.unwrap().seq, 8);
    assert_eq!(view.journal_after(CHAIN, 5, 2).await.unwrap(), entries[5..7]);
    assert_eq!(view.journal_after(ChainId(1), 0, 9).await.unwrap(), []);
}

async fn chains_do_not_see_each_other(engine: Engine) {
    let (one, other) = (chain(9, 6), chain(10, 9));
    let home = Home::indexed(engine, &one).await;
    let before = home.digest().await;
    let id = ChainId(CHAIN.0 + 1);
    let prepared = |hash| home.store().prepare(id, verified(&other, hash));
    let blocks: Vec<PreparedBlock> = other.blocks().iter().map(|b| prepared(b.hash)).collect();
    home.store().commit(id, Change::apply(Origin::Import, blocks)).await.unwrap();
    assert_eq!(home.digest().await, before);
    let view = home.view().await;
    assert_eq!(view.chains().await.unwrap(), [CHAIN, id]);
    assert_eq!(view.head(id).await.unwrap().unwrap().number, 9);
    assert_eq!(view.version(id).await.unwrap().seq, 10);
}

/// The exchange has several hundred rows here, more than a wallet has without counts.
async fn a_wallet_grows_into_buckets_and_shrinks_out_of_them(engine: Engine) {
    let chain = made(SimConfig { txs_per_block: 20, wallets: 12, ..SimConfig::seeded(9) }, 80);
    let exchange = chain.address_of("exchange").unwrap();
    let home = Home::new(engine).await;
    let mut digests = vec![home.digest().await];
    for number in 0..=80 {
        home.apply(vec![home.at(&chain, number)]).await.unwrap();
        digests.push(home.digest().await);
    }
    let all = WalletQuery { limit: 1, ..question(exchange, false) };
    let total = home.view().await.wallet_total(&all).await.unwrap();
    assert!(total > 300, "{total}");
    assert_eq!(
        home.digest().await,
        Home::indexed(engine, &chain).await.digest().await,
        "one by one or all at once"
    );
    for number in (0..=80).rev() {
        assert_eq!(Some(home.digest().await), digests.pop(), "before block {number} is reverted");
        home.revert(vec![number]).await.unwrap();
    }
    assert_eq!(Some(home.digest().await), digests.pop());
}
