//! Keeps a background task running: one that fails or panics is started again, with growing pauses.
//!
//! What ends a task is told to whoever started it, so that it can be seen from outside.

use crate::backoff::Backoff;
use futures_util::FutureExt;
use model::{panic_text, printable};
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// One that ran for so long starts its pauses anew.
const LONG_RUN: Duration = Duration::from_secs(600);
const REASON_CHARS_MAX: usize = 500;

/// How a task ended that was not meant to.
#[derive(Clone, Debug)]
pub struct TaskEnd {
    pub reason: String,
    /// Until it is started again.
    pub pause: Duration,
}

/// Runs `start()` again and again until it is done, and says what it came to; none once `is_over`.
pub async fn keep_running<F, T, E>(
    backoff: Backoff,
    is_over: impl Fn() -> bool,
    mut start: impl FnMut() -> F,
    mut tell: impl FnMut(TaskEnd),
) -> Option<T>
where
    F: Future<Output = Result<T, E>>,
    E: Display,
{
    let mut trial = 0;
    while !is_over() {
        let started = Instant::now();
        // What a panic may have left half done is shared only under locks that are taken anew.
        let ended = AssertUnwindSafe(start()).catch_unwind().await;
        let reason = match ended {
            Ok(Ok(done)) => return Some(done),
            Ok(Err(error)) => printable(&error.to_string(), REASON_CHARS_MAX),
            Err(panic) => {
                let text = panic_text(panic.as_ref());
                format!("panicked: {}", printable(&text, REASON_CHARS_MAX))
            }
        };
        if is_over() {
            return None;
        }
        if started.elapsed() >= LONG_RUN {
            trial = 0;
        }
        let pause = backoff.wait(trial, rand::random());
        trial += 1;
        tell(TaskEnd { reason, pause });
        sleep(pause).await;
    }
    None
}

/// For work that is never done: its end is a failure.
pub async fn endless(work: impl Future<Output = ()>) -> Result<(), &'static str> {
    work.await;
    Err("ended")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_or_ends_runs_again_after_growing_pauses() {
        let backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_secs(60) };
        let (runs, ends) = (Cell::new(0), RefCell::new(Vec::new()));
        let start = || async {
            runs.set(runs.get() + 1);
            match runs.get() {
                1 => panic!("first\nINFO forged"),
                2 => Err::<(), _>("ended"),
                3 => panic!("{} more", 1),
                _ => std::future::pending().await,
            }
        };
        let running = keep_running(backoff, || false, start, |end| ends.borrow_mut().push(end));
        let waiting = tokio::time::timeout(Duration::from_secs(600), running);
        assert!(waiting.await.is_err(), "it goes on");
        let ends = ends.into_inner();
        let reasons: Vec<&str> = ends.iter().map(|end| end.reason.as_str()).collect();
        assert_eq!(reasons, [r"panicked: first\nINFO forged", "ended", "panicked: 1 more"]);
        assert!(ends.is_sorted_by(|a, b| a.pause < b.pause), "{ends:?}");
        assert_eq!(runs.get(), 4);
    }

    #[tokio::test]
    async fn what_is_over_is_not_started_again() {
        let backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_secs(60) };
        let over = Cell::new(false);
        let start = || async {
            over.set(true);
            Err::<(), _>("ended")
        };
        keep_running(backoff, || over.get(), start, |end| panic!("{end:?}")).await;
    }
}
