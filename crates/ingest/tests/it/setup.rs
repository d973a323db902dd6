//! A chain, nodes, a store and an ingest of them; waiting for conditions; the honest comparison.

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::B256;
use ingest::verify::{Rules, Senders, verify};
use ingest::{ChainIngest, Config, SenderCheck};
use model::chain::{Chain, ChainId, ChainTable, PrivateChain, Verification};
use model::raw::{Block, Receipt, read_geth_traces, read_parity_traces};
use proptest::test_runner::RngSeed;
use rpc::{Pool, PoolConfig, PoolOptions, UpstreamConfig};
use store::read::WalletQuestion;
use store::{Change, Store};
use tempfile::TempDir;
use testkit::{SharedChain, SimChain, SimConfig, SimNode, read};

pub const CHAIN: ChainId = ChainId(1337);

/// Generous: only a broken test waits this long.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn chain(verification: Verification) -> Arc<Chain> {
    let mut private = PrivateChain::new(CHAIN, "sim");
    private.verification = Some(verification);
    let table = ChainTable::default().with_private(private).unwrap();
    Arc::new(table.get(CHAIN).unwrap().clone())
}

/// A small chain of that many blocks behind its genesis.
pub fn sim(seed: u64, blocks: usize) -> SharedChain {
    made(SimConfig { txs_per_block: 4, wallets: 20, ..SimConfig::seeded(seed) }, blocks)
}

/// With enough in every block to lie about.
pub fn busy_sim(seed: u64, blocks: usize) -> SharedChain {
    made(SimConfig { txs_per_block: 10, wallets: 20, ..SimConfig::seeded(seed) }, blocks)
}

fn made(config: SimConfig, blocks: usize) -> SharedChain {
    let chain = testkit::shared(config);
    testkit::write(&chain).extend(blocks);
    chain
}

pub async fn node(chain: &SharedChain) -> SimNode {
    SimNode::start(chain.clone()).await.unwrap()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dialect {
    Geth,
    Parity,
    None,
}

pub fn block(chain: &SimChain, number: u64, dialect: Dialect) -> Block {
    let mut block = Block::read(&chain.block_json(number, true).unwrap()).unwrap().unwrap();
    let receipts: Vec<Receipt> =
        serde_json::from_slice(&chain.receipts_json(number).unwrap()).unwrap();
    block.set_receipts(receipts).unwrap();
    let count = block.txs.len();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    block.traces = match dialect {
        Dialect::Geth => {
            Some(read_geth_traces(&text(&chain.traces_geth_json(number).unwrap()), count).unwrap())
        }
        Dialect::Parity => {
            let rows = text(&chain.traces_parity_json(number).unwrap());
            Some(read_parity_traces(&rows, count).unwrap())
        }
        Dialect::None => None,
    };
    block
}

pub fn rules(verification: Verification) -> Rules {
    Rules { verification, chain_id: CHAIN.0, senders: Senders::All }
}

/// The digest of a store that indexed this chain, from a block on, and nothing else.
pub fn honest_digest(chain: &SimChain, from_block: u64, dialect: Dialect) -> B256 {
    let dir = scratch();
    let store = open(&dir);
    let rules = rules(Verification::Full);
    let prepare = |number| {
        let block = block(chain, number, dialect);
        let proof = verify(&block, &rules).unwrap();
        store::prepare(CHAIN, block, proof, model::facts::Facts::default())
    };
    let apply = (from_block..=chain.head_number()).map(prepare).collect();
    store.commit(CHAIN, Change { revert: Vec::new(), apply }).unwrap();
    store.view().digest(CHAIN).unwrap()
}

pub fn open(dir: &TempDir) -> Store {
    try_open(dir).unwrap()
}

fn try_open(dir: &TempDir) -> Result<Store, store::Error> {
    let path = dir.path().join("store");
    let options =
        store::Options { cache_bytes: 8 << 20, durable: false, ..store::Options::new(path) };
    Store::open(&options)
}

pub fn pool_config() -> PoolConfig {
    PoolConfig {
        timeout_ms: 20_000,
        backoff_min_ms: 50,
        backoff_max_ms: 400,
        poll_ms: Some(25),
        ..PoolConfig::default()
    }
}

/// Everything an ingest needs, and what a test changes of it.
pub struct Rig {
    dir: TempDir,
    pub store: Store,
    pub upstreams: Vec<UpstreamConfig>,
    pub pool: PoolConfig,
    pub config: Config,
    pub from_block: u64,
    pub chain: Arc<Chain>,
}

impl Rig {
    pub fn new(nodes: &[&SimNode]) -> Self {
        let dir = scratch();
        let store = open(&dir);
        let upstreams = nodes.iter().map(|node| UpstreamConfig::from_url(node.url())).collect();
        Rig {
            dir,
            store,
            upstreams,
            pool: pool_config(),
            // As thorough as at the head, so that digests can be compared.
            config: Config { senders: SenderCheck::All, ..Config::default() },
            from_block: 0,
            chain: chain(Verification::Full),
        }
    }

    pub fn start(&self) -> ChainIngest {
        let pool = Pool::start(PoolOptions {
            chain_id: CHAIN.0,
            chain_label: "sim".into(),
            upstreams: self.upstreams.clone(),
            config: self.pool.clone(),
            poll_interval: Duration::from_secs(3600),
        })
        .unwrap();
        ChainIngest::start(ingest::Options {
            chain: self.chain.clone(),
            pool,
            store: self.store.clone(),
            config: self.config.clone(),
            from_block: self.from_block,
        })
    }

    /// As after the end of a process, once the ingest is dropped.
    pub async fn reopen(&mut self) {
        let elsewhere = scratch();
        self.store = open(&elsewhere);
        // A commit may still be under way and hold the old one.
        let mut opened = None;
        let free = || {
            opened = try_open(&self.dir).ok();
            opened.is_some()
        };
        eventually("the store is free", free, || "in use").await;
        self.store = opened.unwrap();
    }

    pub fn digest(&self) -> B256 {
        self.store.view().digest(CHAIN).unwrap()
    }

    pub fn ranges(&self) -> Vec<(u64, u64)> {
        self.store.view().coverage(CHAIN).unwrap().ranges().to_vec()
    }

    /// Whether the store reaches from the start block to the chain's head, and nothing else.
    pub fn is_at(&self, chain: &SharedChain) -> bool {
        let (number, hash) = {
            let chain = read(chain);
            (chain.head_number(), chain.head().hash)
        };
        let head = self.store.view().stamp(CHAIN, number).unwrap();
        head.is_some_and(|stamp| stamp.hash == hash) && self.ranges() == [(self.from_block, number)]
    }

    pub async fn reaches(&self, chain: &SharedChain, ingest: &ChainIngest) {
        let state = || format!("{:?} {:?}", self.ranges(), ingest.progress.snapshot());
        eventually("the store reaches the head", || self.is_at(chain), state).await;
    }

    /// The store is what indexing the chain from scratch gives, in bytes and in answers.
    pub fn check(&self, chain: &SharedChain, dialect: Dialect) {
        let chain = read(chain);
        assert_eq!(self.digest(), honest_digest(&chain, self.from_block, dialect));
        if dialect == Dialect::None {
            return;
        }
        let view = self.store.view();
        for (address, wallet) in chain.expected_wallets() {
            let question = WalletQuestion {
                chain: CHAIN,
                address,
                from_block: 0,
                to_block: u64::MAX,
                oldest_first: false,
                with_internal: true,
                after: None,
                limit: usize::MAX,
            };
            let expected: Vec<_> = wallet
                .all()
                .iter()
                .filter(|row| row.block_number >= self.from_block)
                .map(|row| (row.block_number, row.tx_index as u32))
                .collect();
            assert_eq!(view.wallet_page(&question).unwrap().places, expected, "{address}");
            assert_eq!(view.wallet_total(&question).unwrap(), expected.len() as u64);
        }
    }

    /// Nothing in the store is from anywhere but this chain.
    pub fn holds_only(&self, chain: &SharedChain) {
        let (chain, view) = (read(chain), self.store.view());
        for (from, to) in self.ranges() {
            for number in from..=to {
                let stored = view.stamp(CHAIN, number).unwrap().unwrap().hash;
                assert_eq!(Some(stored), chain.block(number).map(|b| b.hash), "block {number}");
            }
        }
    }
}

/// A commit is seen in the store a moment before it is counted.
pub async fn counts(ingest: &ChainIngest, applied: u64, reverted: u64) {
    let told = || {
        let snapshot = ingest.progress.snapshot();
        (snapshot.blocks_applied, snapshot.blocks_reverted)
    };
    eventually("all is counted", || told() == (applied, reverted), || format!("{:?}", told()))
        .await;
}

pub async fn eventually<S: std::fmt::Display>(
    what: &str,
    mut condition: impl FnMut() -> bool,
    state: impl Fn() -> S,
) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let happened = tokio::time::timeout(PATIENCE, waiting).await.is_ok();
    assert!(happened, "never happened: {what}; instead: {}", state());
}

/// The same cases on every run.
pub fn cases(cases: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(2),
        ..Default::default()
    }
}

/// In memory where there is such a place: opening a store waits for the disk many times.
pub fn scratch() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let made = memory.is_dir().then(|| tempfile::tempdir_in(memory).ok()).flatten();
    made.unwrap_or_else(|| tempfile::tempdir().unwrap())
}
