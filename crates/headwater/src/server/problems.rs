//! What stands still in this process, and what to do about it.

use std::sync::Arc;

use api::{Problem, ProblemsFn};
use ingest::ChainIngest;
use store::{Store, WriteState};

pub fn problems_fn(store: Store, ingests: Vec<Arc<ChainIngest>>) -> ProblemsFn {
    Box::new(move || {
        let of_store = of_store(store.write_state());
        of_store.into_iter().chain(ingests.iter().flat_map(|ingest| of_ingest(ingest))).collect()
    })
}

fn of_store(state: WriteState) -> Option<Problem> {
    match state {
        WriteState::Writable => None,
        WriteState::Paused { reason, advice } | WriteState::Failed { reason, advice } => {
            Some(Problem { chain: None, reason, advice })
        }
    }
}

fn of_ingest(ingest: &ChainIngest) -> Vec<Problem> {
    let told = |why: &String| Problem {
        chain: Some(ingest.chain.slug.clone()),
        reason: format!("an ingest task ended and is started again: {why}"),
        advice: "look at the log; it goes on by itself when the cause is gone".to_owned(),
    };
    ingest.progress.snapshot().failed.iter().map(told).collect()
}
