//! Writes what decoders found in a block, and removes it.

use alloy_primitives::Address;
use model::facts::{Facts, Pool};

use super::batch::Batch;
use crate::Error;
use crate::embedded::facts::FactsRow;
use crate::embedded::open::Store;
use crate::embedded::read::View;
use crate::embedded::{codec, keys};

impl Batch<'_> {
    /// Into one generation.
    pub(super) fn put_facts(&mut self, generation: u8, number: u64, facts: &Facts) {
        let (chain, t) = (self.chain, self.tables.clone());
        let row = FactsRow::of(facts);
        if row.is_empty() {
            return self.put_pools(generation, &facts.pools.seen);
        }
        let trades = row.trade_keys(chain, generation, number);
        trades.listed.iter().for_each(|key| self.put(&t.nft_trades, key, Vec::new()));
        trades.priced.iter().for_each(|key| self.put(&t.nft_lowest, key, Vec::new()));
        for change in &facts.pools.changes {
            let mut value = Vec::with_capacity(48);
            codec::pool_change::pack(change, &mut value);
            let key = keys::pool_state(chain, generation, &change.id, number);
            self.put(&t.pool_states, key, value);
        }
        self.put(&t.facts, keys::facts(chain, generation, number), row.pack());
        self.put_pools(generation, &facts.pools.seen);
    }

    pub(super) fn drop_facts(
        &mut self,
        view: &View,
        generation: u8,
        number: u64,
    ) -> Result<(), Error> {
        let (chain, t) = (self.chain, self.tables.clone());
        let key = keys::facts(chain, generation, number);
        let Some(row) = view.snapshot.get(&t.facts, key)? else { return Ok(()) };
        let row = FactsRow::unpack(&row).ok_or(Error::Broken { what: "list of facts" })?;
        let trades = row.trade_keys(chain, generation, number);
        trades.listed.iter().for_each(|key| self.drop_key(&t.nft_trades, key));
        trades.priced.iter().for_each(|key| self.drop_key(&t.nft_lowest, key));
        for id in &row.changed_pools {
            self.drop_key(&t.pool_states, keys::pool_state(chain, generation, id, number));
        }
        self.drop_key(&t.facts, key);
        Ok(())
    }

    fn put_pools(&mut self, generation: u8, pools: &[Pool]) {
        let (chain, table) = (self.chain, self.tables.pools.clone());
        for pool in pools {
            let is_known =
                self.store.inner.known_pools.get(&(chain, generation, pool.id)).is_some();
            if is_known || !self.new_pools.insert((generation, pool.id)) {
                continue;
            }
            let mut value = Vec::with_capacity(72);
            codec::pool::pack(pool, &mut value);
            for pair in both_ways(pool) {
                let key = keys::pool(chain, generation, pair, &pool.id);
                self.put(&table, key, value.clone());
            }
        }
    }
}

impl Store {
    /// After a generation went: they are written again when next seen.
    pub fn forget_known_pools(&self) {
        self.inner.known_pools.clear();
    }
}

fn both_ways(pool: &Pool) -> [(Address, Address); 2] {
    [(pool.token0, pool.token1), (pool.token1, pool.token0)]
}
