//! The chains that a server answers for: their nodes, their ingest, their decoders.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use api::{ServedChain, StatusFn};
use ingest::Flights;
use model::chain::{Chain, ChainTable};
use rpc::{Pool, PoolOptions};
use store::Store;
use tasks::{Backoff, TaskEnd, endless, keep_running};
use tokio::task::JoinSet;

use super::audit::ChainAudit;
use super::ingests::IngestSlot;
use crate::cli::Role;
use crate::config::{ChainSection, Settings};
use crate::redecode::RedecodeTarget;

#[derive(Default)]
pub struct Chains {
    pub served: Vec<ServedChain>,
    /// About to start.
    pub ingests: Vec<Arc<IngestSlot>>,
    pub targets: Vec<RedecodeTarget>,
    /// Of chains that are served by the gateway alone: who tells which heads were given.
    pub head_accounts: JoinSet<()>,
}

/// One part in so many of the store's memory is for blocks of history on their way into it.
const FLIGHTS_PART: u64 = 8;

/// Chains of the configuration, and those the store holds from earlier.
pub async fn start(
    settings: &Settings,
    table: &Arc<ChainTable>,
    store: &Store,
    role: Role,
) -> Result<Chains> {
    let mut chains = Chains::default();
    let flights = Flights::new((settings.store.memory_bytes / FLIGHTS_PART) as usize);
    for (name, section) in &settings.chains {
        let chain = Arc::new(find(table, name)?.clone());
        let is_ingested = role.ingests() && section.ingest.is_on();
        let has_nodes = !section.upstreams.is_empty();
        let redecode = chains.add_target(store, &chain, settings, is_ingested && has_nodes);
        if !has_nodes {
            chains.served.push(ServedChain {
                chain,
                pool: None,
                ingest: None,
                redecode,
                audit: None,
            });
            continue;
        }
        let pool =
            start_pool(&chain, section, settings).with_context(|| format!("chain '{name}'"))?;
        if !section.ingest.is_on() {
            chains.serve_without_store(chain, pool, redecode);
            continue;
        }
        let slot = is_ingested.then(|| {
            let place = IngestPlace { settings, section, store, flights: &flights };
            Arc::new(place.slot(&chain, &pool))
        });
        let audit = ChainAudit::new(store, &pool, &chain, slot.clone());
        let audit: Option<Box<dyn api::AuditControl>> = Some(Box::new(audit));
        chains.ingests.extend(slot.clone());
        let ingest = slot.map(|slot| status_fn(move || slot.status()));
        chains.served.push(ServedChain { chain, pool: Some(pool), ingest, redecode, audit });
    }
    chains.add_stored(store, table, settings).await?;
    Ok(chains)
}

/// What the ingest of a chain is made of, beside the chain and its nodes.
struct IngestPlace<'a> {
    settings: &'a Settings,
    section: &'a ChainSection,
    store: &'a Store,
    flights: &'a Arc<Flights>,
}

impl IngestPlace<'_> {
    fn slot(&self, chain: &Arc<Chain>, pool: &Arc<Pool>) -> IngestSlot {
        let from_block = self.section.from_block.unwrap_or(0);
        let (store, config) = (self.store.clone(), self.settings.ingest.clone());
        let (flights, retain_blocks) = (self.flights.clone(), self.section.retain_blocks);
        let (of, nodes) = (chain.clone(), pool.clone());
        let options = move || ingest::Options {
            chain: of.clone(),
            pool: nodes.clone(),
            store: store.clone(),
            config: config.clone(),
            flights: flights.clone(),
            from_block,
            decode: ingest::decoder_of(&of),
            retain_blocks,
        };
        IngestSlot::new(chain.clone(), pool.clone(), Box::new(options))
    }
}

/// A chain of the configuration.
pub fn find<'a>(table: &'a ChainTable, name: &str) -> Result<&'a Chain> {
    let alias = format!("chain-{name}");
    let chain = table.find(name).or_else(|| table.find(&alias));
    chain.with_context(|| format!("chain '{name}'"))
}

impl Chains {
    /// The gateway forwards, checks and caches; /status says that nothing is stored.
    fn serve_without_store(
        &mut self,
        chain: Arc<Chain>,
        pool: Arc<Pool>,
        redecode: Option<StatusFn>,
    ) {
        let (nodes, of) = (pool.clone(), chain.clone());
        self.head_accounts.spawn(async move {
            let backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_secs(60) };
            let start = || endless(gateway::keep_head_account(nodes.clone(), of.clone()));
            let tell = |end: TaskEnd| {
                let TaskEnd { reason, .. } = end;
                tracing::error!(chain = %of.slug, %reason, "who asks for new heads ended and is started again");
            };
            keep_running(backoff, || false, start, tell).await;
        });
        let ingest: Option<StatusFn> = Some(Box::new(|| "off".into()));
        self.served.push(ServedChain { chain, pool: Some(pool), ingest, redecode, audit: None });
    }

    /// A folder's blocks are decoded again by its one process; those of a database by whoever reads their chain.
    fn add_target(
        &mut self,
        store: &Store,
        chain: &Arc<Chain>,
        settings: &Settings,
        is_ingested: bool,
    ) -> Option<StatusFn> {
        if store.is_shared() && !is_ingested {
            return None;
        }
        let target = RedecodeTarget::new(chain.clone(), settings.ingest.redecode);
        let progress = target.progress.clone();
        self.targets.push(target);
        Some(status_fn(move || progress.snapshot()))
    }

    /// What the store holds is served, also where no node of it is configured.
    async fn add_stored(
        &mut self,
        store: &Store,
        table: &ChainTable,
        settings: &Settings,
    ) -> Result<()> {
        for id in store.view().await?.chains().await? {
            if self.served.iter().any(|served| served.chain.id == id) {
                continue;
            }
            let Some(chain) = table.get(id) else {
                tracing::warn!(
                    chain.id = id.0,
                    "the store holds a chain that is not built in; name it in the configuration to serve it"
                );
                continue;
            };
            let chain = Arc::new(chain.clone());
            let redecode = self.add_target(store, &chain, settings, false);
            self.served.push(ServedChain {
                chain,
                pool: None,
                ingest: None,
                redecode,
                audit: None,
            });
        }
        Ok(())
    }
}

fn status_fn<T: serde::Serialize>(now: impl Fn() -> T + Send + Sync + 'static) -> StatusFn {
    Box::new(move || serde_json::to_value(now()).unwrap_or_default())
}

pub fn start_pool(chain: &Chain, section: &ChainSection, settings: &Settings) -> Result<Arc<Pool>> {
    Ok(Pool::start(pool_options(chain, section, settings))?)
}

/// What a chain's pool is started with; `config check` asks whether it could be.
pub fn pool_options(chain: &Chain, section: &ChainSection, settings: &Settings) -> PoolOptions {
    PoolOptions {
        chain_id: chain.id.0,
        chain_label: chain.slug.clone(),
        upstreams: section.upstreams.clone(),
        config: settings.rpc.clone(),
        // Twice a block at the chain's pace, so that a head is seen half a block late at most.
        poll_interval: Duration::from_millis((chain.block_time_ms / 2).clamp(100, 5_000)),
    }
}
