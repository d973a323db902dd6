//! Stored blocks decoded again: stopped, gone on with, and told of all the while.

use std::sync::Arc;

use ingest::redecode::{
    RedecodeOptions, RedecodeOutcome, RedecodeProgress, RedecodeState, declare, redecode,
};
use model::chain::{Chain, NativePool, Verification};
use store::{Generations, Store};

use crate::setup::*;

const BLOCKS: u64 = 201;

/// Blocks as one decoder left them, and the chain as another one knows it.
async fn stored(dir: &tempfile::TempDir) -> (Store, Arc<Chain>) {
    let store = open(dir).await;
    let known = chain(Verification::Full);
    assert!(!declare(&store, &known).await.unwrap(), "nothing is stored yet");
    let sim = owned(sim(71, BLOCKS as usize - 1));
    put(&store, verified_from(&sim, 0, Dialect::Geth)).await;
    let mut other = Chain::clone(&known);
    other.native_pools.push(NativePool { name: "pool".into(), address: [7; 20].into() });
    (store, Arc::new(other))
}

#[tokio::test]
async fn a_walk_that_is_stopped_is_gone_on_with() {
    let dir = scratch();
    let (store, chain) = stored(&dir).await;
    assert!(declare(&store, &chain).await.unwrap());
    let options = RedecodeOptions { threads: 3, ..RedecodeOptions::default() };
    let stopped = RedecodeProgress::default();
    stopped.stop();
    assert_eq!(
        redecode(&store, &chain, options, &stopped).await.unwrap(),
        RedecodeOutcome::Stopped
    );
    assert_eq!(stopped.snapshot().state, RedecodeState::Outdated);

    // Stopped on the way, from outside, wherever that is.
    let progress = RedecodeProgress::default();
    let stop = async {
        while progress.snapshot().blocks_done == 0 {
            tokio::task::yield_now().await;
        }
        progress.stop();
    };
    let (outcome, ()) = tokio::join!(redecode(&store, &chain, options, &progress), stop);
    let outcome = outcome.unwrap();
    let before = progress.snapshot();
    let progress = RedecodeProgress::default();
    if outcome == RedecodeOutcome::Stopped {
        assert!(declare(&store, &chain).await.unwrap());
        let reached = generations(&store).await.building.unwrap().reached.unwrap();
        assert_eq!(before.blocks_done, BLOCKS - reached);
        let done = redecode(&store, &chain, options, &progress).await.unwrap();
        assert_eq!(done, RedecodeOutcome::Done { blocks: BLOCKS });
    }
    assert!(!declare(&store, &chain).await.unwrap());
    let again = redecode(&store, &chain, options, &RedecodeProgress::default()).await.unwrap();
    assert_eq!(again, RedecodeOutcome::NothingToDo);
    let forced = RedecodeOptions { force: true, ..options };
    let progress = RedecodeProgress::default();
    let done = redecode(&store, &chain, forced, &progress).await.unwrap();
    assert_eq!(done, RedecodeOutcome::Done { blocks: BLOCKS });
    let told = progress.snapshot();
    assert_eq!(
        (told.state, told.blocks_done, told.blocks_total),
        (RedecodeState::Current, BLOCKS, BLOCKS)
    );
}

/// Another process took over: what fails here is the next write.
#[tokio::test]
async fn a_walk_that_fails_ends_with_a_word_and_the_old_facts_stay() {
    let dir = scratch();
    let (store, chain) = stored(&dir).await;
    let options = RedecodeOptions { force: true, threads: 1 };
    for round in 0..50u8 {
        let before = generations(&store).await;
        let progress = RedecodeProgress::default();
        let take_over = async {
            while progress.snapshot().blocks_done == 0 {
                tokio::task::yield_now().await;
            }
            let other = [round + 1; 32].into();
            store.rebuild_facts(CHAIN, other, &|| false).await.unwrap().unwrap();
        };
        let (outcome, ()) = tokio::join!(redecode(&store, &chain, options, &progress), take_over);
        // The last group may have been written before anybody could take over.
        let Err(failed) = outcome else { continue };
        assert!(failed.to_string().contains("is being built"), "{failed}");
        assert_eq!(progress.snapshot().state, RedecodeState::Failed);
        assert_eq!(progress.snapshot().error, Some(failed.to_string()));
        let after = generations(&store).await;
        assert_eq!((after.current, after.decoded_with), (before.current, before.decoded_with));
        return;
    }
    panic!("nobody ever took over in time");
}

async fn generations(store: &Store) -> Generations {
    store.view().await.unwrap().generations(CHAIN).await.unwrap()
}
