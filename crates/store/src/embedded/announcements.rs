//! Tells whoever waits in this process that something was written of a chain.

use std::sync::{Mutex, PoisonError};

use alloy_primitives::map::HashMap;
use model::chain::ChainId;
use tokio::sync::watch;

/// The newest journal sequence of each chain that anyone waits for.
#[derive(Default)]
pub struct Announcements(Mutex<HashMap<ChainId, watch::Sender<u64>>>);

impl Announcements {
    /// `newest` is asked for the first time only.
    pub fn subscribe(&self, chain: ChainId, newest: impl FnOnce() -> u64) -> watch::Receiver<u64> {
        let mut senders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        senders.entry(chain).or_insert_with(|| watch::Sender::new(newest())).subscribe()
    }

    /// After the engine was opened anew: a write of which nobody knew whether it was done may have been.
    pub fn announce_all(&self, newest: impl Fn(ChainId) -> Option<u64>) {
        let senders = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for (chain, sender) in senders.iter() {
            if let Some(seq) = newest(*chain) {
                sender.send_if_modified(|known| std::mem::replace(known, seq) != seq);
            }
        }
    }

    /// After the write is durable.
    pub fn announce(&self, chain: ChainId, seq: u64) {
        let senders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = senders.get(&chain) {
            sender.send_replace(seq);
        }
    }
}
