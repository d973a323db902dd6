//! Gateways over simulated nodes, without anything stored.

use std::sync::Arc;
use std::time::Duration;

use gateway::{ChainNode, Config, Gateway, RequestScope, Source};
use model::chain::{Chain, ChainId, ChainTable, PrivateChain, Verification};
use rpc::{Pool, PoolConfig, PoolOptions, State, UpstreamConfig};
use serde_json::{Value, json};
use testkit::{SharedChain, SimConfig, SimNode};
use tokio::task::JoinSet;

/// Generous: only a broken test waits this long.
pub const PATIENCE: Duration = Duration::from_secs(120);
pub const CHAIN: ChainId = ChainId(1337);

pub struct Rig {
    pub gateway: Gateway,
    pub pool: Arc<Pool>,
    _head_account: JoinSet<()>,
    _folder: tempfile::TempDir,
}

/// A chain with Ethereum's own rules.
pub fn chain_of(id: ChainId) -> Arc<Chain> {
    let private = PrivateChain {
        verification: Some(Verification::Full),
        confirmations: Some(12),
        block_time_ms: Some(200),
        ..PrivateChain::new(id, "simulated")
    };
    let table = ChainTable::builtin().unwrap().with_private(private).unwrap();
    Arc::new(table.get(id).unwrap().clone())
}

pub fn simulated(blocks: u64) -> SharedChain {
    let chain = testkit::shared(SimConfig { txs_per_block: 6, ..SimConfig::seeded(7) });
    testkit::write(&chain).extend(blocks as usize);
    chain
}

pub async fn node(chain: &SharedChain) -> SimNode {
    SimNode::start(chain.clone()).await.unwrap()
}

pub fn pool_config() -> PoolConfig {
    PoolConfig {
        timeout_ms: 3_000,
        backoff_min_ms: 50,
        backoff_max_ms: 500,
        poll_ms: Some(50),
        client_response_bytes_max: 4 << 20,
        ..PoolConfig::default()
    }
}

/// As a chain with `ingest = "off"` is served.
pub async fn rig(config: Config, urls: &[String]) -> Rig {
    rig_with(config, pool_config(), urls).await
}

pub async fn rig_with(config: Config, pool: PoolConfig, urls: &[String]) -> Rig {
    let chain = chain_of(CHAIN);
    let upstreams = urls.iter().enumerate().map(|(at, url)| UpstreamConfig {
        name: Some(format!("node-{at}")),
        ..UpstreamConfig::from_url(url.clone())
    });
    let pool = Pool::start(PoolOptions {
        chain_id: chain.id.0,
        chain_label: "simulated".into(),
        upstreams: upstreams.collect(),
        config: pool,
        poll_interval: Duration::from_millis(100),
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = store::Store::open(&store::Options::new(folder.path()), |_| {}).await.unwrap();
    let mut head_account = JoinSet::new();
    head_account.spawn(gateway::keep_head_account(pool.clone(), chain.clone()));
    let node = ChainNode { chain, pool: Some(pool.clone()), is_ingested: false };
    let gateway = Gateway::new(config, store, [node]);
    Rig { gateway, pool, _head_account: head_account, _folder: folder }
}

impl Rig {
    pub async fn all_healthy(&self) {
        let is_healthy = || {
            let status = self.pool.status();
            status.upstreams.iter().all(|it| it.state == State::Healthy)
                && self.pool.head_number() > 0
        };
        eventually("all nodes are in use", is_healthy).await;
    }

    /// The answer's envelope, and where it came from.
    pub async fn ask_text(&self, body: &str) -> (Value, Vec<Source>) {
        let is_batch = body.trim_start().starts_with('[');
        let scope = if is_batch { RequestScope::of_batch() } else { RequestScope::default() };
        let requests = self.gateway.read(body.as_bytes());
        let answering = self.gateway.answer_in_scope(CHAIN, requests, &scope);
        let answer = tokio::time::timeout(PATIENCE, answering).await.unwrap().unwrap();
        (serde_json::from_slice(&answer.into_vec()).unwrap(), scope.sources().collect())
    }

    pub async fn ask(&self, method: &str, params: Value) -> Value {
        self.ask_text(&call(1, method, params).to_string()).await.0
    }
}

pub fn call(id: usize, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waiting).await.is_ok(), "never happened: {what}");
}
