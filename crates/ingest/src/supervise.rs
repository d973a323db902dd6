//! Keeps the tasks of a chain's ingest alive: one that panics or gives up is started again, after
//! growing pauses, and what happened stands in the progress until it works again.
//!
//! In: a task that can be started any number of times. Must not know: what the task does.

use std::time::Duration;

use model::chain::ChainId;
use tasks::{Backoff, TaskEnd, keep_running};

use crate::error::Error;
use crate::progress::{Progress, Task};

const PAUSES: Backoff = Backoff { min: Duration::from_millis(500), max: Duration::from_secs(60) };

/// Ends only when the task has nothing left to do: traces are off, or the nodes were let go.
pub(crate) async fn supervise<F>(
    progress: &Progress,
    chain: ChainId,
    task: Task,
    start: impl Fn() -> F,
) where
    F: Future<Output = Result<(), Error>>,
{
    let tell = |TaskEnd { reason, pause }: TaskEnd| {
        progress.set_failed(task, &reason);
        tracing::error!(
            chain.id = chain.0,
            %task,
            error = %reason,
            pause_ms = pause.as_millis() as u64,
            "an ingest task ended; it is started again"
        );
    };
    keep_running(PAUSES, || false, start, tell).await;
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_or_gives_up_is_started_again_until_it_is_done() {
        let progress = Progress::default();
        let (starts, began) = (AtomicU32::new(0), Instant::now());
        let seen = std::sync::Mutex::new(Vec::new());
        let start = || {
            let n = starts.fetch_add(1, Ordering::Relaxed);
            seen.lock().unwrap().extend(progress.snapshot().failed);
            async move {
                assert!(n > 0, "the first time");
                if n == 1 { Err(Error::Stopped) } else { Ok(()) }
            }
        };
        supervise(&progress, ChainId(1), Task::Backfill, start).await;
        assert_eq!(starts.load(Ordering::Relaxed), 3);
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen[0], "filling history: panicked: the first time");
        assert_eq!(seen[1], "filling history: the ingest of this chain was stopped");
        assert_eq!(progress.snapshot().restarts, 2);
        assert!(began.elapsed() > PAUSES.min * 2, "pauses grow");
    }
}
