//! A store in a folder of its own, and blocks of a simulated chain in the model's form.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, Receipt, read_geth_traces};
use proptest::test_runner::{Config, RngSeed};
use store::{Change, Committed, Error, Options, Prepared, Store, prepare};
use tempfile::TempDir;
use testkit::{SimChain, SimConfig};

pub const CHAIN: ChainId = ChainId(1337);

pub struct Home {
    pub dir: TempDir,
    store: Option<Store>,
}

impl Home {
    pub fn new() -> Self {
        let dir = scratch();
        let store = Some(open(&dir).unwrap());
        Home { dir, store }
    }

    pub fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    pub fn reopen(&mut self) {
        self.store = None;
        self.store = Some(open(&self.dir).unwrap());
    }

    pub fn digest(&self) -> B256 {
        self.store().view().digest(CHAIN).unwrap()
    }

    pub fn apply(&self, blocks: Vec<Prepared>) -> Result<Committed, Error> {
        self.store().commit(CHAIN, Change { revert: Vec::new(), apply: blocks })
    }

    pub fn revert(&self, numbers: Vec<u64>) -> Result<Committed, Error> {
        self.store().commit(CHAIN, Change { revert: numbers, apply: Vec::new() })
    }
}

pub fn open(dir: &TempDir) -> Result<Store, Error> {
    let path = dir.path().join("store");
    Store::open(&Options { cache_bytes: 8 << 20, durable: false, ..Options::new(path) })
}

pub fn chain(seed: u64, blocks: usize) -> SimChain {
    made(SimConfig { txs_per_block: 8, ..SimConfig::seeded(seed) }, blocks)
}

/// For tests that make many.
pub fn small_chain(seed: u64, blocks: usize) -> SimChain {
    made(SimConfig { txs_per_block: 3, wallets: 12, ..SimConfig::seeded(seed) }, blocks)
}

pub fn made(config: SimConfig, blocks: usize) -> SimChain {
    let mut chain = SimChain::new(config);
    chain.extend(blocks);
    chain
}

/// The block of that hash, on the chain or dropped from it.
pub fn block(chain: &SimChain, hash: B256) -> Block {
    let mut block = Block::read(&chain.block_json(hash, true).unwrap()).unwrap().unwrap();
    let receipts: Vec<Receipt> =
        serde_json::from_slice(&chain.receipts_json(hash).unwrap()).unwrap();
    block.set_receipts(receipts).unwrap();
    let traces = chain.traces_geth_json(hash).unwrap();
    let traces = read_geth_traces(std::str::from_utf8(&traces).unwrap(), block.txs.len()).unwrap();
    block.traces = Some(traces);
    block
}

/// Everything about a simulated block holds.
pub fn proven() -> Proof {
    Proof::from_bits(0b11_1111)
}

pub fn prepared(chain: &SimChain, hash: B256) -> Prepared {
    prepare(CHAIN, block(chain, hash), proven(), crate::made_facts::facts(hash))
}

pub fn at(chain: &SimChain, number: u64) -> Prepared {
    prepared(chain, chain.block(number).unwrap().hash)
}

pub fn all(chain: &SimChain) -> Vec<Prepared> {
    chain.blocks().iter().map(|block| prepared(chain, block.hash)).collect()
}

/// A store that holds exactly this chain, written in one go.
pub fn indexed(chain: &SimChain) -> Home {
    let home = Home::new();
    home.apply(all(chain)).unwrap();
    home
}

/// The same cases on every run.
pub fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(2), ..Config::default() }
}

/// In memory where there is such a place: opening a store waits for the disk many times.
pub fn scratch() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let made = memory.is_dir().then(|| tempfile::tempdir_in(memory).ok()).flatten();
    made.unwrap_or_else(|| tempfile::tempdir().unwrap())
}
