//! A process that may open no more files: the engine cannot write its tables and closes itself; when
//! there are descriptors again, the same process writes on. In a child, since the limit is a process's.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use store::WriteState;

use crate::disk_full::{digest, expected, wait_until};
use crate::files::{apply, chain, open, scratch};

const VARIABLE: &str = "HEADWATER_TEST_DESCRIPTORS";

#[test]
fn an_engine_without_descriptors_is_opened_anew_when_there_are_some() {
    let dir = scratch();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "descriptors::child", "--nocapture"])
        .env(VARIABLE, dir.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{told}");
    assert!(told.contains("healed"), "{told}");
}

/// Not a test of its own: nothing happens unless the one above started it.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Ok(folder) = std::env::var(VARIABLE) else { return };
    let folder = Path::new(&folder).join("store");
    let sim = chain(9);
    let store = open(&folder).await.unwrap();
    apply(&store, &sim, 0, 5).await.unwrap();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(200), ..limit }).unwrap();
    let mut taken = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        taken.push(file);
    }
    assert!(taken.len() > 50, "{}", taken.len());
    let error = store.compact().await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    let error = apply(&store, &sim, 5, 6).await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    // It is tried, and the reason is told while it stands.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(matches!(store.write_state(), WriteState::Paused { .. }), "{:?}", store.write_state());
    assert_eq!(
        store.view().await.unwrap().coverage(crate::sim_block::CHAIN).await.unwrap().blocks(),
        5
    );
    drop(taken);
    wait_until("it is writable", || store.write_state().is_writable()).await;
    apply(&store, &sim, 0, 10).await.unwrap();
    assert_eq!(digest(&store).await, expected(&sim).await);
    eprintln!("healed");
}
