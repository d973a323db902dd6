//! What a commit at the head leaves to a thread, since somebody waits for the block: training dictionaries, and moving
//! bodies that the head has left behind.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use model::chain::ChainId;

use super::inner::Inner;
use super::open::Store;
use super::worker_thread::WorkerThread;
use crate::Error;

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Chains that it is to look after. Not kept over a restart: the head comes by again soon.
#[derive(Default)]
pub struct UpkeepDue(Mutex<BTreeSet<ChainId>>);

impl UpkeepDue {
    pub fn add(&self, chain: ChainId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(chain);
    }

    fn take(&self) -> BTreeSet<ChainId> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub fn start(inner: &Arc<Inner>) -> std::io::Result<WorkerThread> {
    let inner = Arc::downgrade(inner);
    WorkerThread::start("upkeep", LOOK_EVERY, move |_| {
        look(&inner);
        LOOK_EVERY
    })
}

fn look(inner: &Weak<Inner>) {
    let Some(inner) = inner.upgrade() else { return };
    for chain in inner.upkeep_due.take() {
        let store = Store::without_threads(inner.clone());
        if let Err(error) = tidy(&store, chain) {
            // All blocks are stored all the same; what was not done is done the next time.
            tracing::warn!(chain.id = chain.0, %error, "bodies of older blocks could not be moved");
        }
    }
}

fn tidy(store: &Store, chain: ChainId) -> Result<(), Error> {
    store.train_dictionaries(chain)?;
    store.freeze_old(chain)?;
    Ok(())
}
