//! Has index files merged when enough of a size are there.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::inner::Inner;
use super::open::Store;
use super::worker_thread::WorkerThread;

const LOOK_EVERY: Duration = Duration::from_millis(200);
/// After a failure. The store itself says what is wrong with it.
const PAUSE: Duration = Duration::from_secs(5);

pub fn start(inner: &Arc<Inner>) -> std::io::Result<WorkerThread> {
    let inner = Arc::downgrade(inner);
    let mut is_first = true;
    WorkerThread::start("merge", LOOK_EVERY, move |is_stopped| {
        if std::mem::take(&mut is_first) {
            tasks::step_back();
        }
        look(&inner, is_stopped)
    })
}

/// Says when to look again.
fn look(inner: &Weak<Inner>, is_stopped: &dyn Fn() -> bool) -> Duration {
    let Some(inner) = inner.upgrade() else { return LOOK_EVERY };
    if inner.database().is_err() {
        return LOOK_EVERY;
    }
    let store = Store::without_threads(inner);
    match store.merge_index_files(is_stopped) {
        Ok(()) => LOOK_EVERY,
        Err(error) => {
            let data = store.path().display();
            tracing::warn!(%data, %error, "index files could not be merged; they are tried again");
            PAUSE
        }
    }
}
