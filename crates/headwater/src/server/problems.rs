//! What stands still in this process, and what to do about it.

use std::sync::Arc;

use api::{Problem, ProblemsFn, StreamsSlot};
use ingest::ChainIngest;
use store::{Store, WriteState};
use tasks::{TaskBoard, TaskProblem};

use super::ingests::IngestSlot;

const GOES_ON: &str = "look at the log; it goes on by itself when the cause is gone";

/// Whose tasks can stand still.
pub struct Watched {
    pub store: Store,
    pub ingests: Vec<Arc<IngestSlot>>,
    pub streams: StreamsSlot,
    /// Those of the server itself.
    pub tasks: TaskBoard,
}

pub fn problems_fn(watched: Watched) -> ProblemsFn {
    let Watched { store, ingests, streams, tasks } = watched;
    Box::new(move || {
        let mut problems: Vec<Problem> = of_store(store.write_state()).into_iter().collect();
        problems.extend(
            ingests.iter().filter_map(|slot| slot.running()).flat_map(|ingest| of_ingest(&ingest)),
        );
        let of_streams = streams.get().map(|streams| streams.problems()).unwrap_or_default();
        problems.extend(of_streams.into_iter().chain(tasks.problems()).map(of_task));
        problems
    })
}

fn of_task(TaskProblem { task, reason }: TaskProblem) -> Problem {
    Problem { chain: None, reason: format!("{task}: {reason}"), advice: GOES_ON.to_owned() }
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
        advice: GOES_ON.to_owned(),
    };
    ingest.progress.snapshot().failed.iter().map(told).collect()
}
