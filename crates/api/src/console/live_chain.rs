//! One chain as it goes on, read by the journal once for all pages that look.
//!
//! The task that reads is there only while somebody listens: a console that nobody looks at costs ingest nothing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use model::chain::ChainId;
use serde_json::{Value, json};
use store::{BlockSummary, EventKind, Follower, Store};
use tokio::sync::broadcast;

use super::live::message;
use super::outbox::Outbox;
use crate::lock;

/// Newest blocks that a page is told of at once.
pub const RECENT: usize = 60;
const RETRY: Duration = Duration::from_secs(1);

pub struct LiveChain {
    chain: ChainId,
    slug: String,
    sender: broadcast::Sender<Bytes>,
    /// Rising.
    recent: Mutex<VecDeque<BlockSummary>>,
    is_running: tokio::sync::Mutex<bool>,
}

impl LiveChain {
    pub fn new(chain: ChainId, slug: String, sender: broadcast::Sender<Bytes>) -> Self {
        let (recent, is_running) = (Mutex::default(), tokio::sync::Mutex::default());
        LiveChain { chain, slug, sender, recent, is_running }
    }

    /// To be called by whoever listens already: the first one has it started.
    pub async fn start(self: &Arc<Self>, store: &Store) {
        let mut is_running = self.is_running.lock().await;
        if std::mem::replace(&mut *is_running, true) {
            return;
        }
        // What fails here is tried again by the task.
        let first = self.begin(store).await.ok().flatten();
        tokio::spawn(self.clone().run(store.clone(), first));
    }

    /// The newest blocks, rising.
    pub fn recent(&self) -> Value {
        let recent = lock::lock(&self.recent);
        json!({ "chain": self.slug, "blocks": recent.iter().map(described).collect::<Vec<_>>() })
    }

    async fn begin(&self, store: &Store) -> Result<Option<Follower>, store::Error> {
        let Some(follower) = Follower::from_head(store, self.chain).await? else { return Ok(None) };
        let view = store.view().await?;
        let mut recent = VecDeque::with_capacity(RECENT);
        let newest = view.coverage(self.chain).await?.newest().unwrap_or(0);
        for number in (0..=newest).rev().take(RECENT) {
            let Some(block) = view.block_summary(self.chain, number).await? else { break };
            recent.push_front(block);
        }
        *lock::lock(&self.recent) = recent;
        Ok(Some(follower))
    }

    /// Whether nobody listens any more. Whoever comes next has it started again.
    async fn ends(&self) -> bool {
        let mut is_running = self.is_running.lock().await;
        *is_running = self.sender.receiver_count() > 0;
        !*is_running
    }

    async fn run(self: Arc<Self>, store: Store, mut follower: Option<Follower>) {
        let mut outbox = Outbox::default();
        while !self.ends().await {
            let Some(following) = &mut follower else {
                tokio::time::sleep(RETRY).await;
                follower = self.begin(&store).await.ok().flatten();
                if follower.is_some() {
                    // For pages that were open before the chain had a block.
                    let recent = Value::from(vec![self.recent()]);
                    let _ = self.sender.send(message("recent", &recent));
                }
                continue;
            };
            match self.step(&store, following, &mut outbox).await {
                Ok(is_new) => {
                    if outbox.is_due() {
                        self.tell(&mut outbox);
                    }
                    if !is_new {
                        let _ = tokio::time::timeout(outbox.patience(), following.wait()).await;
                    }
                }
                Err(error) => {
                    tracing::warn!(chain.id = self.chain.0, %error, "the console waits for the store");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// False where there is nothing new.
    async fn step(
        &self,
        store: &Store,
        follower: &mut Follower,
        outbox: &mut Outbox,
    ) -> Result<bool, store::Error> {
        let Some(event) = follower.next().await? else { return Ok(false) };
        if event.kind == EventKind::Revert {
            lock::lock(&self.recent).retain(|block| block.number < event.number);
            let gone = json!({ "number": event.number, "hash": event.hash.to_string() });
            outbox.put("revert", &self.slug, &gone);
            return Ok(true);
        }
        let view = store.view().await?;
        let block = view.block_summary(self.chain, event.number).await?;
        // Reverted meanwhile, which the next step says.
        let Some(block) = block.filter(|block| block.hash == event.hash) else { return Ok(true) };
        let name = if event.kind == EventKind::Apply { "apply" } else { "amend" };
        outbox.put(name, &self.slug, &described(&block));
        let mut recent = lock::lock(&self.recent);
        match recent.iter_mut().find(|known| known.number == block.number) {
            Some(known) => *known = block,
            None if event.kind == EventKind::Apply => recent.push_back(block),
            // Traces of a block that is older than what is shown.
            None => {}
        }
        while recent.len() > RECENT {
            recent.pop_front();
        }
        Ok(true)
    }

    fn tell(&self, outbox: &mut Outbox) {
        let text = outbox.take();
        // More than a page shows: how things stand says the same in less.
        let text = text.unwrap_or_else(|| message("recent", &Value::from(vec![self.recent()])));
        // Nobody may be listening just now.
        let _ = self.sender.send(text);
    }
}

fn described(block: &BlockSummary) -> Value {
    json!({
        "number": block.number,
        "hash": block.hash.to_string(),
        "timestamp": block.timestamp,
        "transactions": block.tx_count,
        "level": block.proof.level().name(),
        "has_traces": block.has_traces,
    })
}
