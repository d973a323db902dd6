//! Threads for computing that nobody waits for: reading history, decoding stored blocks again. There are as many as
//! processors, for all chains together, and everything else in the process goes before them.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Of a thread in the background; others have 0, and each step is a tenth more or less of a processor.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Only its threads for blocking work are used, and none is started before there is some.
static THREADS: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let mut threads = Builder::new_current_thread();
    threads.max_blocking_threads(processors).thread_name("background").on_thread_start(step_back);
    threads.build().ok()
});

/// Runs it as soon as a thread is free, in the order in which work came.
pub fn spawn_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    match &*THREADS {
        Some(threads) => threads.spawn_blocking(work),
        None => tokio::task::spawn_blocking(work),
    }
}

/// From here on, all others go before this thread. On Linux this is said of a thread; elsewhere it would be of the
/// whole process.
pub fn step_back() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "threads in the background have the priority of all others");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn as_many_at_once_as_processors_and_a_panic_is_told() {
        static NOW: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        let work = |number: usize| {
            spawn_background(move || {
                MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(5));
                NOW.fetch_sub(1, Ordering::SeqCst);
                number
            })
        };
        let all: Vec<_> = (0..50).map(work).collect();
        for (number, done) in all.into_iter().enumerate() {
            assert_eq!(done.await.unwrap(), number);
        }
        let processors = std::thread::available_parallelism().unwrap().get();
        assert!(MOST.load(Ordering::SeqCst) <= processors);
        assert!(spawn_background(|| panic!("a fault")).await.unwrap_err().is_panic());
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn others_go_before_it_and_this_thread_is_as_it_was() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let before = priority();
        let there = spawn_background(priority).await.unwrap();
        assert_eq!((there, priority()), (before.max(NICE), before));
    }
}
