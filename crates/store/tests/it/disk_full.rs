//! A disk that is full, and has room again: the same process pauses, says why, and writes on.

use std::time::{Duration, Instant};

use store::{Error, Options, Store, WriteState};
use tempfile::TempDir;
use testkit::{SimChain, SmallDisk};

use crate::files::{answers, apply, chain, open, scratch};
use crate::sim_block::CHAIN;

/// A small disk, and the folder it is mounted on.
fn small_disk() -> Option<(SmallDisk, TempDir)> {
    let dir = tempfile::tempdir().unwrap();
    SmallDisk::mount(dir.path(), 64).map(|disk| (disk, dir))
}

pub async fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub async fn expected(sim: &SimChain) -> String {
    let dir = scratch();
    let store = open(dir.path()).await.unwrap();
    apply(&store, sim, 0, sim.blocks().len()).await.unwrap();
    digest(&store).await
}

pub async fn digest(store: &Store) -> String {
    store.view().await.unwrap().digest(CHAIN).await.unwrap().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_refused_before_the_disk_is_full_and_goes_on_when_there_is_room() {
    let Some((disk, dir)) = small_disk() else { return };
    let sim = chain(19);
    let folder = dir.path().join("store");
    let store = open(&folder).await.unwrap();
    let mut told = store.watch_write_state();
    apply(&store, &sim, 0, 10).await.unwrap();
    assert_eq!(store.write_state(), WriteState::Writable);
    disk.take_all_but(1 << 20);
    wait_until("it is noticed", || !store.write_state().is_writable()).await;
    let error = apply(&store, &sim, 10, 11).await.unwrap_err();
    // A twentieth of 64 MiB.
    assert!(matches!(error, Error::DiskFull { min, .. } if min >= 3_355_443), "{error}");
    assert!(error.is_retryable());
    let text = error.to_string();
    assert!(text.contains(folder.to_str().unwrap()) && text.contains("free_bytes_min"), "{text}");
    let WriteState::Paused { reason, advice } = store.write_state() else { panic!("not paused") };
    assert!(reason.contains("bytes are free") && advice.contains("room"), "{reason}; {advice}");
    assert!(!told.borrow_and_update().is_writable());
    digest(&store).await;
    disk.give_back();
    wait_until("it is writable", || store.write_state().is_writable()).await;
    apply(&store, &sim, 0, 20).await.unwrap();
    assert_eq!(digest(&store).await, expected(&sim).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_ran_into_a_full_disk_is_opened_anew_in_the_same_process() {
    let Some((disk, dir)) = small_disk() else { return };
    let sim = chain(29);
    let folder = dir.path().join("store");
    // Nothing is held back, so the engine meets the end of the disk itself.
    let options =
        Options { memory_bytes: 32 << 20, free_bytes_min: Some(0), ..Options::new(&folder) };
    let store = Store::open(&options, |_| ()).await.unwrap();
    apply(&store, &sim, 0, 10).await.unwrap();
    let mut announced = store.subscribe(CHAIN);
    let before = answers(&store).await.unwrap();
    disk.take_all_but(0);
    let mut failures = 0;
    for _ in 0..3 {
        let error = apply(&store, &sim, 10, 30).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        assert!(error.to_string().contains(folder.to_str().unwrap()), "{error}");
        failures += 1;
    }
    assert_eq!(failures, 3);
    let WriteState::Paused { reason, .. } = store.write_state() else { panic!("not paused") };
    assert!(!reason.is_empty());
    let view = store.view().await.unwrap();
    assert!(view.coverage(CHAIN).await.unwrap().blocks() >= 10, "reading goes on");
    assert!(!before.is_empty());
    disk.give_back();
    // A view from before holds the old engine for a while.
    tokio::time::sleep(Duration::from_millis(700)).await;
    view.digest(CHAIN).await.unwrap();
    drop(view);
    wait_until("it is writable", || store.write_state().is_writable()).await;
    announced.borrow_and_update();
    apply(&store, &sim, 0, 30).await.unwrap();
    assert!(announced.has_changed().unwrap(), "whoever subscribed is still told");
    assert_eq!(digest(&store).await, expected(&sim).await);
    drop(store);
    let store = open(&folder).await.unwrap();
    assert_eq!(digest(&store).await, expected(&sim).await);
    assert!(store.check(|_| ()).await.unwrap().holds());
}

#[tokio::test(flavor = "multi_thread")]
async fn pools_of_a_commit_that_failed_are_written_with_the_next() {
    let Some((disk, dir)) = small_disk() else { return };
    let sim = chain(10);
    let store = open(&dir.path().join("store")).await.unwrap();
    disk.take_all_but(1 << 20);
    wait_until("it is noticed", || !store.write_state().is_writable()).await;
    apply(&store, &sim, 0, 10).await.unwrap_err();
    disk.give_back();
    wait_until("it is writable", || store.write_state().is_writable()).await;
    apply(&store, &sim, 0, 10).await.unwrap();
    let dir = scratch();
    let other = open(dir.path()).await.unwrap();
    apply(&other, &sim, 0, 10).await.unwrap();
    assert_eq!(answers(&store).await.unwrap(), answers(&other).await.unwrap());
}
