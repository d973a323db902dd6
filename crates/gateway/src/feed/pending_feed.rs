//! Pending transactions as a node tells them, read once for all who listen. Nothing of them is stored or checked; when
//! the node is lost, another one goes on, and what lay between is not told.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use rpc::{PendingTransactions, Pool};
use tokio::sync::{Mutex, broadcast};

use crate::answer::Failure;

/// Who is further behind is told so and let go.
const BEHIND_MAX: usize = 8_192;
const RETRY: Duration = Duration::from_secs(1);

pub struct PendingFeed {
    /// Whole transactions, or their hashes.
    whole: bool,
    sender: broadcast::Sender<Bytes>,
    is_running: Mutex<bool>,
}

impl PendingFeed {
    pub fn new(whole: bool) -> Self {
        let (sender, _) = broadcast::channel(BEHIND_MAX);
        PendingFeed { whole, sender, is_running: Mutex::default() }
    }

    /// Everything from now on. The first who listens has it started, and learns whether any node tells.
    pub async fn listen(
        self: &Arc<Self>,
        pool: &Arc<Pool>,
    ) -> Result<broadcast::Receiver<Bytes>, Failure> {
        let listening = self.sender.subscribe();
        let mut is_running = self.is_running.lock().await;
        if !*is_running {
            let first = pool.pending_transactions(self.whole).await.map_err(|error| {
                tracing::debug!(%error, "nobody tells pending transactions");
                let why = "newPendingTransactions needs a node with a WebSocket (ws_url), and none is in use";
                Failure::new(-32601, why)
            })?;
            *is_running = true;
            tokio::spawn(run(Arc::downgrade(self), pool.clone(), first));
        }
        Ok(listening)
    }

    async fn ends(&self) -> bool {
        let mut is_running = self.is_running.lock().await;
        *is_running = self.sender.receiver_count() > 0;
        !*is_running
    }
}

/// Ends with the gateway, and when nobody listens any more.
async fn run(feed: Weak<PendingFeed>, pool: Arc<Pool>, mut pending: PendingTransactions) {
    loop {
        let heard = tokio::time::timeout(RETRY, pending.next()).await;
        let Some(feed) = feed.upgrade() else { return };
        if feed.ends().await {
            return;
        }
        match heard {
            // Nothing was told for a while.
            Err(_) => {}
            Ok(Ok(told)) => drop(feed.sender.send(told)),
            Ok(Err(error)) => {
                tracing::info!(%error, "pending transactions are asked of another node");
                loop {
                    if let Ok(next) = pool.pending_transactions(feed.whole).await {
                        pending = next;
                        break;
                    }
                    tokio::time::sleep(RETRY).await;
                    if feed.ends().await {
                        return;
                    }
                }
            }
        }
    }
}
