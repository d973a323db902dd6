//! The store: one of a closed list of engines, and what can be asked of each.

use std::path::Path;
use std::sync::Arc;

use alloy_primitives::Address;
use model::chain::ChainId;
use model::token::Token;
use tokio::sync::watch;

use crate::api_key::ApiKey;
use crate::block::VerifiedBlock;
use crate::change::Committed;
use crate::check::{CheckProgress, CheckReport};
use crate::disk_room::DiskRoom;
use crate::embedded::blocking::may_block;
use crate::journal::{ReaderCommit, Version};
use crate::memory::MemoryUse;
use crate::options::{Options, TableSize, UpgradeProgress};
use crate::placed::{Placed, refuse_placed};
use crate::prepared::{Change, EngineBlock, PreparedBlock};
use crate::repair::RepairReport;
use crate::write_state::WriteState;
use crate::{Error, embedded, postgres};

pub(crate) use crate::engine::Engine;

/// Cheap to clone.
#[derive(Clone)]
pub struct Store {
    /// Of a store with several databases, the main one.
    pub(crate) engine: Engine,
    /// Chains that are elsewhere.
    pub(crate) placed: Option<Arc<Placed>>,
}

/// A block is written by the engine that prepared it.
const OTHER_ENGINE: Error = Error::Broken { what: "block that another engine prepared" };

impl Store {
    /// A store of an older format is brought up to this build's first; `progress` is told how far
    /// that is.
    pub async fn open(
        options: &Options,
        progress: impl Fn(UpgradeProgress) + Send + Sync,
    ) -> Result<Self, Error> {
        if !options.url.is_empty() {
            let store = postgres::Store::open(options, &progress).await?;
            let placed = Placed::open(options, &store).await?;
            return Ok(Store { engine: Engine::Postgres(store), placed });
        }
        refuse_placed(options)?;
        let store = may_block(|| embedded::Store::open(options, &progress))?;
        Ok(Store { engine: Engine::Embedded(store), placed: None })
    }

    /// What the chain's stored data is at now: an answer made at the same version still holds.
    pub async fn version(&self, chain: ChainId) -> Result<Version, Error> {
        match self.of(chain) {
            Engine::Embedded(store) => match store.known_version(chain) {
                Some(version) => Ok(version),
                None => store.view_soon().await?.version(chain),
            },
            Engine::Postgres(store) => store.version(chain).await,
        }
    }

    /// The sequence of the chain's newest journal entry; changes after every durable commit.
    pub fn subscribe(&self, chain: ChainId) -> watch::Receiver<u64> {
        match self.of(chain) {
            Engine::Embedded(store) => store.subscribe(chain),
            Engine::Postgres(store) => store.subscribe(chain),
        }
    }

    /// Brings a block into the form in which this engine writes it. Pure work for a processor.
    pub fn prepare(&self, chain: ChainId, block: VerifiedBlock) -> PreparedBlock {
        match self.of(chain) {
            Engine::Embedded(store) => {
                PreparedBlock { block: EngineBlock::Embedded(store.prepare(chain, block)) }
            }
            Engine::Postgres(_) => {
                PreparedBlock { block: EngineBlock::Postgres(postgres::prepare(chain, block)) }
            }
        }
    }

    /// All of the change or nothing. Blocks that are stored already with the same hash are passed over.
    /// Every block must fit its neighbours, stored or in the same change. Durable when this returns.
    pub async fn commit(&self, chain: ChainId, change: Change) -> Result<Committed, Error> {
        match self.of(chain) {
            Engine::Embedded(store) => {
                let change = change.map(PreparedBlock::into_embedded).ok_or(OTHER_ENGINE)?;
                store.run(move |store| store.commit(chain, change)).await
            }
            Engine::Postgres(store) => {
                let change = change.map(PreparedBlock::into_postgres).ok_or(OTHER_ENGINE)?;
                store.commit(chain, change).await
            }
        }
    }

    /// Waits until history can be committed without delay. A commit waits, too, but whoever holds something that others
    /// wait for asks here first.
    pub async fn ready_for_history(&self, chain: ChainId) -> Result<(), Error> {
        match self.of(chain) {
            Engine::Embedded(store) => store.run(move |store| store.ready_for_history(chain)).await,
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// A block at the head was fetched, and will be committed in a moment: what can wait lets it go first.
    pub fn expect_head(&self, chain: ChainId) {
        match self.of(chain) {
            Engine::Embedded(store) => store.expect_head(chain),
            Engine::Postgres(_) => {}
        }
    }

    /// Kept as far as the store can write now: it can be asked for again at any time.
    pub async fn put_token(
        &self,
        chain: ChainId,
        address: Address,
        token: &Token,
    ) -> Result<(), Error> {
        match self.of(chain) {
            Engine::Embedded(store) => may_block(|| store.put_token(chain, address, token)),
            Engine::Postgres(store) => store.put_token(chain, address, token).await,
        }
    }

    /// A secret of this installation, made by `fresh` the first time it is asked for.
    pub async fn secret(
        &self,
        name: &str,
        fresh: impl FnOnce() -> [u8; 32],
    ) -> Result<[u8; 32], Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.secret(name, fresh)),
            Engine::Postgres(store) => match store.known_secret(name).await? {
                Some(known) => Ok(known),
                None => store.put_secret(name, fresh()).await,
            },
        }
    }

    /// All of them, by name: whoever copies a store takes them along.
    pub(crate) async fn secrets(&self) -> Result<Vec<(String, [u8; 32])>, Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.secrets()),
            Engine::Postgres(store) => store.secrets().await,
        }
    }

    pub async fn api_keys(&self) -> Result<Vec<ApiKey>, Error> {
        match &self.engine {
            Engine::Embedded(store) => store.api_keys(),
            Engine::Postgres(store) => store.api_keys().await,
        }
    }

    pub async fn put_api_key(&self, key: &ApiKey) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.put_api_key(key)),
            Engine::Postgres(store) => store.put_api_key(key).await,
        }
    }

    /// The key that is gone now; none where there was no such id.
    pub async fn remove_api_key(&self, id: &str) -> Result<Option<ApiKey>, Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.remove_api_key(id)),
            Engine::Postgres(store) => store.remove_api_key(id).await,
        }
    }

    pub(crate) async fn commit_reader(&self, commit: ReaderCommit) -> Result<(), Error> {
        let (expected, cursor) = (commit.expected, commit.cursor);
        let mark = self.mark(commit.chain, &commit.name);
        if let Some(mark) = &mark {
            mark.hold(expected, cursor).await?;
        }
        match &self.engine {
            Engine::Embedded(store) => store.run(move |store| store.commit_reader(commit)).await,
            Engine::Postgres(store) => store.commit_reader(commit).await,
        }?;
        if let Some(mark) = mark {
            mark.follow(cursor).await;
        }
        Ok(())
    }

    /// Forgets a journal reader and all its rows; false where there was none.
    pub async fn remove_reader(&self, chain: ChainId, name: &str) -> Result<bool, Error> {
        let was_there = match &self.engine {
            Engine::Embedded(store) => may_block(|| store.remove_reader(chain, name)),
            Engine::Postgres(store) => store.remove_reader(chain, name).await,
        }?;
        if let Some(mark) = self.mark(chain, name) {
            mark.drop().await;
        }
        Ok(was_there)
    }

    /// Sizes of the store's parts. Cheap enough to ask on every scrape.
    pub async fn table_sizes(&self) -> Vec<TableSize> {
        match &self.engine {
            Engine::Embedded(store) => store.table_sizes(),
            // Whoever scrapes it does without where the server cannot be reached.
            Engine::Postgres(store) => {
                let sizes = store.table_sizes().await.unwrap_or_default();
                self.add_placed_sizes(sizes).await
            }
        }
    }

    /// What of `Options::memory_bytes` is in use.
    pub fn memory_use(&self) -> Vec<MemoryUse> {
        match &self.engine {
            Engine::Embedded(store) => store.memory_use(),
            // Its memory is the database's own.
            Engine::Postgres(_) => Vec::new(),
        }
    }

    /// None where the file system cannot be asked, or is the database's own.
    pub fn disk_room(&self) -> Option<DiskRoom> {
        match &self.engine {
            Engine::Embedded(store) => store.disk_room(),
            Engine::Postgres(_) => None,
        }
    }

    /// As it was measured within the last second, or after the last `compact`: whoever asks waits for
    /// nothing, also while a write hangs.
    pub fn disk_bytes(&self) -> u64 {
        match &self.engine {
            Engine::Embedded(store) => store.disk_bytes(),
            Engine::Postgres(store) => store.disk_bytes() + self.placed_bytes(),
        }
    }

    /// Everything written so far is on disk when this returns, and leaves nothing to be done by the next start.
    pub async fn flush(&self) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(store) => store.run(|store| store.settle()).await,
            Engine::Postgres(store) => {
                store.flush().await?;
                self.flush_placed().await
            }
        }
    }

    /// Brings everything into its final, packed form. Takes a while; readers and writers go on.
    pub async fn compact(&self) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(store) => store.run(|store| store.compact()).await,
            Engine::Postgres(store) => {
                store.compact().await?;
                self.compact_placed().await
            }
        }
    }

    /// Reads everything and compares every index with the blocks it is of. Takes a while; what does not
    /// hold is in the report, not an error.
    pub async fn check(
        &self,
        progress: impl Fn(CheckProgress) + Send + Sync,
    ) -> Result<CheckReport, Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.check(&progress)),
            Engine::Postgres(store) => {
                let mut report = store.check(&progress).await?;
                self.check_placed(&mut report, &progress).await?;
                Ok(report)
            }
        }
    }

    /// Brings a damaged store back to the last write that can be trusted, keeps every file that it
    /// changes, and says what is lost.
    pub async fn repair(
        options: &Options,
        progress: impl Fn(CheckProgress) + Send + Sync,
    ) -> Result<RepairReport, Error> {
        if !options.url.is_empty() {
            return Err(postgres::not_offered("repair a database", "restore one of its backups"));
        }
        may_block(|| embedded::repair(options, &progress))
    }

    /// Whether writes are taken, and if not, why and what helps. Costs nothing; a write that does not end
    /// is noticed, too.
    pub fn write_state(&self) -> WriteState {
        match &self.engine {
            Engine::Embedded(store) => store.write_state(),
            Engine::Postgres(store) => store.write_state(),
        }
    }

    /// Changes with `write_state`, within a second.
    pub fn watch_write_state(&self) -> watch::Receiver<WriteState> {
        self.engine.watch_write_state()
    }

    /// The same of the database that a chain is in.
    pub fn watch_writes_of(&self, chain: ChainId) -> watch::Receiver<WriteState> {
        self.of(chain).watch_write_state()
    }
    /// The folder in which this installation keeps files of its own.
    pub fn folder(&self) -> &Path {
        match &self.engine {
            Engine::Embedded(store) => store.path(),
            Engine::Postgres(store) => store.folder(),
        }
    }
}
