//! Which background tasks do not get on, and why.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::backoff::Backoff;
use crate::keep_running::{TaskEnd, keep_running};

const PAUSES: Backoff = Backoff { min: Duration::from_millis(500), max: Duration::from_secs(5) };
/// Who was started again and ran for so long gets on.
const RUNS_WELL: Duration = Duration::from_secs(20);

/// Cheap to clone; all clones are one board.
#[derive(Clone, Debug, Default)]
pub struct TaskBoard {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    failing: Mutex<BTreeMap<String, String>>,
    /// How many there are, so that a task that always got on need not look.
    count: AtomicUsize,
}

/// A task that ended, or cannot do its work, and will try again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskProblem {
    pub task: String,
    pub reason: String,
}

impl TaskBoard {
    /// Runs a task again whenever it fails or panics, until it is done and comes to something, or `is_over`; what
    /// ended it stands on the board until it says that it has [recovered](Self::recovered), or has run for a while.
    pub async fn keep_running<F, T, E>(
        &self,
        task: &str,
        is_over: impl Fn() -> bool,
        mut start: impl FnMut() -> F,
    ) -> Option<T>
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        let run = || {
            let running = start();
            async move {
                tokio::pin!(running);
                tokio::select! {
                    ended = &mut running => return ended,
                    () = tokio::time::sleep(RUNS_WELL) => self.recovered(task),
                }
                running.await
            }
        };
        let tell = |TaskEnd { reason, pause }: TaskEnd| {
            let pause_ms = pause.as_millis() as u64;
            tracing::error!(%task, %reason, pause_ms, "a background task ended; it is started again");
            self.failed(task, reason);
        };
        let done = keep_running(PAUSES, is_over, run, tell).await;
        self.recovered(task);
        done
    }

    pub fn failed(&self, task: &str, reason: String) {
        let mut failing = self.lock();
        failing.insert(task.to_owned(), reason);
        self.inner.count.store(failing.len(), Ordering::Relaxed);
    }

    /// It does its work, or there is none any more.
    pub fn recovered(&self, task: &str) {
        if self.inner.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut failing = self.lock();
        failing.remove(task);
        self.inner.count.store(failing.len(), Ordering::Relaxed);
    }

    pub fn problems(&self) -> Vec<TaskProblem> {
        let problem = |(task, reason): (&String, &String)| TaskProblem {
            task: task.clone(),
            reason: reason.clone(),
        };
        self.lock().iter().map(problem).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.inner.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_ended_a_task_stands_until_it_gets_on() {
        let board = TaskBoard::default();
        let runs = Cell::new(0);
        let start = || async {
            runs.set(runs.get() + 1);
            match runs.get() {
                1 => panic!("oh"),
                2 => Err("no room"),
                3 => {
                    board.recovered("sending");
                    Err("again")
                }
                _ => std::future::pending::<Result<(), _>>().await,
            }
        };
        let mut running = std::pin::pin!(board.keep_running("sending", || false, start));
        let mut seen = Vec::new();
        for _ in 0..600 {
            let _ = tokio::time::timeout(Duration::from_millis(100), &mut running).await;
            let problems = board.problems();
            let shown = problems.first().map_or("", |problem| problem.reason.as_str()).to_owned();
            if seen.last() != Some(&shown) {
                seen.push(shown);
            }
        }
        assert_eq!(seen, ["panicked: oh", "no room", "again", ""]);
        assert_eq!(runs.get(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_is_done_is_no_problem() {
        let board = TaskBoard::default();
        let runs = Cell::new(0);
        let start = || async {
            runs.set(runs.get() + 1);
            if runs.get() < 3 { Err("not yet") } else { Ok("open") }
        };
        assert_eq!(board.keep_running("opening", || false, start).await, Some("open"));
        assert_eq!((runs.get(), board.problems()), (3, vec![]));
    }
}
