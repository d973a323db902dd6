//! What happens on all chains, as Server-Sent Events that are written once for all pages.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use store::Store;
use tokio::sync::broadcast;

use super::live_chain::LiveChain;
use crate::served_chain::ServedChain;

/// Who is further behind is told how things stand instead.
const BEHIND_MAX: usize = 512;

pub struct Live {
    sender: broadcast::Sender<Bytes>,
    chains: Vec<Arc<LiveChain>>,
}

impl Live {
    pub fn new(served: &[ServedChain]) -> Self {
        let (sender, _) = broadcast::channel(BEHIND_MAX);
        let chain = |served: &ServedChain| {
            let (id, slug) = (served.chain.id, served.chain.slug.clone());
            Arc::new(LiveChain::new(id, slug, sender.clone()))
        };
        let chains = served.iter().map(chain).collect();
        Live { sender, chains }
    }

    /// Everything from now on.
    pub async fn listen(&self, store: &Store) -> broadcast::Receiver<Bytes> {
        let listening = self.sender.subscribe();
        for chain in &self.chains {
            chain.start(store).await;
        }
        listening
    }

    /// How things stand: the newest blocks of every chain.
    pub fn recent(&self) -> Bytes {
        let chains: Vec<Value> = self.chains.iter().map(|chain| chain.recent()).collect();
        message("recent", &chains.into())
    }
}

/// JSON has no line breaks outside of its texts, and writes those inside as `\n`: it is always one line.
pub fn message(name: &str, data: &Value) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}
