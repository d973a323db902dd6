//! Writes what decoders found in a block, and removes it.

use model::facts::Facts;

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
        self.tell_pools(generation, number, &facts.pools.seen, &row);
        if row.is_empty() {
            return;
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
    }

    pub(super) fn drop_facts(
        &mut self,
        view: &View,
        generation: u8,
        number: u64,
    ) -> Result<(), Error> {
        let (chain, t) = (self.chain, self.tables.clone());
        let key = keys::facts(chain, generation, number);
        let Some(row) = view.snapshot.get(&t.facts, key)? else {
            return self.untell_pools(view, generation, number, &[]);
        };
        let row = FactsRow::unpack(&row).ok_or(Error::Broken { what: "list of facts" })?;
        let trades = row.trade_keys(chain, generation, number);
        trades.listed.iter().for_each(|key| self.drop_key(&t.nft_trades, key));
        trades.priced.iter().for_each(|key| self.drop_key(&t.nft_lowest, key));
        for id in &row.changed_pools {
            self.drop_key(&t.pool_states, keys::pool_state(chain, generation, id, number));
        }
        self.drop_key(&t.facts, key);
        self.untell_pools(view, generation, number, &row.changed_pools)
    }
}

impl Store {
    /// After a generation went: they are written again when next seen.
    pub fn forget_known_pools(&self) {
        self.inner.known_pools.clear();
    }
}
