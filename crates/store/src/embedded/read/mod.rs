//! How this engine answers the store's questions.

mod block;
mod facts;
mod logs;
mod page_rows;
mod pools;
mod time;
mod trades;
mod tx_by_hash;
mod untraced;
mod wallet;

use std::sync::{Arc, OnceLock};

pub use block::BlockParts;

use alloy_primitives::B256;
use fjall::Database;
use model::chain::ChainId;
use model::raw::Header;

use super::codec::rows::{unpack_header, unpack_summary};
use super::codec::unpack_coverage;
use super::engine::Snapshot;
use super::index_files::IndexFiles;
use super::keys;
use super::runs::PendingRuns;
use super::segments::Bodies;
use super::tables::Tables;
use super::wallet_changes::WalletChanges;
use crate::Error;
use crate::block::BlockSummary;
use crate::coverage::Coverage;
use crate::journal::Version;

const BROKEN_HEADER: Error = Error::Broken { what: "header" };

#[derive(Clone)]
pub struct View {
    pub snapshot: Snapshot,
    pub tables: Arc<Tables>,
    pub bodies: Arc<Bodies>,
    pub wallet_changes: Arc<WalletChanges>,
    /// Of the chain that was asked for first.
    pub version: OnceLock<(ChainId, Version)>,
    /// Keeps the files that the snapshot leads to.
    _reading: Arc<()>,
}

impl View {
    pub fn new(
        db: &Database,
        parts: (&Arc<Tables>, &Arc<Bodies>),
        (runs, files): (&PendingRuns, &IndexFiles),
        wallet_changes: &Arc<WalletChanges>,
    ) -> Result<Self, Error> {
        let meta = &parts.0.meta;
        let with_runs = || runs.snapshot(|| Snapshot::of(db), meta);
        let snapshot = || files.snapshot(with_runs, meta);
        Self::with_snapshot(snapshot, parts, wallet_changes.clone())
    }

    /// Of what the engine has alone: no index row that was stored in bulk is in it.
    pub fn without_runs(db: &Database, parts: (&Arc<Tables>, &Arc<Bodies>)) -> Result<Self, Error> {
        Self::with_snapshot(|| Ok(Snapshot::of(db)), parts, Arc::default())
    }

    fn with_snapshot(
        snapshot: impl FnOnce() -> Result<Snapshot, Error>,
        (tables, bodies): (&Arc<Tables>, &Arc<Bodies>),
        wallet_changes: Arc<WalletChanges>,
    ) -> Result<Self, Error> {
        // Before the snapshot: what it leads to is not removed from here on.
        let reading = bodies.reading();
        Ok(View {
            snapshot: snapshot()?,
            tables: tables.clone(),
            bodies: bodies.clone(),
            wallet_changes,
            version: OnceLock::new(),
            _reading: reading,
        })
    }

    pub fn coverage(&self, chain: ChainId) -> Result<Coverage, Error> {
        match self.snapshot.get(&self.tables.coverage, keys::chain(chain))? {
            Some(row) => unpack_coverage(&row).ok_or(Error::Broken { what: "coverage" }),
            None => Ok(Coverage::default()),
        }
    }

    pub fn chains(&self) -> Result<Vec<ChainId>, Error> {
        let mut chains = Vec::new();
        for item in self.snapshot.iter(&self.tables.coverage) {
            let (key, value) = item.into_inner()?;
            if let Some(id) = keys::last_number(&key).filter(|_| !value.is_empty()) {
                chains.push(ChainId(id));
            }
        }
        Ok(chains)
    }

    pub fn block_summary(
        &self,
        chain: ChainId,
        number: u64,
    ) -> Result<Option<BlockSummary>, Error> {
        let Some(row) = self.snapshot.get(&self.tables.headers, keys::block(chain, number))? else {
            return Ok(None);
        };
        unpack_summary(number, &mut row.as_ref()).map(Some).ok_or(BROKEN_HEADER)
    }

    pub fn header(&self, chain: ChainId, number: u64) -> Result<Option<Header>, Error> {
        let Some(row) = self.snapshot.get(&self.tables.headers, keys::block(chain, number))? else {
            return Ok(None);
        };
        let (_, header) = unpack_header(number, &row).ok_or(BROKEN_HEADER)?;
        Ok(Some(header))
    }

    pub fn parent_hash(&self, chain: ChainId, number: u64) -> Result<Option<B256>, Error> {
        Ok(self.header(chain, number)?.and_then(|header| header.parent_hash))
    }

    pub fn number_of(&self, chain: ChainId, hash: B256) -> Result<Option<u64>, Error> {
        let row = self.snapshot.get(&self.tables.block_by_hash, keys::by_hash(chain, hash))?;
        Ok(row.and_then(|row| keys::last_number(&row)))
    }

    pub fn head(&self, chain: ChainId) -> Result<Option<BlockSummary>, Error> {
        match self.coverage(chain)?.newest() {
            Some(number) => self.block_summary(chain, number),
            None => Ok(None),
        }
    }
}
