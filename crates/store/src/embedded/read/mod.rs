//! Questions the store answers. A `View` sees one moment: a page, its total and its coverage agree.

mod block;
mod pools;
mod time;
mod trades;
mod wallet;

use std::sync::Arc;

use alloy_primitives::B256;
use fjall::Readable;
use model::chain::ChainId;

pub use crate::embedded::codec::rows::{Anchor, Stamp, TxRow};
pub use block::TxReader;
pub use trades::{TradePlace, TradesPage, TradesQuestion};
pub use wallet::{Place, WalletPage, WalletQuestion};

use crate::Error;
use crate::coverage::Coverage;
use crate::embedded::codec::rows::{unpack_header, unpack_stamp};
use crate::embedded::codec::unpack_coverage;
use crate::embedded::keys;
use crate::embedded::tables::Tables;

pub struct View {
    pub(crate) snapshot: fjall::Snapshot,
    pub(crate) tables: Arc<Tables>,
}

impl View {
    pub fn coverage(&self, chain: ChainId) -> Result<Coverage, Error> {
        match self.snapshot.get(&self.tables.coverage, keys::chain(chain))? {
            Some(row) => unpack_coverage(&row).ok_or(Error::BrokenRow { table: "coverage" }),
            None => Ok(Coverage::default()),
        }
    }

    /// Chains that have at least one block.
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

    pub fn stamp(&self, chain: ChainId, number: u64) -> Result<Option<Stamp>, Error> {
        let Some(row) = self.snapshot.get(&self.tables.headers, keys::block(chain, number))? else {
            return Ok(None);
        };
        let stamp = unpack_stamp(number, &mut row.as_ref());
        stamp.map(Some).ok_or(Error::BrokenRow { table: "headers" })
    }

    pub fn parent_hash(&self, chain: ChainId, number: u64) -> Result<Option<B256>, Error> {
        let Some(row) = self.snapshot.get(&self.tables.headers, keys::block(chain, number))? else {
            return Ok(None);
        };
        let (_, header) =
            unpack_header(number, &row).ok_or(Error::BrokenRow { table: "headers" })?;
        Ok(header.parent_hash)
    }

    pub fn number_of(&self, chain: ChainId, hash: B256) -> Result<Option<u64>, Error> {
        let row = self.snapshot.get(&self.tables.block_by_hash, keys::by_hash(chain, hash))?;
        Ok(row.and_then(|row| keys::last_number(&row)))
    }

    /// The newest stored block.
    pub fn head(&self, chain: ChainId) -> Result<Option<Stamp>, Error> {
        match self.coverage(chain)?.newest() {
            Some(number) => self.stamp(chain, number),
            None => Ok(None),
        }
    }
}
