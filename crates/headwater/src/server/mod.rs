//! The parts put together: store, pools, ingest, gateway, HTTP.

mod audit;
pub mod chains;
mod disk_budget;
mod listeners;
mod memory;
mod problems;
mod streams;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use api::cursor::CursorKey;
use api::keys::KeyRing;
use api::{App, Parts, ProblemsFn};
use gateway::{ChainNode, Gateway};
use ingest::ChainIngest;
use metrics_exporter_prometheus::PrometheusHandle;
use model::chain::ChainTable;
use rand::RngCore;
use store::{Store, WriteState};
use tasks::TaskBoard;
use tokio::task::{JoinHandle, JoinSet};

use self::streams::LateTokens;
use crate::config::{self, Settings};
use crate::file_limit;
use crate::open_store::open_store;
use crate::redecode::RedecodeWorker;
use crate::telemetry;
use ::streams::Streams;
use chains::Chains;
use disk_budget::DiskBudget;
use listeners::Listeners;
use problems::{Watched, problems_fn};

pub struct Server {
    pub app: App,
    pub ingests: Vec<Arc<ChainIngest>>,
    /// Where it listens, with the port the system gave where 0 was asked for.
    pub addresses: Vec<SocketAddr>,
    redecode: RedecodeWorker,
    streams: Streams,
    listeners: Listeners,
    budget: Option<JoinHandle<()>>,
    /// Ends with the server.
    _head_accounts: JoinSet<()>,
    store: Store,
}

impl Server {
    pub async fn start(settings: &Settings, ingesting: bool) -> Result<Self> {
        let tasks = TaskBoard::default();
        // Before anything that counts is started.
        let prometheus = telemetry::metrics(tasks.clone())?;
        memory::tell_limit(settings);
        let table = Arc::new(config::table(settings)?);
        let store = open_store(settings, true).await?;
        let Chains { served, ingests, targets, head_accounts } =
            chains::start(settings, &table, &store, ingesting).await?;
        let redecode = RedecodeWorker::start(&store, targets);
        let tokens = LateTokens::new();
        let streams = streams::start(settings, &store, &table, &served, tokens.clone()).await?;
        let problems = problems_fn(Watched {
            store: store.clone(),
            ingests: ingests.clone(),
            streams: streams.clone(),
            tasks: tasks.clone(),
        });
        let built = Built {
            table,
            chains: served,
            redecode: &redecode,
            problems,
            streams: streams.clone(),
            prometheus,
        };
        let mut app = parts(settings, &store, built).await?;
        let budget = watch_budget(settings, &store, &mut app, tasks);
        let app = App::new(app);
        tokens.set(app.clone());
        let files = file_limit::plan(settings.node_files());
        let (listeners, addresses) = Listeners::start(settings, &app, files).await?;
        Ok(Server {
            app,
            ingests,
            addresses,
            redecode,
            streams,
            listeners,
            budget,
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
        self.streams.stop().await;
        self.ingests.iter().for_each(|ingest| ingest.pool.shutdown());
        self.ingests.clear();
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
    streams: Streams,
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
        labels: api::Labels::read(&settings.api.labels)?,
        verified,
        price: settings.price.clone(),
        token_lists: api::TokenLists::read(&settings.price.token_lists)?,
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
