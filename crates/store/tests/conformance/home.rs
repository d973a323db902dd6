//! A store in a place of its own, made by whichever engine is under test.

use alloy_primitives::B256;
use model::proof::Proof;
use store::{Change, Committed, Error, Origin, PreparedBlock, Store, View};
use tempfile::TempDir;
use testkit::SimChain;

use crate::chain::{CHAIN, empty_block, empty_block_on, verified};
use crate::engine::{Choices, Engine};

pub struct Home {
    pub engine: Engine,
    choices: Choices,
    folder: TempDir,
    store: Option<Store>,
}

impl Home {
    pub async fn new(engine: Engine) -> Self {
        Home::with(engine, Choices::default()).await
    }

    pub async fn with(engine: Engine, choices: Choices) -> Self {
        let folder = scratch();
        let store = Some(engine.open(folder.path(), choices).await.unwrap());
        Home { engine, choices, folder, store }
    }

    /// A store that holds exactly this chain, written in one go.
    pub async fn indexed(engine: Engine, chain: &SimChain) -> Self {
        let home = Home::new(engine).await;
        home.apply(home.all(chain)).await.unwrap();
        home
    }

    pub fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub async fn view(&self) -> View {
        let view = self.store().view().await.unwrap();
        // A chain in a database of its own is seen as it is when it is first asked about.
        view.coverage(CHAIN).await.unwrap();
        view
    }

    pub async fn reopen(&mut self) {
        self.store = None;
        self.store = Some(self.engine.open(self.folder.path(), self.choices).await.unwrap());
    }

    /// As after a crash, where the engine allows it: nothing is closed, nothing is written out.
    pub async fn crash(&mut self) {
        let after = scratch();
        self.engine.copy(self.folder.path(), after.path());
        self.store = None;
        self.folder = after;
        self.reopen().await;
    }

    pub async fn digest(&self) -> B256 {
        self.view().await.digest(CHAIN).await.unwrap()
    }

    pub async fn seq(&self) -> u64 {
        self.store().version(CHAIN).await.unwrap().seq
    }

    pub async fn commit(&self, change: Change) -> Result<Committed, Error> {
        self.store().commit(CHAIN, change).await
    }

    pub async fn apply(&self, blocks: Vec<PreparedBlock>) -> Result<Committed, Error> {
        self.commit(Change::apply(Origin::Head, blocks)).await
    }

    pub async fn revert(&self, numbers: Vec<u64>) -> Result<Committed, Error> {
        self.commit(Change::revert(Origin::Head, numbers)).await
    }

    pub async fn amend(&self, blocks: Vec<PreparedBlock>) -> Result<Committed, Error> {
        self.commit(Change::amend(Origin::History, blocks)).await
    }

    /// A block without transactions, on top of what is stored below it.
    pub async fn apply_empty(&self, number: u64, branch: u8) {
        let mut block = empty_block(number, branch);
        if let Some(below) = self.view().await.block_summary(CHAIN, number - 1).await.unwrap() {
            block = empty_block_on(below.hash, number, block.block.hash);
        }
        self.apply(vec![self.store().prepare(CHAIN, block)]).await.unwrap();
    }

    /// The journal is pruned with every commit, behind what readers said before it.
    pub async fn prune(&self) {
        let newest = self.view().await.coverage(CHAIN).await.unwrap().newest().unwrap();
        self.apply_empty(newest + 1, 1).await;
    }

    /// The block of that hash, on the chain or dropped from it.
    pub fn prepared(&self, chain: &SimChain, hash: B256) -> PreparedBlock {
        self.store().prepare(CHAIN, verified(chain, hash))
    }

    /// The same block from a node that could not trace.
    pub fn untraced(&self, chain: &SimChain, hash: B256) -> PreparedBlock {
        let mut block = verified(chain, hash);
        block.block.traces = None;
        block.proof = block.proof.without(Proof::TRACES);
        self.store().prepare(CHAIN, block)
    }

    pub fn at(&self, chain: &SimChain, number: u64) -> PreparedBlock {
        self.prepared(chain, chain.block(number).unwrap().hash)
    }

    pub fn all(&self, chain: &SimChain) -> Vec<PreparedBlock> {
        chain.blocks().iter().map(|block| self.prepared(chain, block.hash)).collect()
    }
}

/// In memory where there is such a place: opening a store waits for the disk many times.
pub fn scratch() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let made = memory.is_dir().then(|| tempfile::tempdir_in(memory).ok()).flatten();
    made.unwrap_or_else(|| tempfile::tempdir().unwrap())
}
