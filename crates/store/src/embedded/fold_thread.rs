//! Has runs of index rows written into a file once there are enough of them, or no more come.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::inner::Inner;
use super::open::Store;
use super::worker_thread::WorkerThread;

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Runs that nothing was added to for so long are folded, however small they are.
const QUIET: Duration = Duration::from_secs(10);
/// After a failure. The store itself says what is wrong with it.
const PAUSE: Duration = Duration::from_secs(5);

pub fn start(inner: &Arc<Inner>) -> std::io::Result<WorkerThread> {
    let inner = Arc::downgrade(inner);
    WorkerThread::start("fold", LOOK_EVERY, move |_| look(&inner))
}

/// Says when to look again.
fn look(inner: &Weak<Inner>) -> Duration {
    let Some(inner) = inner.upgrade() else { return LOOK_EVERY };
    let Ok(open) = inner.database() else { return LOOK_EVERY };
    let pending = open.runs.now();
    drop(open);
    // A bulk load says itself when it ends.
    let may_be_quiet = inner.options.durable;
    let is_quiet = may_be_quiet && pending.newest().is_some_and(|newest| newest.elapsed() >= QUIET);
    if pending.bytes() < inner.options.memory().run && !is_quiet {
        return LOOK_EVERY;
    }
    drop(pending);
    let store = Store::without_threads(inner);
    match store.fold() {
        Ok(()) => LOOK_EVERY,
        Err(error) => {
            let data = store.path().display();
            tracing::warn!(%data, %error, "index rows could not be merged; they are tried again");
            PAUSE
        }
    }
}
