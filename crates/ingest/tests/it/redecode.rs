//! Stored blocks read anew: told to stop, gone on with, and told of all the while.

use std::sync::Arc;

use ingest::redecode::{Options, Outcome, Progress, State, declare, redecode};
use model::chain::{Chain, NativePool, Verification};
use model::facts::Facts;
use store::{Change, Store};

use crate::setup::*;

const BLOCKS: u64 = 201;

/// Blocks as one decoder left them, and the chain as another one knows it.
fn stored(dir: &tempfile::TempDir) -> (Store, Arc<Chain>) {
    let store = open(dir);
    let known = chain(Verification::Full);
    assert!(!declare(&store, &known).unwrap(), "nothing is stored yet");
    let sim = sim(71, BLOCKS as usize - 1);
    let sim = testkit::read(&sim);
    let blocks = (0..BLOCKS).map(|number| {
        store::prepare(
            CHAIN,
            block(&sim, number, Dialect::Geth),
            Default::default(),
            Facts::default(),
        )
    });
    store.commit(CHAIN, Change { revert: Vec::new(), apply: blocks.collect() }).unwrap();
    let mut other = Chain::clone(&known);
    other.native_pools.push(NativePool { name: "pool".into(), address: [7; 20].into() });
    (store, Arc::new(other))
}

#[test]
fn the_word_to_stop_is_heard_and_the_next_walk_goes_on() {
    let dir = scratch();
    let (store, chain) = stored(&dir);
    assert!(declare(&store, &chain).unwrap());
    let options = Options { threads: 3, ..Options::default() };
    let stopped = Progress::default();
    stopped.stop();
    assert_eq!(redecode(&store, &chain, options, &stopped).unwrap(), Outcome::Stopped);
    assert_eq!(stopped.snapshot().state, State::Outdated);

    // Stopped on the way, from outside, wherever that is.
    let progress = Progress::default();
    let outcome = std::thread::scope(|scope| {
        let work = scope.spawn(|| redecode(&store, &chain, options, &progress));
        while progress.snapshot().blocks_done == 0 && !work.is_finished() {
            std::thread::yield_now();
        }
        progress.stop();
        work.join().unwrap().unwrap()
    });
    let before = progress.snapshot();
    let progress = Progress::default();
    if outcome == Outcome::Stopped {
        assert!(declare(&store, &chain).unwrap());
        let reached = store.view().generations(CHAIN).unwrap().building.unwrap().reached.unwrap();
        assert_eq!(before.blocks_done, BLOCKS - reached);
        let done = redecode(&store, &chain, options, &progress).unwrap();
        assert_eq!(done, Outcome::Done { blocks: BLOCKS });
    }
    assert!(!declare(&store, &chain).unwrap());
    let again = redecode(&store, &chain, options, &Progress::default()).unwrap();
    assert_eq!(again, Outcome::NothingToDo);
    let forced = Options { force: true, ..options };
    let progress = Progress::default();
    let done = redecode(&store, &chain, forced, &progress).unwrap();
    assert_eq!(done, Outcome::Done { blocks: BLOCKS });
    let told = progress.snapshot();
    assert_eq!((told.state, told.blocks_done, told.blocks_total), (State::Current, BLOCKS, BLOCKS));
}

#[test]
fn a_row_that_cannot_be_read_ends_it_with_a_word_and_the_old_facts_stay() {
    let dir = scratch();
    let (store, chain) = stored(&dir);
    drop(store);
    {
        let db = fjall::Database::builder(dir.path().join("store")).open().unwrap();
        let headers = db.keyspace("headers", fjall::KeyspaceCreateOptions::default).unwrap();
        let key = [CHAIN.0.to_be_bytes(), 50u64.to_be_bytes()].concat();
        headers.insert(key, [1, 2, 3]).unwrap();
        db.persist(fjall::PersistMode::SyncAll).unwrap();
    }
    let store = open(&dir);
    let before = store.view().generations(CHAIN).unwrap();
    let progress = Progress::default();
    let failed = redecode(&store, &chain, Options::default(), &progress).unwrap_err();
    assert!(failed.to_string().contains("table headers cannot be read back"), "{failed}");
    assert_eq!(progress.snapshot().state, State::Failed);
    let after = store.view().generations(CHAIN).unwrap();
    assert_eq!((after.current, after.decoded_with), (before.current, before.decoded_with));
}
