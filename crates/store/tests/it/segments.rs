//! Bodies of blocks in segments and in the engine's rows: where they lie changes no answer, whatever is
//! reverted, amended, pruned, moved or cut off.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::proof::Proof;
use store::{BackupRequest, Change, Options, Origin, PreparedBlock, Store};
use testkit::SimChain;

use crate::disk_full::wait_until;
use crate::files::{answers, apply, apply_as, chain, copy, scratch};
use crate::sim_block::{CHAIN, verified};

/// A few blocks to a file.
fn small_segments(path: &Path) -> Options {
    Options { memory_bytes: 32 << 20, segment_bytes: 24 << 10, ..Options::new(path) }
}

async fn open(path: &Path) -> Store {
    Store::open(&small_segments(path), |_| ()).await.unwrap()
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("segments")).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn bytes(files: &[PathBuf]) -> u64 {
    files.iter().map(|file| file.metadata().unwrap().len()).sum()
}

fn prepared(store: &Store, sim: &SimChain, numbers: RangeInclusive<u64>) -> Vec<PreparedBlock> {
    let hash = |number| sim.block(number).unwrap().hash;
    numbers.map(|number| store.prepare(CHAIN, verified(sim, hash(number)))).collect()
}

async fn digest(store: &Store) -> String {
    store.view().await.unwrap().digest(CHAIN).await.unwrap().to_string()
}

/// A store that never saw anything else.
async fn digest_of(sim: &SimChain) -> String {
    let folder = scratch();
    let store = open(folder.path()).await;
    let all = prepared(&store, sim, 0..=sim.head_number());
    store.commit(CHAIN, Change::apply(Origin::Import, all)).await.unwrap();
    digest(&store).await
}

async fn assert_whole(store: &Store) {
    let report = store.check(|_| ()).await.unwrap();
    assert!(report.holds(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_head_stays_in_the_engine_until_it_is_left_behind_and_may_be_reverted_far_below() {
    let folder = scratch();
    let mut sim = chain(400);
    let store = open(folder.path()).await;
    apply(&store, &sim, 0, 100).await.unwrap();
    assert_eq!(segments(folder.path()), [] as [PathBuf; 0], "all of them are near the head");
    apply(&store, &sim, 100, sim.blocks().len()).await.unwrap();
    wait_until("older blocks are moved", || segments(folder.path()).len() > 2).await;
    assert_eq!(digest(&store).await, digest_of(&sim).await);
    assert_whole(&store).await;
    // Far into what was moved: a reorg of 300 blocks.
    let old = sim.head_number();
    sim.reorg(300, 310);
    let revert: Vec<u64> = (old - 299..=old).rev().collect();
    let (first, last) = (revert[299], sim.head_number());
    let apply = prepared(&store, &sim, first..=last);
    store.commit(CHAIN, Change { revert, ..Change::apply(Origin::Head, apply) }).await.unwrap();
    assert_eq!(digest(&store).await, digest_of(&sim).await);
    assert_whole(&store).await;
    drop(store);
    let store = open(folder.path()).await;
    assert_eq!(digest(&store).await, digest_of(&sim).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_in_a_segment_is_amended_and_what_is_dead_is_given_back() {
    let folder = scratch();
    let sim = chain(60);
    let store = open(folder.path()).await;
    let untraced = |number: u64| {
        let mut block = verified(&sim, sim.block(number).unwrap().hash);
        block.block.traces = None;
        block.proof = block.proof.without(Proof::TRACES);
        store.prepare(CHAIN, block)
    };
    let all = (0..=sim.head_number()).map(untraced).collect();
    store.commit(CHAIN, Change::apply(Origin::History, all)).await.unwrap();
    for first in (0..=sim.head_number()).step_by(7) {
        let last = (first + 6).min(sim.head_number());
        let amend = prepared(&store, &sim, first..=last);
        store.commit(CHAIN, Change::amend(Origin::History, amend)).await.unwrap();
    }
    assert_eq!(digest(&store).await, digest_of(&sim).await);
    assert_whole(&store).await;
    // Two blocks are left in a file of many.
    let revert: Vec<u64> = (2..=sim.head_number()).rev().collect();
    store.commit(CHAIN, Change::revert(Origin::Head, revert)).await.unwrap();
    let before = bytes(&segments(folder.path()));
    store.reclaim().await.unwrap();
    let after = bytes(&segments(folder.path()));
    assert!(after < before, "{after} of {before} bytes are left");
    assert_whole(&store).await;
    let again = prepared(&store, &sim, 2..=sim.head_number());
    store.commit(CHAIN, Change::apply(Origin::History, again)).await.unwrap();
    assert_eq!(digest(&store).await, digest_of(&sim).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_blocks_go_with_their_files_once_nobody_reads_them() {
    let folder = scratch();
    let sim = chain(80);
    let store = open(folder.path()).await;
    apply_as(Origin::History, &store, &sim, 0..80).await.unwrap();
    let before = segments(folder.path());
    let oldest = store.view().await.unwrap();
    while store.prune_oldest(CHAIN, 60, 16).await.unwrap().blocks > 0 {}
    assert_eq!(segments(folder.path()), before, "somebody may read them");
    for number in 0..60 {
        assert!(oldest.whole_block(CHAIN, number).await.unwrap().is_some(), "{number}");
    }
    drop(oldest);
    while store.prune_oldest(CHAIN, 70, 16).await.unwrap().blocks > 0 {}
    let few = || segments(folder.path()).len() * 2 < before.len();
    wait_until("the files of the oldest are gone", few).await;
    assert_whole(&store).await;
    let left = store.view().await.unwrap();
    assert!(left.whole_block(CHAIN, 79).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_write_left_behind_that_never_came_to_be_is_overwritten() {
    let base = scratch();
    let (folder, cut) = (base.path().join("store"), base.path().join("cut"));
    let sim = chain(30);
    let store = open(&folder).await;
    apply_as(Origin::History, &store, &sim, 0..20).await.unwrap();
    let expected = answers(&store).await.unwrap();
    copy(&folder, &cut);
    drop(store);
    // Appended, and the engine's write did not follow; the first record of a new file likewise.
    let files = segments(&cut);
    let number = |file: &&PathBuf| {
        file.file_stem().and_then(|name| name.to_str()?.parse::<u64>().ok()).unwrap()
    };
    let newest = files.iter().max_by_key(number).unwrap();
    let mut longer = std::fs::read(newest).unwrap();
    longer.extend_from_slice(&[0xab; 5000]);
    std::fs::write(newest, longer).unwrap();
    std::fs::write(cut.join("segments/999.bodies"), [7; 100]).unwrap();
    let store = open(&cut).await;
    assert_eq!(answers(&store).await.unwrap(), expected);
    assert_whole(&store).await;
    assert!(!cut.join("segments/999.bodies").exists());
    apply_as(Origin::History, &store, &sim, 20..30).await.unwrap();
    assert_eq!(digest(&store).await, digest_of_first(&sim, 30).await);
    assert_whole(&store).await;
    drop(store);
    let store = open(&cut).await;
    assert_eq!(digest(&store).await, digest_of_first(&sim, 30).await);
}

async fn digest_of_first(sim: &SimChain, blocks: usize) -> String {
    let folder = scratch();
    let store = open(folder.path()).await;
    apply(&store, sim, 0, blocks).await.unwrap();
    digest(&store).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_taken_from_segments_comes_back_and_what_is_written_meanwhile_does_not() {
    let base = scratch();
    let sim = chain(60);
    let store = open(&base.path().join("store")).await;
    apply_as(Origin::History, &store, &sim, 0..30).await.unwrap();
    apply(&store, &sim, 30, 40).await.unwrap();
    let before = digest(&store).await;
    let backup = base.path().join("backup");
    let request = BackupRequest { folder: backup.clone(), taken_at: "now".into() };
    let manifest = store.backup(request, Arc::default()).await.unwrap();
    assert_eq!(manifest.chains[0].digest, before);
    apply_as(Origin::History, &store, &sim, 40..60).await.unwrap();
    assert_whole(&store).await;
    let restored = base.path().join("restored");
    Store::restore(&small_segments(&restored), &backup, Arc::default()).await.unwrap();
    let restored_store = open(&restored).await;
    assert_eq!(digest(&restored_store).await, before);
    assert_whole(&restored_store).await;
    assert!(segments(&restored).len() > 1);
    apply_as(Origin::History, &restored_store, &sim, 40..60).await.unwrap();
    assert_eq!(digest(&restored_store).await, digest(&store).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dictionary_is_trained_once_enough_was_seen_and_makes_bodies_smaller() {
    let base = scratch();
    let sim = chain(120);
    let (plain, taught) = (base.path().join("plain"), base.path().join("taught"));
    let mut sizes = Vec::new();
    for (folder, teaches) in [(&plain, false), (&taught, true)] {
        let store = open(folder).await;
        if teaches {
            // Preparing writes nothing; a chain of some hundred large blocks would do the same.
            for _ in 0..40 {
                drop(prepared(&store, &sim, 0..=119));
            }
        }
        apply_as(Origin::History, &store, &sim, 0..120).await.unwrap();
        assert_eq!(digest(&store).await, digest_of_first(&sim, 120).await);
        drop(store);
        let store = open(folder).await;
        assert_eq!(digest(&store).await, digest_of_first(&sim, 120).await);
        assert_whole(&store).await;
        sizes.push(bytes(&segments(folder)));
    }
    eprintln!("{sizes:?} bytes without and with a dictionary");
    assert!(sizes[1] * 10 < sizes[0] * 9, "{sizes:?}");
}
