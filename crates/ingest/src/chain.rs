//! One chain's ingest: the head is followed at once, history is filled beside it.

use std::sync::Arc;
use std::time::Duration;

use model::chain::Chain;
use rpc::Pool;
use store::{Change, Committed, Coverage, EntryKind, Store};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

use crate::config::Config;
use crate::error::Error;
use crate::progress::{Progress, Task};
use crate::source::NodeSource;
use crate::{backfill, follow};

/// How long to wait after a failure before trying again.
pub(crate) const PAUSE: Duration = Duration::from_millis(500);

pub struct Options {
    pub chain: Arc<Chain>,
    pub pool: Arc<Pool>,
    pub store: Store,
    pub config: Config,
    /// The oldest block to fill down to.
    pub from_block: u64,
}

/// A running ingest. Dropping it stops the work; what was committed stays.
pub struct ChainIngest {
    pub chain: Arc<Chain>,
    pub pool: Arc<Pool>,
    pub progress: Arc<Progress>,
    pub from_block: u64,
    _tasks: JoinSet<()>,
}

/// What both tasks share.
#[derive(Clone)]
pub(crate) struct Context {
    pub source: NodeSource,
    pub store: Store,
    pub config: Config,
    pub from_block: u64,
    pub progress: Arc<Progress>,
    /// Held from looking at the store to the commit that follows from it.
    pub turn: Arc<Mutex<()>>,
}

impl ChainIngest {
    pub fn start(options: Options) -> Self {
        let progress = Arc::new(Progress::default());
        let source = NodeSource::new(
            options.pool.clone(),
            options.chain.clone(),
            options.store.clone(),
            options.config.traces,
        );
        let context = Context {
            source,
            store: options.store,
            config: options.config,
            from_block: options.from_block,
            progress: progress.clone(),
            turn: Arc::default(),
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(follow::run(context.clone()));
        tasks.spawn(backfill::run(context));
        ChainIngest {
            chain: options.chain,
            pool: options.pool,
            progress,
            from_block: options.from_block,
            _tasks: tasks,
        }
    }
}

impl Context {
    /// Writes, and counts afterwards.
    pub async fn commit(&self, change: Change) -> Result<Committed, Error> {
        let transactions = change.apply.iter().map(|b| u64::from(b.tx_count)).sum();
        let committed = self.store.commit(self.source.chain_id(), change).await?;
        let applied =
            committed.entries.iter().filter(|e| e.kind == EntryKind::Apply).count() as u64;
        self.progress.applied(applied, transactions);
        let slug = self.source.chain.slug.clone();
        metrics::counter!("headwater_blocks_applied_total", "chain" => slug.clone())
            .increment(applied);
        metrics::counter!("headwater_transactions_applied_total", "chain" => slug.clone())
            .increment(transactions);
        if let Some(newest) = committed.coverage.newest() {
            metrics::gauge!("headwater_indexed_head", "chain" => slug).set(newest as f64);
        }
        Ok(committed)
    }

    pub async fn coverage(&self) -> Result<Coverage, Error> {
        Ok(self.store.view().await?.coverage(self.source.chain_id()).await?)
    }

    /// Changes after every commit.
    pub fn written(&self) -> watch::Receiver<u64> {
        self.store.subscribe(self.source.chain_id())
    }

    /// Says why a task stands still, once per reason.
    pub fn wait_because(&self, task: Task, error: &Error) {
        let why = error.to_string();
        if self.progress.set_waiting(task, Some(why.clone())) {
            tracing::warn!(chain.id = self.source.chain_id().0, ?task, error = %why, "ingest waits");
        }
    }
}
