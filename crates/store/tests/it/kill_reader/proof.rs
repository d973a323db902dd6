//! What must be true of the rows that the reader kept.

use std::collections::BTreeMap;

use alloy_primitives::B256;
use store::{Change, Options, Origin, Store, VerifiedBlock};

use super::keeper::{Kept, NAME, START, key};
use crate::sim_block::CHAIN;

pub async fn check(store: &Store) {
    let kept = check_chain_of_steps(store).await;
    let seen = fold(&kept);
    check_blocks(store, &seen).await;
    check_cursor(store).await;
    check_straight(store).await;
    let of_kind = |kind| kept.iter().filter(|step| step.kind == kind).count();
    let [applied, reverted, amended] = [b'a', b'r', b'm'].map(of_kind);
    let counts = format!("{applied} applied, {reverted} reverted, {amended} amended");
    assert!(applied > 40 && reverted > 0 && amended > 0, "{counts}");
    eprintln!("the reader was told of {counts}");
}

/// Numbered without a hole, each chained to the one before, in the order of the journal.
async fn check_chain_of_steps(store: &Store) -> Vec<Kept> {
    let view = store.view().await.unwrap();
    let rows = view.reader_rows(CHAIN, NAME, b"e", usize::MAX).await.unwrap();
    let (mut digest, mut seq) = (B256::ZERO, 0);
    let mut all = Vec::new();
    for (row, place) in rows.iter().zip(0..) {
        assert_eq!(row.key, key(b'e', place));
        let kept = Kept::unpack(row.value.as_ref().unwrap());
        assert_eq!(kept.digest, kept.chained(digest), "step {place}");
        assert!(kept.seq >= seq, "step {place}");
        (digest, seq) = (kept.digest, kept.seq);
        all.push(kept);
    }
    all
}

/// Rising by one from where it began, reverts of the last block only: no step twice, none left out.
fn fold(kept: &[Kept]) -> Vec<(u64, B256)> {
    let mut seen: Vec<(u64, B256)> = Vec::new();
    for step in kept {
        let at = (step.number, step.hash);
        match step.kind {
            b'a' => {
                assert_eq!(step.number, START + seen.len() as u64);
                seen.push(at);
            }
            b'r' => assert_eq!(seen.pop(), Some(at)),
            _ => assert!(seen.contains(&at)),
        }
    }
    seen
}

/// What the reader saw is the chain, and every trace that came later was told of.
async fn check_blocks(store: &Store, seen: &[(u64, B256)]) {
    let view = store.view().await.unwrap();
    let coverage = view.coverage(CHAIN).await.unwrap();
    assert_eq!(coverage.ranges().len(), 1);
    let newest = coverage.newest().unwrap();
    let mut expected = BTreeMap::new();
    for number in START..=newest {
        let summary = view.block_summary(CHAIN, number).await.unwrap().unwrap();
        assert!(summary.has_traces);
        expected.insert(key(b'b', number), [summary.hash.as_slice(), &[1]].concat());
        assert_eq!(seen[(number - START) as usize], (number, summary.hash));
    }
    assert_eq!(seen.len() as u64, newest + 1 - START);
    let rows = view.reader_rows(CHAIN, NAME, b"b", usize::MAX).await.unwrap();
    let rows: BTreeMap<_, _> = rows.into_iter().map(|row| (row.key, row.value.unwrap())).collect();
    assert_eq!(rows, expected);
}

async fn check_cursor(store: &Store) {
    let view = store.view().await.unwrap();
    let [status] = view.readers(CHAIN).await.unwrap().try_into().unwrap();
    assert_eq!((status.cursor.start, status.lag_blocks), (START, 0));
    // Nothing behind it is kept, but for the few that always are.
    let kept = view.journal_after(CHAIN, 0, usize::MAX).await.unwrap();
    assert!(kept[0].seq <= status.cursor.seq.max(5) + 1);
}

/// The store is the one that was written in one go.
async fn check_straight(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { memory_bytes: 32 << 20, durable: false, ..Options::new(folder.path()) };
    let straight = Store::open(&options, |_| ()).await.unwrap();
    let view = store.view().await.unwrap();
    let mut apply = Vec::new();
    for (from, to) in view.coverage(CHAIN).await.unwrap().ranges().iter().copied() {
        for number in from..=to {
            let (block, proof) = view.whole_block(CHAIN, number).await.unwrap().unwrap();
            let facts = crate::made_facts::facts(block.hash, block.txs.len());
            apply.push(straight.prepare(CHAIN, VerifiedBlock { block, proof, facts }));
        }
    }
    straight.commit(CHAIN, Change::apply(Origin::Import, apply)).await.unwrap();
    let digest = straight.view().await.unwrap().digest(CHAIN).await.unwrap();
    assert_eq!(view.digest(CHAIN).await.unwrap(), digest);
}
