//! Threads for connections on which the node RPC is called (docs/adr/0022): each is a runtime of its own, so that a call is
//! read, answered or forwarded by one thread, and nobody has to wake another for it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;

/// Made when they are first needed, one for each processor.
#[derive(Default)]
pub struct CallThreads(OnceLock<Vec<CallThread>>);

struct CallThread {
    /// None only while it is dropped.
    runtime: Option<Runtime>,
    connections: AtomicUsize,
}

impl CallThreads {
    /// The work's outcome, done by the thread that has the fewest connections. None where it panicked. The work ends with
    /// whoever waits for it.
    pub async fn run<W>(&self, work: W) -> Option<W::Output>
    where
        W: Future + Send + 'static,
        W::Output: Send + 'static,
    {
        let threads = self.0.get_or_init(start);
        let fewest = threads.iter().min_by_key(|it| it.connections.load(Ordering::Relaxed));
        let runtime = fewest.and_then(|it| it.runtime.as_ref()).map(Runtime::handle);
        let _counted = fewest.map(|it| Counted::new(&it.connections));
        let here = runtime.is_none().then(Handle::current);
        let mut tasks = JoinSet::new();
        tasks.spawn_on(work, runtime.or(here.as_ref())?);
        tasks.join_next().await?.ok()
    }
}

/// None of them where the system gives no more threads: then the work is done where it is.
fn start() -> Vec<CallThread> {
    let count = available_parallelism().map_or(1, usize::from);
    let one = |_| {
        // With one worker, and not on the thread itself: what may wait for the disk lets another thread go on meanwhile.
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("calls").enable_all().build().ok()?;
        Some(CallThread { runtime: Some(runtime), connections: AtomicUsize::new(0) })
    };
    (0..count).map_while(one).collect()
}

impl Drop for CallThread {
    fn drop(&mut self) {
        // Whoever drops it may be a task, which must not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
