//! One chain's blocks as they are applied and reverted, read once for all who listen.
//!
//! Logs of the newest blocks are kept in memory: of a block that was reverted nothing is stored any more, and
//! whoever was told of its logs has to be told that they are gone.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use alloy_primitives::B256;
use model::chain::ChainId;
use model::raw::{Header, Log, Receipt};
use store::{EventKind, Follower, Store};
use tokio::sync::broadcast;

use super::node_feed;
use crate::forward::BlockSource;

/// Who is further behind than so many blocks is told so and let go.
const BEHIND_MAX: usize = 256;
/// Blocks whose logs are remembered.
const REMEMBERED: usize = 256;
pub const RETRY: Duration = Duration::from_secs(1);

/// A block that came or went.
#[derive(Debug)]
pub struct ChainEvent {
    pub header: Arc<Vec<u8>>,
    /// With `removed` as it is now.
    pub logs: Vec<Log>,
    pub is_removed: bool,
}

pub struct ChainFeed {
    sender: broadcast::Sender<Arc<ChainEvent>>,
    recent: Mutex<VecDeque<(B256, Vec<Log>)>>,
    is_running: tokio::sync::Mutex<bool>,
}

impl Default for ChainFeed {
    fn default() -> Self {
        let (sender, _) = broadcast::channel(BEHIND_MAX);
        ChainFeed { sender, recent: Mutex::default(), is_running: Default::default() }
    }
}

impl ChainFeed {
    /// Everything from now on. The first who listens has it started, and waits until it is known where it begins.
    pub async fn listen(
        self: &Arc<Self>,
        store: &Store,
        chain: ChainId,
    ) -> broadcast::Receiver<Arc<ChainEvent>> {
        let listening = self.sender.subscribe();
        let mut is_running = self.is_running.lock().await;
        if !std::mem::replace(&mut *is_running, true) {
            let first = Follower::from_head(store, chain).await.ok().flatten();
            tokio::spawn(run(Arc::downgrade(self), store.clone(), chain, first));
        }
        listening
    }

    /// The same of a chain that nobody stores, as its nodes tell it.
    pub async fn listen_to_nodes(
        self: &Arc<Self>,
        source: BlockSource,
    ) -> broadcast::Receiver<Arc<ChainEvent>> {
        let listening = self.sender.subscribe();
        let mut is_running = self.is_running.lock().await;
        if !std::mem::replace(&mut *is_running, true) {
            let first = source.heads().borrow().map(|head| (head.number, head.hash));
            tokio::spawn(node_feed::run(Arc::downgrade(self), source, first));
        }
        listening
    }

    /// Whether nobody listens any more. Whoever comes next has it started again.
    pub async fn ends(&self) -> bool {
        let mut is_running = self.is_running.lock().await;
        *is_running = self.sender.receiver_count() > 0;
        !*is_running
    }

    pub fn tell(&self, event: ChainEvent) {
        // Nobody may be listening just now.
        let _ = self.sender.send(Arc::new(event));
    }

    /// The logs of a block that was reverted, as far as they are remembered.
    pub fn removed_logs(&self, hash: B256) -> Vec<Log> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let found = recent.iter().find(|(of, _)| *of == hash);
        let mut logs = found.map(|(_, logs)| logs.clone()).unwrap_or_default();
        logs.iter_mut().for_each(|log| log.removed = Some(true));
        logs
    }

    /// For those who may have to be told that they are gone.
    pub fn remember(&self, hash: B256, logs: &[Log]) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.iter().any(|(of, _)| *of == hash) {
            return;
        }
        if recent.len() == REMEMBERED {
            recent.pop_front();
        }
        recent.push_back((hash, logs.to_vec()));
    }
}

/// Ends with the gateway, and when nobody listens any more.
async fn run(feed: Weak<ChainFeed>, store: Store, chain: ChainId, mut first: Option<Follower>) {
    let mut follower = loop {
        if let Some(follower) = first.take() {
            break follower;
        }
        match Follower::from_head(&store, chain).await {
            Ok(Some(follower)) => break follower,
            Ok(None) | Err(_) => tokio::time::sleep(RETRY).await,
        }
        match feed.upgrade() {
            Some(feed) if !feed.ends().await => {}
            _ => return,
        }
    };
    loop {
        let Some(feed) = feed.upgrade() else { return };
        if feed.ends().await {
            return;
        }
        match step(&feed, &store, chain, &mut follower).await {
            Ok(true) => continue,
            Ok(false) => {
                drop(feed);
                let _ = tokio::time::timeout(RETRY, follower.wait()).await;
            }
            Err(error) => {
                tracing::warn!(chain.id = chain.0, %error, "subscriptions wait for the store");
                drop(feed);
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// False where there is nothing new.
async fn step(
    feed: &ChainFeed,
    store: &Store,
    chain: ChainId,
    follower: &mut Follower,
) -> Result<bool, store::Error> {
    let before = follower.cursor();
    let Some(step) = follower.next().await? else { return Ok(false) };
    let event = match step.kind {
        EventKind::Amend => return Ok(true),
        EventKind::Revert => ChainEvent {
            header: Arc::default(),
            logs: feed.removed_logs(step.hash),
            is_removed: true,
        },
        EventKind::Apply => {
            let read = applied(store, chain, step.number, step.hash).await;
            // It is read again: nothing may be left out.
            let read = read.inspect_err(|_| *follower = Follower::at(store, chain, before))?;
            // Reverted meanwhile, which the next step says.
            let Some(event) = read else { return Ok(true) };
            feed.remember(step.hash, &event.logs);
            event
        }
    };
    feed.tell(event);
    Ok(true)
}

async fn applied(
    store: &Store,
    chain: ChainId,
    number: u64,
    hash: B256,
) -> Result<Option<ChainEvent>, store::Error> {
    let view = store.view().await?;
    let Some(block) = view.block_with_receipts(chain, number).await?.filter(|b| b.hash == hash)
    else {
        return Ok(None);
    };
    let logs = logs_of_block(block.receipts);
    let header = Arc::new(header_json(block.header));
    Ok(Some(ChainEvent { header, logs, is_removed: false }))
}

pub fn logs_of_block(receipts: Vec<Option<Receipt>>) -> Vec<Log> {
    receipts.into_iter().flatten().filter_map(|receipt| receipt.logs).flatten().collect()
}

/// Nodes announce the header alone.
pub fn header_json(header: Header) -> Vec<u8> {
    let header =
        Header { uncles: None, size: None, total_difficulty: None, withdrawals: None, ..header };
    let mut json = Vec::with_capacity(1800);
    header.write_json(&mut json);
    json
}
