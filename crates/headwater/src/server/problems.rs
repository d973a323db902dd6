//! What stands still in this process, and what to do about it.

use std::sync::Arc;

use api::{Problem, ProblemsFn};
use ingest::ChainIngest;

pub fn problems_fn(ingests: Vec<Arc<ChainIngest>>) -> ProblemsFn {
    Box::new(move || ingests.iter().flat_map(|ingest| of_ingest(ingest)).collect())
}

fn of_ingest(ingest: &ChainIngest) -> Vec<Problem> {
    let told = |why: &String| Problem {
        chain: Some(ingest.chain.slug.clone()),
        reason: format!("an ingest task ended and is started again: {why}"),
        advice: "look at the log; it goes on by itself when the cause is gone".to_owned(),
    };
    ingest.progress.snapshot().failed.iter().map(told).collect()
}
