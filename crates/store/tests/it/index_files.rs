//! Index rows in files of their own: where they lie changes no answer, whatever is merged, reverted, amended, pruned or
//! cut off.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::proof::Proof;
use store::{BackupRequest, Change, Options, Origin, Store};
use testkit::SimChain;

use crate::copy_folder::copy_folder;
use crate::disk_full::wait_until;
use crate::files::{apply_as, chain, scratch};
use crate::sim_block::{CHAIN, verified};

/// A fold for every commit or two.
async fn open(path: &Path) -> Store {
    let options =
        Options { memory_bytes: 32 << 20, run_bytes: Some(4 << 10), ..Options::new(path) };
    Store::open(&options, |_| ()).await.unwrap()
}

fn index_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("index")).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

async fn digest(store: &Store) -> String {
    store.view().await.unwrap().digest(CHAIN).await.unwrap().to_string()
}

async fn assert_is(store: &Store, sim: &SimChain, blocks: std::ops::Range<usize>) {
    let folder = scratch();
    let plain = open(folder.path()).await;
    apply_as(Origin::Head, &plain, sim, blocks).await.unwrap();
    assert_eq!(digest(store).await, digest(&plain).await);
    // Of transactions by hash and words of logs, too.
    let report = store.check(|_| ()).await.unwrap();
    assert!(report.holds(), "{report:?}");
}

/// Downwards, as history comes.
async fn fill(store: &Store, sim: &SimChain, at_once: usize) {
    let numbers: Vec<usize> = (0..sim.blocks().len()).collect();
    for some in numbers.rchunks(at_once) {
        let blocks = some[0]..some[some.len() - 1] + 1;
        apply_as(Origin::History, store, sim, blocks).await.unwrap();
        store.flush().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_folds_become_few_files() {
    let (folder, sim) = (scratch(), chain(90));
    let store = open(folder.path()).await;
    fill(&store, &sim, 3).await;
    let few = || index_files(folder.path()).len() <= 9;
    wait_until("files are merged", few).await;
    assert!(!index_files(folder.path()).is_empty());
    assert_is(&store, &sim, 0..sim.blocks().len()).await;
    store.compact().await.unwrap();
    assert_eq!(index_files(folder.path()).len(), 1);
    assert_is(&store, &sim, 0..sim.blocks().len()).await;
    drop(store);
    let store = open(folder.path()).await;
    assert_is(&store, &sim, 0..sim.blocks().len()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_in_files_are_reverted_amended_and_pruned() {
    let folder = scratch();
    let mut sim = chain(60);
    let store = open(folder.path()).await;
    let untraced = |number: usize| {
        let mut block = verified(&sim, sim.blocks()[number].hash);
        block.block.traces = None;
        block.proof = block.proof.without(Proof::TRACES);
        store.prepare(CHAIN, block)
    };
    for first in (0..=60).rev().step_by(10) {
        let from = if first < 10 { 0 } else { first - 9 };
        let apply = (from..=first).map(untraced).collect();
        store.commit(CHAIN, Change::apply(Origin::History, apply)).await.unwrap();
        store.flush().await.unwrap();
    }
    let amend = (13..=47).map(|n| store.prepare(CHAIN, verified(&sim, sim.blocks()[n].hash)));
    store.commit(CHAIN, Change::amend(Origin::History, amend.collect())).await.unwrap();
    let rest = (0..13).chain(48..=60);
    let amend = rest.map(|n| store.prepare(CHAIN, verified(&sim, sim.blocks()[n].hash)));
    store.commit(CHAIN, Change::amend(Origin::History, amend.collect())).await.unwrap();
    assert_is(&store, &sim, 0..61).await;
    assert_eq!(index_files(folder.path()), [] as [PathBuf; 0], "all rows are in tables now");

    store.commit(CHAIN, Change::revert(Origin::Head, (0..=60).rev().collect())).await.unwrap();
    fill(&store, &sim, 7).await;
    sim.reorg(33, 35);
    let change = Change::revert(Origin::Head, (28..=60).rev().collect());
    store.commit(CHAIN, change).await.unwrap();
    apply_as(Origin::History, &store, &sim, 28..63).await.unwrap();
    assert_is(&store, &sim, 0..63).await;

    let view = store.view().await.unwrap();
    let before = view.digest(CHAIN).await.unwrap();
    while store.prune_oldest(CHAIN, 50, 8).await.unwrap().blocks > 0 {}
    assert_eq!(view.digest(CHAIN).await.unwrap(), before, "who reads goes on with what was there");
    drop(view);
    let report = store.check(|_| ()).await.unwrap();
    assert!(report.holds(), "{report:?}");
    drop(store);
    let store = open(folder.path()).await;
    let report = store.check(|_| ()).await.unwrap();
    assert!(report.holds(), "{report:?}");
    assert!(index_files(folder.path()).len() < 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_process_left_is_removed_and_what_is_missing_is_told() {
    let (folder, sim) = (scratch(), chain(30));
    let path = folder.path().join("store");
    let store = open(&path).await;
    fill(&store, &sim, 10).await;
    drop(store);
    let whole = index_files(&path);
    assert!(!whole.is_empty());
    std::fs::write(path.join("index/77.rows"), b"half of a file").unwrap();
    let store = open(&path).await;
    assert_eq!(index_files(&path), whole);
    fill_again(&store, &sim).await;
    drop(store);

    let lost = folder.path().join("lost");
    copy_folder(&path, &lost);
    let file = index_files(&lost)[0].clone();
    std::fs::remove_file(&file).unwrap();
    let error = Store::open(&Options::new(&lost), |_| ()).await.err().unwrap().to_string();
    assert!(error.contains(file.to_str().unwrap()) && error.contains("it is missing"), "{error}");
}

/// What is stored already is not written again.
async fn fill_again(store: &Store, sim: &SimChain) {
    apply_as(Origin::History, store, sim, 0..sim.blocks().len()).await.unwrap();
    assert_is(store, sim, 0..sim.blocks().len()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_has_the_rows_of_files() {
    let (folder, sim) = (scratch(), chain(30));
    let store = open(&folder.path().join("store")).await;
    fill(&store, &sim, 4).await;
    let backup = folder.path().join("backup");
    let request = BackupRequest { folder: backup.clone(), taken_at: "now".to_owned() };
    store.backup(request, Arc::default()).await.unwrap();
    let options = Options::new(folder.path().join("restored"));
    Store::restore(&options, &backup, Arc::default()).await.unwrap();
    let restored = Store::open(&options, |_| ()).await.unwrap();
    assert_is(&restored, &sim, 0..sim.blocks().len()).await;
}
