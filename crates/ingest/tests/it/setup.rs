//! A chain, nodes, a store and an ingest of them; waiting for conditions; the honest comparison.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use alloy_primitives::B256;
use ingest::verify::{Rules, Senders, verify};
use ingest::{ChainIngest, Config, DecodeFn, Flights, SenderCheck, decoder_of};
use model::chain::{Chain, ChainId, ChainTable, PrivateChain, Verification};
use model::facts::Facts;
use model::raw::{Block, BlockTraces, Receipt};
use proptest::test_runner::RngSeed;
use rpc::{Pool, PoolConfig, PoolOptions, UpstreamConfig};
use store::{BlockSummary, Change, Entry, Origin, Store, VerifiedBlock, View, WalletQuery};
use tempfile::TempDir;
use testkit::{SharedChain, SimChain, SimConfig, SimNode, read};

pub const CHAIN: ChainId = ChainId(1337);

/// Generous: only a broken test waits this long.
const TIMEOUT: Duration = Duration::from_secs(180);

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

/// A chain that nobody else uses.
pub fn owned(chain: SharedChain) -> SimChain {
    Arc::into_inner(chain).unwrap().into_inner().unwrap()
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
    let traces = match dialect {
        Dialect::Geth => {
            let list = text(&chain.traces_geth_json(number).unwrap());
            Some(BlockTraces::read_call_tracer(&list, &block.txs).unwrap())
        }
        Dialect::Parity => {
            let rows = text(&chain.traces_parity_json(number).unwrap());
            Some(BlockTraces::read_trace_block(&rows, &block.txs).unwrap())
        }
        // There is nothing to trace in it.
        Dialect::None if count == 0 => Some(BlockTraces { frames: Vec::new(), form: None }),
        Dialect::None => None,
    };
    block.set_traces(traces);
    block
}

pub fn rules(verification: Verification) -> Rules {
    Rules { verification, chain_id: CHAIN.0, genesis: None, senders: Senders::All }
}

/// The digest of a store that indexed this chain, from a block on, and nothing else.
pub async fn honest_digest(blocks: Vec<VerifiedBlock>) -> B256 {
    let dir = scratch();
    let store = open(&dir).await;
    put(&store, blocks).await;
    store.view().await.unwrap().digest(CHAIN).await.unwrap()
}

/// All blocks of the chain from one on.
pub fn verified_from(chain: &SimChain, from_block: u64, dialect: Dialect) -> Vec<VerifiedBlock> {
    verified(chain, from_block..=chain.head_number(), dialect)
}

pub fn verified(
    chain: &SimChain,
    numbers: impl IntoIterator<Item = u64>,
    dialect: Dialect,
) -> Vec<VerifiedBlock> {
    let rules = rules(Verification::Full);
    let verified = |number| {
        let block = block(chain, number, dialect);
        let proof = verify(&block, &rules).unwrap();
        VerifiedBlock { block, proof, facts: Facts::default() }
    };
    numbers.into_iter().map(verified).collect()
}

/// Puts blocks into a store as an import would.
pub async fn put(store: &Store, blocks: Vec<VerifiedBlock>) {
    let apply = blocks.into_iter().map(|block| store.prepare(CHAIN, block)).collect();
    store.commit(CHAIN, Change::apply(Origin::Import, apply)).await.unwrap();
}

pub async fn open(dir: &TempDir) -> Store {
    try_open(dir.path()).await.unwrap()
}

const STORE: &str = "store";

async fn try_open(folder: &Path) -> Result<Store, store::Error> {
    let path = folder.join(STORE);
    let options =
        store::Options { memory_bytes: 32 << 20, durable: false, ..store::Options::new(path) };
    Store::open(&options, |_| {}).await
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
    folder: PathBuf,
    /// Goes with it; none where the folder is somebody else's.
    _scratch: Option<TempDir>,
    pub store: Store,
    pub upstreams: Vec<UpstreamConfig>,
    pub pool: PoolConfig,
    pub config: Config,
    pub from_block: u64,
    pub retain_blocks: Option<u64>,
    pub flight_bytes: usize,
    pub chain: Arc<Chain>,
    pub decode: DecodeFn,
}

impl Rig {
    pub async fn new(nodes: &[&SimNode]) -> Self {
        let dir = scratch();
        let rig = Self::in_folder(dir.path(), nodes).await;
        Rig { _scratch: Some(dir), ..rig }
    }

    /// In a folder that stays.
    pub async fn in_folder(folder: &Path, nodes: &[&SimNode]) -> Self {
        let store = try_open(folder).await.unwrap();
        let upstreams = nodes.iter().map(|node| UpstreamConfig::from_url(node.url())).collect();
        Rig {
            folder: folder.to_owned(),
            _scratch: None,
            store,
            upstreams,
            pool: pool_config(),
            // As thorough as at the head, so that digests can be compared.
            config: Config {
                senders: SenderCheck::All,
                revert_second_word_ms: 300,
                ..Config::default()
            },
            from_block: 0,
            retain_blocks: None,
            flight_bytes: 64 << 20,
            chain: chain(Verification::Full),
            decode: decoder_of(&chain(Verification::Full)),
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
            flights: Flights::new(self.flight_bytes),
            from_block: self.from_block,
            decode: self.decode.clone(),
            retain_blocks: self.retain_blocks,
        })
    }

    pub fn store_folder(&self) -> PathBuf {
        self.folder.join(STORE)
    }

    pub async fn reopen(&mut self) {
        self.reopen_after(|_| ()).await;
    }

    /// As after the end of a process, once the ingest is dropped, and what may happen to the files before
    /// the next one.
    pub async fn reopen_after(&mut self, happens: impl FnOnce(&Path)) {
        let elsewhere = scratch();
        self.store = open(&elsewhere).await;
        let folder = self.store_folder();
        // A commit may still be under way and hold the old one.
        let lock = std::fs::File::open(folder.join("lock")).unwrap();
        eventually("the store is free", || lock.try_lock().is_ok(), || "in use").await;
        happens(&folder);
        drop(lock);
        self.store = try_open(&self.folder).await.unwrap();
    }

    pub async fn view(&self) -> View {
        self.store.view().await.unwrap()
    }

    pub async fn digest(&self) -> B256 {
        self.view().await.digest(CHAIN).await.unwrap()
    }

    pub async fn ranges(&self) -> Vec<(u64, u64)> {
        self.view().await.coverage(CHAIN).await.unwrap().ranges().to_vec()
    }

    pub async fn summary(&self, number: u64) -> Option<BlockSummary> {
        self.view().await.block_summary(CHAIN, number).await.unwrap()
    }

    pub async fn journal_after(&self, seq: u64) -> Vec<Entry> {
        self.view().await.journal_after(CHAIN, seq, 10_000).await.unwrap()
    }

    /// The sequence of the newest journal entry.
    pub async fn seq(&self) -> u64 {
        self.view().await.version(CHAIN).await.unwrap().seq
    }

    /// Whether the store reaches from the start block to the chain's head, and nothing else.
    pub async fn is_at(&self, chain: &SharedChain) -> bool {
        let (number, hash) = {
            let chain = read(chain);
            (chain.head_number(), chain.head().hash)
        };
        let head = self.summary(number).await;
        head.is_some_and(|head| head.hash == hash)
            && self.ranges().await == [(self.from_block, number)]
    }

    pub async fn reaches(&self, chain: &SharedChain, ingest: &ChainIngest) {
        let reached = async || {
            let state = format!("{:?} {:?}", self.ranges().await, ingest.progress.snapshot());
            self.is_at(chain).await.then_some(()).ok_or(state)
        };
        eventually_gives("the store reaches the head", reached).await;
    }

    /// The store is what indexing the chain from scratch gives, in bytes and in answers. Blocks whose
    /// traces came too late at first are waited for.
    pub async fn check(&self, chain: &SharedChain, dialect: Dialect) {
        if dialect != Dialect::None {
            self.is_traced().await;
        }
        let blocks = verified_from(&read(chain), self.from_block, dialect);
        if self.digest().await != honest_digest(blocks.clone()).await {
            self.name_difference(blocks).await;
        }
        if dialect == Dialect::None {
            return;
        }
        let wallets = read(chain).expected_wallets();
        let view = self.view().await;
        for (address, wallet) in wallets {
            let query = WalletQuery {
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
            let page = view.wallet_page(&query).await.unwrap();
            let places: Vec<_> = page.txs.iter().map(|tx| (tx.block.number, tx.index)).collect();
            assert_eq!(places, expected, "{address}");
            assert_eq!(view.wallet_total(&query).await.unwrap(), expected.len() as u64);
        }
    }

    /// Fails with the first block that is not as it should be.
    async fn name_difference(&self, expected: Vec<VerifiedBlock>) {
        let dir = scratch();
        let honest = open(&dir).await;
        let numbers: Vec<u64> = expected.iter().map(|block| block.block.number).collect();
        put(&honest, expected).await;
        let (honest, ours) = (honest.view().await.unwrap(), self.view().await);
        for number in numbers {
            let expected = honest.whole_block(CHAIN, number).await.unwrap();
            let found = ours.whole_block(CHAIN, number).await.unwrap();
            assert_eq!(found, expected, "block {number}");
        }
        panic!("every block is as it should be, and the digest is not: an index is wrong");
    }

    pub async fn untraced(&self) -> Vec<u64> {
        self.view().await.untraced_blocks(CHAIN, u64::MAX, 1_000).await.unwrap()
    }

    /// Waits until no block is without traces.
    pub async fn is_traced(&self) {
        let all_traced = async || {
            let left = self.untraced().await;
            if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
        };
        eventually_gives("everything is traced", all_traced).await;
    }

    /// Nothing in the store is from anywhere but this chain.
    pub async fn holds_only(&self, chain: &SharedChain) {
        for (from, to) in self.ranges().await {
            for number in from..=to {
                let stored = self.summary(number).await.unwrap().hash;
                let expected = read(chain).block(number).map(|block| block.hash);
                assert_eq!(Some(stored), expected, "block {number}");
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
    let happened = async || condition().then_some(()).ok_or_else(|| state().to_string());
    eventually_gives(what, happened).await;
}

/// Asks until there is an answer; what stands in its way is shown when there never is.
pub async fn eventually_gives<T>(
    what: &str,
    mut answer: impl AsyncFnMut() -> Result<T, String>,
) -> T {
    let started = Instant::now();
    loop {
        match answer().await {
            Ok(answer) => return answer,
            Err(state) => {
                assert!(started.elapsed() < TIMEOUT, "never happened: {what}; instead: {state}");
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
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
