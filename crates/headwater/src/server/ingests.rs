//! Ingest of a chain, in whichever process has the duty: it starts when this one gets it and stops when another does.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::Result;
use ingest::ChainIngest;
use model::chain::Chain;
use rpc::Pool;
use serde_json::Value;
use store::{Duty, Leadership, Store};
use tokio::task::JoinSet;

use crate::redecode::RedecodeHandle;

const AGAIN_AFTER: Duration = Duration::from_millis(500);

/// Makes what a chain's ingest is started with, each time.
type OptionsFn = Box<dyn Fn() -> ingest::Options + Send + Sync>;

/// A chain that this process reads, or would if no other did.
pub struct IngestSlot {
    pub chain: Arc<Chain>,
    pub pool: Arc<Pool>,
    options: OptionsFn,
    running: RwLock<Option<Arc<ChainIngest>>>,
}

impl IngestSlot {
    pub fn new(chain: Arc<Chain>, pool: Arc<Pool>, options: OptionsFn) -> Self {
        IngestSlot { chain, pool, options, running: RwLock::default() }
    }

    /// None while another process reads the chain.
    pub fn running(&self) -> Option<Arc<ChainIngest>> {
        self.running.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, ingest: Option<Arc<ChainIngest>>) {
        *self.running.write().unwrap_or_else(PoisonError::into_inner) = ingest;
    }

    /// As /status shows it.
    pub fn status(&self) -> Value {
        match self.running() {
            Some(ingest) => serde_json::to_value(ingest.progress.snapshot()).unwrap_or_default(),
            None => "standby".into(),
        }
    }

    pub fn stop(&self) {
        self.set(None);
        self.pool.shutdown();
    }

    /// What it commits must say who decoded it, before it commits any.
    async fn start(&self, store: &Store, redecode: &RedecodeHandle) -> Result<(), store::Error> {
        redecode.declare(store, self.chain.id).await?;
        self.set(Some(Arc::new(ChainIngest::start((self.options)()))));
        Ok(())
    }

    /// None where another process reads the chain.
    async fn try_start(
        &self,
        store: &Store,
        redecode: &RedecodeHandle,
    ) -> Result<Option<Leadership>, store::Error> {
        let leading = store.try_lead(Duty::Chain(self.chain.id)).await?;
        match &leading {
            Some(_) => self.start(store, redecode).await?,
            None => {
                tracing::info!(chain = %self.chain.slug, "another process reads this chain; this one takes over when it ends");
            }
        }
        Ok(leading)
    }

    async fn lead_again(
        &self,
        store: &Store,
        redecode: &RedecodeHandle,
    ) -> Result<Leadership, store::Error> {
        let leadership = store.lead(Duty::Chain(self.chain.id)).await;
        self.start(store, redecode).await?;
        Ok(leadership)
    }

    async fn keep(
        self: Arc<Self>,
        store: Store,
        redecode: RedecodeHandle,
        mut leading: Option<Leadership>,
    ) {
        loop {
            let mut leadership = match leading.take() {
                Some(leadership) => leadership,
                None => match self.lead_again(&store, &redecode).await {
                    Ok(leadership) => leadership,
                    Err(error) => {
                        tracing::warn!(chain = %self.chain.slug, %error, "ingest cannot start; tried again");
                        tokio::time::sleep(AGAIN_AFTER).await;
                        continue;
                    }
                },
            };
            leadership.ended().await;
            self.set(None);
            tracing::warn!(chain = %self.chain.slug, "another process may read this chain now; this one waits");
        }
    }
}

/// Those that nobody else has start before this returns.
pub async fn start(
    slots: &[Arc<IngestSlot>],
    store: &Store,
    redecode: &RedecodeHandle,
) -> Result<JoinSet<()>> {
    let mut keepers = JoinSet::new();
    for slot in slots {
        let leading = match slot.try_start(store, redecode).await {
            // Its database may be away, while others are there.
            Err(error) if error.is_retryable() => {
                tracing::warn!(chain = %slot.chain.slug, %error, "ingest cannot start; tried again");
                None
            }
            started => started?,
        };
        keepers.spawn(slot.clone().keep(store.clone(), redecode.clone(), leading));
    }
    Ok(keepers)
}
