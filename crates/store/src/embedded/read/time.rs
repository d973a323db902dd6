//! Dates as blocks.

use model::chain::ChainId;

use super::View;
use crate::Error;
use crate::embedded::keys;

impl View {
    pub fn first_block_from(&self, chain: ChainId, timestamp: u64) -> Result<Option<u64>, Error> {
        let range = keys::by_time(chain, timestamp, 0)..=keys::by_time(chain, u64::MAX, u64::MAX);
        let first = self.snapshot.range(&self.tables.block_by_time, range).next();
        first.map_or(Ok(None), |item| Ok(keys::last_number(&item.key()?)))
    }

    pub fn last_block_until(&self, chain: ChainId, timestamp: u64) -> Result<Option<u64>, Error> {
        let range = keys::by_time(chain, 0, 0)..=keys::by_time(chain, timestamp, u64::MAX);
        let last = self.snapshot.range(&self.tables.block_by_time, range).next_back();
        last.map_or(Ok(None), |item| Ok(keys::last_number(&item.key()?)))
    }
}
