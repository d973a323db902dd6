//! How this engine answers the store's questions. A view is a transaction that sees one moment.

mod block;
mod blocks;
mod facts;
mod logs;
mod pools;
pub mod readers;
mod trades;
mod txs;
mod wallet;

use std::collections::BTreeMap;
use std::sync::Arc;

use model::chain::ChainId;

pub use block::{BlockParts, address, read_blocks};
pub use pools::{carried_state, pack_carried, pool_id, unpack_change};

use super::chain_row::{ALL_CHAINS, ChainRow};
pub use super::connection::Param;
use super::connection::{Lent, Pool};
use super::inner::Inner;
use crate::Error;
use crate::coverage::Coverage;
use crate::generations::Generations;
use crate::journal::Version;

const SNAPSHOT: &str = "begin isolation level repeatable read read only";

pub struct View {
    pub connection: Lent,
    chains: BTreeMap<ChainId, ChainRow>,
}

impl View {
    pub async fn new(inner: &Arc<Inner>) -> Result<Self, Error> {
        if let Some(view) = View::of_replica(inner).await {
            return Ok(view);
        }
        let view = match View::begin(&inner.pool).await {
            // A connection may have died in the pool, with the server it led to.
            Err(error) if error.is_retryable() => View::begin(&inner.pool).await?,
            done => done?,
        };
        if !inner.replicas.is_empty() {
            view.note_seen(inner);
        }
        Ok(view)
    }

    /// Whoever saw this must not see what was before it: no replica that is behind is asked from now on.
    fn note_seen(&self, inner: &Inner) {
        self.chains.iter().for_each(|(chain, row)| inner.newest.tell(*chain, row.seq));
    }

    /// None where there is no replica, or it is behind.
    async fn of_replica(inner: &Arc<Inner>) -> Option<Self> {
        let replica = inner.replicas.next()?;
        let view = View::begin(&replica.pool).await.map_err(|error| replica.failed(&error)).ok()?;
        let is_behind = |(chain, seq)| view.version(chain).seq < seq;
        if inner.newest.all().into_iter().any(is_behind) {
            return None;
        }
        view.note_seen(inner);
        Some(view)
    }

    async fn begin(pool: &Pool) -> Result<Self, Error> {
        let mut connection = pool.get().await?;
        connection.in_transaction = true;
        let rows = connection.begin_with(SNAPSHOT, ALL_CHAINS, &[]).await?;
        Ok(View { chains: rows.iter().map(ChainRow::read).collect(), connection })
    }

    /// Of a chain that nobody wrote yet, what a new one has.
    pub fn chain(&self, chain: ChainId) -> ChainRow {
        self.chains.get(&chain).cloned().unwrap_or_default()
    }

    pub fn coverage(&self, chain: ChainId) -> Coverage {
        self.chains.get(&chain).map(|row| row.coverage.clone()).unwrap_or_default()
    }

    pub fn chains(&self) -> Vec<ChainId> {
        let stored = self.chains.iter().filter(|(_, row)| !row.coverage.is_empty());
        stored.map(|(chain, _)| *chain).collect()
    }

    pub fn version(&self, chain: ChainId) -> Version {
        self.chains.get(&chain).map(ChainRow::version).unwrap_or_default()
    }

    pub fn generations(&self, chain: ChainId) -> Generations {
        self.chains.get(&chain).map(|row| row.generations).unwrap_or_default()
    }
}
