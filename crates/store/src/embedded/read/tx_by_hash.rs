//! Where a transaction stands.

use alloy_primitives::B256;
use model::chain::ChainId;

use super::View;
use crate::Error;
use crate::embedded::keys;
use crate::query::Place;

impl View {
    pub fn place_of_tx(&self, chain: ChainId, hash: B256) -> Result<Option<Place>, Error> {
        let prefix = keys::txs_of_hash(chain, keys::start_of_hash(hash));
        let mut txs = self.transactions(chain);
        // Others may begin alike.
        for item in self.snapshot.prefix(&self.tables.tx_by_hash, prefix) {
            let place = keys::place_of_tx(&item.key()?);
            let place = place.ok_or(Error::Broken { what: "transactions by hash" })?;
            let stored = txs.soon(place, |txs| txs.read(place.0, place.1))?;
            if stored.is_some_and(|stored| stored.tx.hash == Some(hash)) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }
}
