//! The parts put together: store, pools, ingest, gateway, HTTP.

mod audit;
pub mod chains;
mod disk_budget;
mod ingests;
mod listeners;
mod memory;
mod problems;
mod role;
mod streams;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use api::cursor::CursorKey;
use api::keys::KeyRing;
use api::{App, Parts, ProblemsFn, StreamsSlot};
use gateway::{ChainNode, Gateway};
use metrics_exporter_prometheus::PrometheusHandle;
use model::chain::ChainTable;
use rand::RngCore;
use store::{Store, WriteState};
use tasks::TaskBoard;
use tokio::task::{JoinHandle, JoinSet};

use self::streams::{LateTokens, StreamsKeeper, StreamsPlan};
use crate::cli::Role;
use crate::config::{self, Settings};
use crate::file_limit;
use crate::open_store::{open_replicated_store, open_store};
use crate::redecode::RedecodeWorker;
use crate::telemetry::Metrics;
use chains::Chains;
use disk_budget::DiskBudget;
pub use ingests::IngestSlot;
use listeners::Listeners;
use problems::{Watched, problems_fn};

const FOLLOWING_KEYS: &str = "following changes of API keys";

pub struct Server {
    pub app: App,
    pub ingests: Vec<Arc<IngestSlot>>,
    /// Where it listens, with the port the system gave where 0 was asked for.
    pub addresses: Vec<SocketAddr>,
    redecode: RedecodeWorker,
    streams: StreamsSlot,
    listeners: Listeners,
    budget: Option<JoinHandle<()>>,
    /// What waits for a duty, or has it.
    keepers: JoinSet<()>,
    /// Ends with the server.
    _head_accounts: JoinSet<()>,
    store: Store,
}

impl Server {
    pub async fn start(settings: &Settings, role: Role, metrics: &Metrics) -> Result<Self> {
        let Metrics { tasks, prometheus } = metrics.clone();
        memory::tell_limit(settings);
        let table = Arc::new(config::table(settings)?);
        let store = match role {
            Role::Api | Role::Gateway => open_replicated_store(settings).await?,
            _ => open_store(settings, true).await?,
        };
        role.check(&store)?;
        let Chains { served, ingests, targets, head_accounts } =
            chains::start(settings, &table, &store, role).await?;
        let unread = targets.iter().map(|target| target.chain.id);
        let unread: Vec<_> =
            unread.filter(|id| ingests.iter().all(|slot| slot.chain.id != *id)).collect();
        let redecode = RedecodeWorker::start(&store, targets);
        for chain in unread {
            redecode.handle().declare(&store, chain).await?;
        }
        let mut keepers = ingests::start(&ingests, &store, &redecode.handle()).await?;
        let (tokens, slot) = (LateTokens::new(), StreamsSlot::default());
        let plan = StreamsPlan::new(settings, &store, &table, &served, tokens.clone())?;
        let streams = if role.runs_streams(&store) {
            Some(StreamsKeeper::start(plan, slot.clone(), tasks.clone()).await?)
        } else {
            None
        };
        let problems = problems_fn(Watched {
            store: store.clone(),
            ingests: ingests.clone(),
            streams: slot.clone(),
            tasks: tasks.clone(),
        });
        let built = Built {
            table,
            chains: served,
            redecode: &redecode,
            problems,
            streams: slot.clone(),
            prometheus,
        };
        let mut app = parts(settings, &store, built).await?;
        let budget = watch_budget(settings, &store, &mut app, tasks.clone());
        let app = App::new(app);
        tokens.set(app.clone());
        if let Some((keeper, leading)) = streams {
            keepers.spawn(keeper.keep(app.clone(), leading));
        }
        let keys = app.clone();
        keepers.spawn(async move {
            tasks.keep_running(FOLLOWING_KEYS, || false, || keys.parts.keys.follow()).await;
        });
        let files = file_limit::plan(settings.node_files());
        let (listeners, addresses) =
            Listeners::start(settings, &app, (role.hosts(), files)).await?;
        Ok(Server {
            app,
            ingests,
            addresses,
            redecode,
            streams: slot,
            listeners,
            budget,
            keepers,
            _head_accounts: head_accounts,
            store,
        })
    }

    /// Ends with what this process cannot go on after.
    pub async fn failed(&mut self) -> anyhow::Error {
        let mut writes = self.store.watch_write_state();
        let given_up = async {
            match writes
                .wait_for(|state| matches!(state, WriteState::Failed { .. }))
                .await
                .as_deref()
            {
                Ok(WriteState::Failed { reason, advice }) => anyhow!("{reason}; {advice}"),
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            error = given_up => error,
            () = self.listeners.ended() => anyhow!("a listener ended by itself; please report this"),
        }
    }

    /// Takes no more requests, lets those under way end, and leaves everything on disk.
    pub async fn stop(mut self) -> Result<()> {
        self.app.stop();
        self.listeners.stop().await;
        self.redecode.stop().await;
        if let Some(streams) = self.streams.get() {
            streams.stop().await;
        }
        self.ingests.iter().for_each(|slot| slot.stop());
        self.ingests.clear();
        // Whoever waits for a duty of this process gets it now.
        self.keepers.shutdown().await;
        if let Some(budget) = &self.budget {
            budget.abort();
        }
        Ok(self.store.flush().await?)
    }
}

/// Where there is one, /status shows it.
fn watch_budget(
    settings: &Settings,
    store: &Store,
    parts: &mut Parts,
    tasks: TaskBoard,
) -> Option<JoinHandle<()>> {
    let bytes = Some(settings.store.disk_budget_bytes).filter(|bytes| *bytes > 0)?;
    let budget = Arc::new(DiskBudget::new(bytes));
    let shown = budget.clone();
    let status = move || serde_json::to_value(shown.status()).unwrap_or_default();
    parts.disk_budget = Some(Box::new(status));
    Some(disk_budget::watch(budget, store.clone(), tasks))
}

/// What is there before the HTTP server is.
struct Built<'a> {
    table: Arc<ChainTable>,
    chains: Vec<api::ServedChain>,
    redecode: &'a RedecodeWorker,
    problems: ProblemsFn,
    streams: StreamsSlot,
    prometheus: PrometheusHandle,
}

async fn parts(settings: &Settings, store: &Store, built: Built<'_>) -> Result<Parts> {
    let Built { table, chains, redecode, problems, streams, prometheus } = built;
    let is_off = |id| {
        settings.chains.iter().any(|(name, section)| {
            let is_it = chains::find(&table, name).is_ok_and(|chain| chain.id == id);
            is_it && !section.ingest.is_on()
        })
    };
    let nodes = chains
        .iter()
        .map(|c| ChainNode {
            chain: c.chain.clone(),
            pool: c.pool.clone(),
            is_ingested: !is_off(c.chain.id),
        })
        .collect::<Vec<_>>();
    let bootstrap = &settings.auth.bootstrap_key;
    let keys = KeyRing::open(store, bootstrap, settings.api.units_per_second).await?;
    if keys.is_empty() {
        tracing::warn!("no API key exists yet; make one with: headwater keys create");
    }
    let cursor_key = match settings.api.cursor_secret.0.as_str() {
        "" => CursorKey::new(store.secret("cursor", fresh_secret).await?),
        secret => CursorKey::of_secret(secret),
    };
    let verified = api::ContractList::read(
        "verified collections",
        &settings.api.verified_collections,
        &table,
    )?;
    let labels = api::Labels::read(&settings.api.labels)?;
    let token_lists = api::TokenLists::read(&settings.price.token_lists)?;
    Ok(Parts {
        config: settings.api.clone(),
        console: settings.console.clone(),
        listen: settings.listen.clone(),
        store: store.clone(),
        table,
        gateway: Gateway::new(settings.gateway.clone(), store.clone(), nodes),
        chains,
        streams: Some(streams),
        keys,
        status_access: settings.auth.status,
        redecode: Box::new(redecode.handle()),
        problems,
        cursor_key,
        labels,
        verified,
        price: settings.price.clone(),
        token_lists,
        metrics: Box::new(move || prometheus.render()),
        version: env!("CARGO_PKG_VERSION"),
        disk_budget: None,
    })
}

fn fresh_secret() -> [u8; 32] {
    let mut bytes = [0u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// Says where the data folder is when it is not the operator's own choice.
pub fn shown(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string()
}
