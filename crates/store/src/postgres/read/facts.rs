//! What is kept of what decoders found in a block.

use model::chain::ChainId;
use model::facts::{Facts, PoolFacts};

use super::pools::{pool_id, unpack_change, unpack_pool};
use super::{Param, View};
use crate::Error;
use crate::embedded::facts::FactsRow;
use crate::postgres::numbers::sql;

const FACTS: &str = "select packed from facts where chain = $1 and generation = $2 and number = $3";
const CHANGES: &str =
    "select pool, packed from pool_states where chain = $1 and generation = $2 and number = $3";
const TOLD: &str = "select p.pool, p.packed from told_pools t join pools p \
     on p.chain = $1 and p.generation = $2 and p.pool = t.pool \
     where t.chain = $1 and t.generation = $2 and t.number = $3";

impl View {
    /// In the generation in use.
    pub async fn facts(&self, chain: ChainId, number: u64) -> Result<Facts, Error> {
        let generation = i16::from(self.version(chain).generation);
        let params: [Param; 3] = [&sql(chain.0), &generation, &sql(number)];
        let row = match self.connection.first(FACTS, &params).await? {
            Some(row) => {
                FactsRow::unpack(row.get(0)).ok_or(Error::Broken { what: "list of facts" })?
            }
            None => FactsRow::default(),
        };
        let mut pools = PoolFacts::default();
        for row in self.connection.query(CHANGES, &params).await? {
            pools.changes.push(unpack_change(pool_id(row.get(0))?, row.get(1))?);
        }
        // As the block's row lists them.
        let listed = |id| row.changed_pools.iter().position(|listed| *listed == id);
        pools.changes.sort_by_key(|change| listed(change.id));
        for row in self.connection.query(TOLD, &params).await? {
            pools.seen.push(unpack_pool(&row)?);
        }
        pools.seen.sort_by_key(|pool| pool.id);
        Ok(Facts { trades: row.trades, pools })
    }
}
