//! The parts put together: store, pools, ingest, gateway, HTTP.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use api::cursor::CursorKey;
use api::{App, Hosts, Parts, ServedChain, Tell};
use gateway::{ChainNode, Gateway};
use ingest::ChainIngest;
use model::chain::{Chain, ChainTable};
use rand::RngCore;
use rpc::{Pool, PoolOptions};
use store::Store;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::config::{self, Settings};
use crate::redecode::{Keeper, Kept};
use crate::telemetry;

/// How long requests under way may take to end after the word to stop.
const DRAIN: Duration = Duration::from_secs(15);

pub struct Server {
    pub app: App,
    pub ingests: Vec<Arc<ChainIngest>>,
    /// Where it listens, with the port the system gave where 0 was asked for.
    pub addresses: Vec<SocketAddr>,
    keeper: Keeper,
    stop: watch::Sender<bool>,
    listeners: JoinSet<std::io::Result<()>>,
    store: Store,
}

impl Server {
    pub async fn start(settings: &Settings, ingesting: bool) -> Result<Self> {
        let prometheus = telemetry::metrics()?;
        let table = Arc::new(config::table(settings)?);
        let mut options = store::Options::new(&settings.store.path);
        options.cache_bytes = settings.store.cache_bytes;
        let store = Store::open(&options)?;
        let (chains, ingests, kept) = chains(settings, &table, &store, ingesting)?;
        let nodes = chains
            .iter()
            .map(|c| ChainNode { chain: c.chain.clone(), pool: c.pool.clone() })
            .collect::<Vec<_>>();
        let key_file = api::keys::KeyFile::in_folder(&settings.store.path);
        let bootstrap = Some(settings.auth.bootstrap_key.as_str());
        let keys = api::keys::KeyRing::new(key_file, bootstrap, settings.api.units_per_second)?;
        if keys.is_empty() {
            tracing::warn!("no API key exists yet; make one with: headwater keys create");
        }
        let secret = store.secret("cursor", || {
            let mut bytes = [0u8; 32];
            rand::rng().fill_bytes(&mut bytes);
            bytes
        })?;
        let lists = &settings.api.verified_collections;
        let verified = api::VerifiedCollections::read(lists, &table)?;
        let app = App::new(Parts {
            config: settings.api.clone(),
            store: store.clone(),
            table,
            gateway: Gateway::new(settings.gateway.clone(), store.clone(), nodes),
            chains,
            keys,
            cursor_key: CursorKey::new(secret),
            labels: api::Labels::read(&settings.api.labels)?,
            verified,
            price: settings.price.clone(),
            token_lists: api::TokenLists::read(&settings.price.token_lists)?,
            metrics: Box::new(move || prometheus.render()),
            version: env!("CARGO_PKG_VERSION"),
        });
        let (stop, stopped) = watch::channel(false);
        let mut listeners = JoinSet::new();
        let mut addresses = Vec::new();
        for (address, hosts) in listening(settings) {
            let listener = TcpListener::bind(&address)
                .await
                .with_context(|| format!("cannot listen on {address}"))?;
            addresses.push(listener.local_addr()?);
            listeners.spawn(serve(listener, app.clone(), hosts, stopped.clone()));
        }
        let keeper = Keeper::start(&store, kept);
        Ok(Server { app, ingests, addresses, keeper, stop, listeners, store })
    }

    /// Takes no more requests, lets those under way end, and leaves everything on disk.
    pub async fn stop(mut self) -> Result<()> {
        self.app.stop();
        let _ = self.stop.send(true);
        let drained = async { while self.listeners.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, drained).await.is_err() {
            tracing::warn!("some requests did not end in time");
        }
        self.keeper.stop().await;
        self.ingests.iter().for_each(|ingest| ingest.pool.shutdown());
        self.ingests.clear();
        Ok(self.store.persist()?)
    }
}

/// One listener for all, less the hosts that have their own.
fn listening(settings: &Settings) -> Vec<(String, Hosts)> {
    let listen = &settings.listen;
    let mut all = Hosts::ALL;
    let mut list = Vec::new();
    if !listen.data.is_empty() {
        all.data = false;
        list.push((listen.data.clone(), Hosts { data: true, rpc: false }));
    }
    if !listen.rpc.is_empty() {
        all.rpc = false;
        list.push((listen.rpc.clone(), Hosts { data: false, rpc: true }));
    }
    // Health, status and metrics stay there even when both hosts moved out.
    list.insert(0, (listen.all.clone(), all));
    list
}

async fn serve(
    listener: TcpListener,
    app: App,
    hosts: Hosts,
    mut stopped: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
        // Small answers must not wait for more to say.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, api::router(app, hosts))
        .with_graceful_shutdown(async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        })
        .await
}

type Chains = (Vec<ServedChain>, Vec<Arc<ChainIngest>>, Vec<Kept>);

/// Chains of the configuration, and those the store holds from earlier.
fn chains(
    settings: &Settings,
    table: &Arc<ChainTable>,
    store: &Store,
    ingesting: bool,
) -> Result<Chains> {
    let mut served: Vec<ServedChain> = Vec::new();
    let mut ingests = Vec::new();
    let mut kept = Vec::new();
    // Before a chain's ingest starts: what it commits must say who decoded it.
    let mut keep = |chain: &Arc<Chain>| -> Result<Option<Tell>> {
        let one = Kept::new(store, chain.clone(), settings.ingest.redecode)?;
        let progress = one.progress.clone();
        kept.push(one);
        Ok(Some(tell(move || progress.snapshot())))
    };
    for (name, section) in &settings.chains {
        let alias = format!("chain-{name}");
        let chain = table.find(name).or_else(|| table.find(&alias));
        let chain = Arc::new(chain.with_context(|| format!("chain '{name}'"))?.clone());
        let redecode = keep(&chain)?;
        if section.upstreams.is_empty() {
            served.push(ServedChain { chain, pool: None, ingest: None, redecode });
            continue;
        }
        let pool = start_pool(&chain, section, settings)?;
        let ingest = ingesting.then(|| {
            Arc::new(ChainIngest::start(ingest::Options {
                chain: chain.clone(),
                pool: pool.clone(),
                store: store.clone(),
                config: settings.ingest.clone(),
                from_block: section.from_block.unwrap_or(0),
            }))
        });
        let progress = ingest.as_ref().map(|ingest| ingest.progress.clone());
        ingests.extend(ingest);
        let ingest = progress.map(|progress| tell(move || progress.snapshot()));
        served.push(ServedChain { chain, pool: Some(pool), ingest, redecode });
    }
    for id in store.view().chains()? {
        if served.iter().any(|s| s.chain.id == id) {
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
        let redecode = keep(&chain)?;
        served.push(ServedChain { chain, pool: None, ingest: None, redecode });
    }
    Ok((served, ingests, kept))
}

fn tell<T: serde::Serialize>(now: impl Fn() -> T + Send + Sync + 'static) -> Tell {
    Box::new(move || serde_json::to_value(now()).unwrap_or_default())
}

fn start_pool(
    chain: &Chain,
    section: &config::ChainSection,
    settings: &Settings,
) -> Result<Arc<Pool>> {
    Ok(Pool::start(PoolOptions {
        chain_id: chain.id.0,
        chain_label: chain.slug.clone(),
        upstreams: section.upstreams.clone(),
        config: settings.rpc.clone(),
        // Twice a block at the chain's pace, so that a head is seen half a block late at most.
        poll_interval: Duration::from_millis((chain.block_time_ms / 2).clamp(100, 5_000)),
    })?)
}

/// Says where the data folder is when it is not the operator's own choice.
pub fn shown(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string()
}
