//! Applying and reverting: fits, misfits, journal.

use alloy_primitives::B256;
use model::proof::Proof;
use model::raw::{Block, Frame};
use store::{Change, EntryKind, Error, prepare};
use testkit::SimConfig;

use crate::setup::*;

#[test]
fn reverting_everything_leaves_a_store_as_if_nothing_had_been() {
    let chain = chain(1, 30);
    let home = Home::new();
    let empty = home.digest();
    home.apply(all(&chain)).unwrap();
    assert_ne!(home.digest(), empty);
    home.revert((0..=30).rev().collect()).unwrap();
    assert_eq!(home.digest(), empty);
    assert!(home.store().view().coverage(CHAIN).unwrap().is_empty());
    assert_eq!(home.store().view().chains().unwrap(), []);
    assert!(home.store().view().head(CHAIN).unwrap().is_none());
}

#[test]
fn reverting_one_block_after_another_passes_through_the_same_stores() {
    let chain = chain(2, 12);
    let home = Home::new();
    let mut digests = vec![home.digest()];
    for number in 0..=12 {
        home.apply(vec![at(&chain, number)]).unwrap();
        digests.push(home.digest());
    }
    for number in (0..=12).rev() {
        assert_eq!(Some(home.digest()), digests.pop());
        home.revert(vec![number]).unwrap();
    }
    assert_eq!(Some(home.digest()), digests.pop());
}

#[test]
fn a_branch_replaces_another_in_one_commit() {
    let mut chain = chain(3, 20);
    let home = indexed(&chain);
    let reorg = chain.reorg(6, 7);
    let revert = (15..=20).rev().collect();
    let apply = reorg.added.iter().map(|block| prepared(&chain, block.hash)).collect();
    let done = home.store().commit(CHAIN, Change { revert, apply }).unwrap();
    assert_eq!(done.entries.len(), 13);
    assert_eq!(home.digest(), indexed(&chain).digest());
}

#[test]
fn a_block_without_receipts_or_with_odd_traces_can_be_taken_back() {
    let chain = chain(4, 3);
    let home = Home::new();
    let empty = home.digest();
    let mut bare: Block = block(&chain, chain.block(1).unwrap().hash);
    bare.receipts = vec![None; bare.txs.len()];
    let mut odd = block(&chain, chain.block(2).unwrap().hash);
    for frames in odd.traces.iter_mut().flatten() {
        // A root that is not like its transaction, as some chains trace system transactions.
        frames[0] = Frame { from: [9; 20].into(), to: Some([8; 20].into()), ..frames[0].clone() };
    }
    let mut untraced = block(&chain, chain.block(3).unwrap().hash);
    untraced.traces = None;
    let blocks = [bare, odd, untraced]
        .map(|block| prepare(CHAIN, block, Proof::default(), model::facts::Facts::default()));
    home.apply(blocks.into()).unwrap();
    assert!(!home.store().view().stamp(CHAIN, 3).unwrap().unwrap().has_traces);
    home.revert(vec![3, 2, 1]).unwrap();
    assert_eq!(home.digest(), empty);
}

#[test]
fn a_block_that_is_stored_is_passed_over() {
    let chain = chain(5, 5);
    let home = indexed(&chain);
    let before = home.digest();
    let done = home.apply(all(&chain)).unwrap();
    assert_eq!(done.entries, []);
    assert_eq!(home.digest(), before);

    let twice = Home::new();
    let done = twice.apply(vec![at(&chain, 2), at(&chain, 2)]).unwrap();
    assert_eq!(done.entries.len(), 1);
    twice.revert(vec![2]).unwrap();
    assert_eq!(twice.digest(), Home::new().digest(), "counted once");
}

#[test]
fn a_block_must_fit_its_neighbours() {
    let mut chain = chain(6, 10);
    let home = Home::new();
    home.apply(vec![at(&chain, 4), at(&chain, 8)]).unwrap();
    let before = home.digest();
    let reorg = chain.reorg(8, 8);
    let other = |number: u64| prepared(&chain, reorg.added[number as usize - 3].hash);
    let detached = |result, number: u64, neighbour: u64| match result {
        Err(Error::Detached { number: n, neighbour: m, .. }) => {
            assert_eq!((n, m), (number, neighbour));
        }
        other => panic!("{other:?}"),
    };
    detached(home.apply(vec![other(5)]), 5, 4);
    detached(home.apply(vec![other(7)]), 7, 8);
    detached(home.apply(vec![other(6), other(7), other(5)]), 7, 8);
    // The block that is stored already must not hide that the one below it does not fit.
    let stored = prepared(&chain, reorg.dropped[8 - 3].hash);
    detached(home.apply(vec![other(7), stored]), 7, 8);
    assert!(matches!(home.apply(vec![other(4)]), Err(Error::Occupied { number: 4, .. })));
    let both = vec![prepared(&chain, reorg.dropped[0].hash), other(3)];
    assert!(matches!(home.apply(both), Err(Error::Occupied { number: 3, .. })));
    assert_eq!(home.digest(), before, "nothing is written");
}

#[test]
fn what_is_not_stored_cannot_be_reverted() {
    let chain = chain(7, 3);
    let home = indexed(&chain);
    let before = home.digest();
    for list in [vec![9], vec![3, 9], vec![3, 3]] {
        assert!(matches!(home.revert(list), Err(Error::NotStored { .. })));
    }
    assert_eq!(home.digest(), before);
}

#[test]
fn the_journal_tells_what_happened_in_order() {
    let mut chain = chain(8, 4);
    let home = Home::new();
    let hash = |chain: &testkit::SimChain, number| chain.block(number).unwrap().hash;
    let mut expected: Vec<(EntryKind, u64, B256)> = Vec::new();
    for number in [3, 4, 1, 2] {
        home.apply(vec![at(&chain, number)]).unwrap();
        expected.push((EntryKind::Apply, number, hash(&chain, number)));
    }
    expected.extend([4, 3].map(|number| (EntryKind::Revert, number, hash(&chain, number))));
    chain.reorg(2, 2);
    expected.extend([3, 4].map(|number| (EntryKind::Apply, number, hash(&chain, number))));
    let change = Change { revert: vec![4, 3], apply: vec![at(&chain, 3), at(&chain, 4)] };
    let done = home.store().commit(CHAIN, change).unwrap();
    assert_eq!(done.coverage.ranges(), [(1, 4)]);

    let view = home.store().view();
    let entries = view.journal_after(CHAIN, 0, 100).unwrap();
    assert!(entries.iter().zip(1..).all(|(entry, seq)| entry.seq == seq));
    let told: Vec<_> = entries.iter().map(|e| (e.kind, e.number, e.hash)).collect();
    assert_eq!(told, expected);
    assert_eq!(done.entries, entries[4..]);
    assert_eq!(view.journal_head(CHAIN).unwrap(), 8);
    assert_eq!(view.journal_after(CHAIN, 5, 2).unwrap(), entries[5..7]);
    assert_eq!(view.journal_after(model::chain::ChainId(1), 0, 9).unwrap(), []);
}

#[test]
fn chains_do_not_see_each_other() {
    let (one, other) = (chain(9, 6), chain(10, 9));
    let home = indexed(&one);
    let before = home.digest();
    let id = model::chain::ChainId(CHAIN.0 + 1);
    let blocks = other
        .blocks()
        .iter()
        .map(|b| prepare(id, block(&other, b.hash), proven(), model::facts::Facts::default()));
    home.store().commit(id, Change { revert: Vec::new(), apply: blocks.collect() }).unwrap();
    assert_eq!(home.digest(), before);
    let view = home.store().view();
    assert_eq!(view.chains().unwrap(), [CHAIN, id]);
    assert_eq!(view.head(id).unwrap().unwrap().number, 9);
    assert_eq!(view.journal_head(id).unwrap(), 10);
}

/// The exchange has several hundred rows here, more than a wallet is counted without buckets.
#[test]
fn a_wallet_grows_into_buckets_and_shrinks_out_of_them() {
    let chain = made(SimConfig { txs_per_block: 20, wallets: 12, ..SimConfig::seeded(9) }, 80);
    let exchange = chain.address_of("exchange").unwrap();
    let home = Home::new();
    let mut digests = vec![home.digest()];
    for number in 0..=80 {
        home.apply(vec![at(&chain, number)]).unwrap();
        digests.push(home.digest());
    }
    assert!(home.store().view().wallet_summary(CHAIN, exchange).unwrap().has_buckets());
    assert_eq!(home.digest(), indexed(&chain).digest(), "one by one or all at once");
    for number in (0..=80).rev() {
        assert_eq!(Some(home.digest()), digests.pop(), "before block {number} is reverted");
        home.revert(vec![number]).unwrap();
    }
    assert_eq!(Some(home.digest()), digests.pop());
}
