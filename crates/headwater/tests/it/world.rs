//! A server with a chain to answer for, in a folder that goes away with it.

use rand::Rng;
use rand::rngs::StdRng;
use testkit::{SharedChain, SimChain, SimConfig, SimNode, read, shared, write};

use crate::client::Client;
use crate::process::{Serve, Server, import};
use crate::records::{self, Traces};

/// The private chain of the simulations, by its decimal id.
pub const CHAIN: &str = "1337";
/// As /status and messages name it.
pub const SLUG: &str = "chain-1337";

/// Imported blocks, no node.
pub struct Imported {
    pub chain: SimChain,
    pub server: Server,
    pub client: Client,
    pub folder: tempfile::TempDir,
}

impl Imported {
    pub fn new(blocks: usize) -> Self {
        Self::with(blocks, |serve| serve)
    }

    pub fn with(blocks: usize, settings: impl FnOnce(Serve) -> Serve) -> Self {
        let chain = records::chain(blocks);
        let folder = tempfile::tempdir().unwrap();
        let file = records::write(folder.path(), &chain, 0..=blocks as u64, Traces::Parity);
        let data = folder.path().join("data");
        let summary = import(&data, CHAIN, &[file]);
        assert!(summary.contains(&format!("{} verified", blocks + 1)), "{summary}");
        let server = settings(private(Serve::of(&data))).start();
        let client = Client::new(server.url());
        Imported { chain, server, client, folder }
    }

    pub fn address(&self, name: &str) -> String {
        format!("{:#x}", self.chain.address_of(name).unwrap())
    }
}

/// Serves the simulations' chain though it has no node.
pub fn private(serve: Serve) -> Serve {
    serve.set(&format!("chains.{CHAIN}.from_block"), "0")
}

/// A live node, and a server that reads from it.
pub struct Live {
    pub chain: SharedChain,
    pub node: SimNode,
    pub server: Server,
    pub client: Client,
    _folder: tempfile::TempDir,
}

impl Live {
    pub async fn start(
        config: SimConfig,
        blocks: usize,
        settings: impl FnOnce(Serve) -> Serve,
    ) -> Self {
        let chain = shared(config);
        write(&chain).extend(blocks);
        let node = SimNode::start(chain.clone()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let serve = Serve::of(&data).rpc(CHAIN, &node.url()).set("rpc.poll_ms", "40");
        let server = settings(serve).start();
        let client = Client::new(server.url());
        let live = Live { chain, node, server, client, _folder: folder };
        live.until_indexed().await;
        live
    }

    /// Waits until the server has what the node has.
    pub async fn until_indexed(&self) {
        let (head, hash) = head(&self.chain);
        self.client.until_indexed(SLUG, head, &hash).await;
    }

    pub fn address(&self, name: &str) -> String {
        format!("{:#x}", read(&self.chain).address_of(name).unwrap())
    }

    /// Hashes of a wallet's rows on the chain as it is now, newest first.
    pub fn expected(&self, address: &str, with_internal: bool) -> Vec<String> {
        let wallet = read(&self.chain).expected_wallet(address.parse().unwrap());
        let rows = if with_internal { wallet.all() } else { wallet.direct };
        rows.iter().map(|row| format!("{:#x}", row.hash)).collect()
    }
}

pub fn head(chain: &SharedChain) -> (u64, String) {
    let head = read(chain).head();
    (head.number(), format!("{:#x}", head.hash))
}

/// New blocks, and now and then another end of the chain, never so deep that a confirmed block goes.
pub fn grow(chain: &SharedChain, random: &mut StdRng) {
    let mut chain = write(chain);
    if random.random_bool(0.1) {
        let depth = random.random_range(1..=10);
        chain.reorg(depth, depth + 1);
    } else {
        chain.extend(1);
    }
}
