//! What all tasks of sending share.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use store::Store;
use store::StreamId;
use tasks::TaskBoard;
use tokio::sync::{Notify, watch};

use super::config::DeliveryConfig;
use super::directory::Directory;
use super::handed_over::{HandOver, Waiting};
use super::in_flight::InFlight;
use super::limits::Limits;
use super::post::Poster;
use super::running::Running;
use super::writer::AttemptWriter;

pub(super) struct Shared {
    pub store: Store,
    /// Names this sender to others on the same store.
    pub sender: String,
    pub config: DeliveryConfig,
    pub directory: Arc<dyn Directory>,
    pub poster: Poster,
    pub limits: Limits,
    pub writer: AttemptWriter,
    pub in_flight: Arc<InFlight>,
    pub hand_over: HandOver,
    /// Room for what is read from queues before its turn. Receivers that are slow hold some of it for long, so it is not
    /// that of what was stored just now.
    pub read_ahead: HandOver,
    /// Where the first attempts of each stream stand.
    pub lanes: Mutex<HashMap<StreamId, Lane>>,
    /// Streams that have retries due and are not to be sent now.
    pub held: Mutex<BTreeSet<StreamId>>,
    /// Told when retries may have become due.
    pub retry_wake: Arc<Notify>,
    /// One change of a success rate at a time.
    pub rates: Mutex<()>,
    pub stop: watch::Sender<bool>,
    pub running: Running,
    pub tasks: TaskBoard,
}

/// The first attempts of one stream: at most one task makes them.
#[derive(Default)]
pub(super) struct Lane {
    /// Known once it ran; results may still be on their way to the store.
    pub next_seq: Option<u64>,
    pub is_running: bool,
    /// Woken while it ran.
    pub look_again: bool,
    /// The newest delivery that was stored since the start, if any was.
    pub last_seq: Option<u64>,
    pub handed_over: Waiting,
    /// Until when no other sender is at it; where there are others.
    pub ours_until: Option<Instant>,
}

impl Shared {
    pub fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Returns when the word to stop was given.
    pub async fn stopping(&self) {
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    /// None when it is time to stop first.
    pub async fn unless_stopping<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.stopping() => None,
            done = work => Some(done),
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
