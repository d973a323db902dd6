//! What is kept of what decoders found in a block.

use model::chain::ChainId;
use model::facts::{Facts, PoolFacts};

use super::View;
use crate::Error;
use crate::embedded::facts::FactsRow;
use crate::embedded::told_pools::{PoolWitness, ids_of_row};
use crate::embedded::{codec, keys};

const BROKEN: Error = Error::Broken { what: "pool" };

impl View {
    /// In the generation in use.
    pub fn facts(&self, chain: ChainId, number: u64) -> Result<Facts, Error> {
        let (t, generation) = (&self.tables, self.version(chain)?.generation);
        let row = self.snapshot.get(&t.facts, keys::facts(chain, generation, number))?;
        let row = match row {
            Some(row) => FactsRow::unpack(&row).ok_or(Error::Broken { what: "list of facts" })?,
            None => FactsRow::default(),
        };
        let mut pools = PoolFacts::default();
        for id in &row.changed_pools {
            let key = keys::pool_state(chain, generation, id, number);
            let change = self.snapshot.get(&t.pool_states, key)?.ok_or(BROKEN)?;
            pools.changes.push(codec::pool_change::unpack(*id, &mut &*change).ok_or(BROKEN)?);
        }
        let mut ids = row.changed_pools;
        let told = keys::told_in_block(chain, generation, number);
        if let Some(row) = self.snapshot.get(&t.told_pools, told)? {
            ids.extend(ids_of_row(&row).ok_or(Error::Broken { what: "list of pools" })?);
        }
        ids.sort();
        ids.dedup();
        for id in ids {
            let is_told = keys::told_by(chain, generation, &id, number);
            if self.snapshot.get(&t.told_pools, is_told)?.is_none() {
                continue;
            }
            let witness = keys::pool_witness(chain, generation, &id);
            let witness = self.snapshot.get(&t.told_pools, witness)?;
            // Pools of an older build have none; where they are told of again, they come again.
            let Some(witness) = witness.as_deref().and_then(PoolWitness::unpack) else { continue };
            let key = keys::pool(chain, generation, witness.tokens, &id);
            let pool = self.snapshot.get(&t.pools, key)?.ok_or(BROKEN)?;
            pools.seen.push(codec::pool::unpack(id, &mut &*pool).ok_or(BROKEN)?);
        }
        Ok(Facts { trades: row.trades, pools })
    }
}
