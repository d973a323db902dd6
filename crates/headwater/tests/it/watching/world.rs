//! A server with a fault that is kept up while somebody watches.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use testkit::{SharedChain, SimConfig, SimNode, shared, write};
use tokio::task::JoinSet;

use crate::process::{Serve, Server};
use crate::world::CHAIN;

pub struct World {
    /// As Prometheus calls it.
    pub name: &'static str,
    pub url: String,
    /// Alerts that must come of it.
    pub fires: &'static [&'static str],
    pub tasks: JoinSet<()>,
    /// What must live as long: servers, nodes, receivers, folders.
    kept: Vec<Box<dyn Any + Send>>,
}

impl World {
    pub fn new(name: &'static str, server: Server, fires: &'static [&'static str]) -> Self {
        Self::of_shared(name, Arc::new(server), fires)
    }

    pub fn of_shared(
        name: &'static str,
        server: Arc<Server>,
        fires: &'static [&'static str],
    ) -> Self {
        let url = server.url().to_owned();
        World { name, url, fires, tasks: JoinSet::new(), kept: vec![Box::new(server)] }
    }

    pub fn keep(mut self, what: impl Any + Send) -> Self {
        self.kept.push(Box::new(what));
        self
    }

    /// Again and again, as long as it is watched.
    pub fn again<F>(mut self, pause_ms: u64, mut act: impl FnMut() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.tasks.spawn(async move {
            loop {
                act().await;
                tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            }
        });
        self
    }

    /// New blocks come.
    pub fn growing(self, chain: &SharedChain) -> Self {
        let chain = chain.clone();
        self.again(700, move || {
            write(&chain).extend(1);
            async {}
        })
    }
}

/// Small blocks: what is looked at is the server.
pub fn small(seed: u64) -> SimConfig {
    SimConfig { txs_per_block: 4, wallets: 20, ..SimConfig::seeded(seed) }
}

pub async fn chain_and_node(config: SimConfig, blocks: usize) -> (SharedChain, SimNode) {
    let chain = shared(config);
    write(&chain).extend(blocks);
    let node = SimNode::start(chain.clone()).await.unwrap();
    (chain, node)
}

/// Follows these nodes, and tries again soon.
pub fn follows(data: &Path, nodes: &[&str]) -> Serve {
    let serve = Serve::of(data)
        .set("rpc.poll_ms", "200")
        .set("rpc.backoff_min_ms", "100")
        .set("rpc.backoff_max_ms", "500")
        .set("log.filter", "error")
        .set("streams.allow_private_targets", r#"["127.0.0.0/8"]"#);
    nodes.iter().fold(serve, |serve, url| serve.rpc(CHAIN, url))
}
