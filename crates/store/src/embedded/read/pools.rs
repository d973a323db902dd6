//! Pools of a token, and what a pool held at a block.

use alloy_primitives::Address;
use fjall::Readable;
use model::chain::ChainId;
use model::facts::{Pool, PoolChange, PoolId, PoolState};

use super::View;
use crate::Error;
use crate::embedded::{codec, keys};

/// How far back the last whole state is looked for behind changes of liquidity alone.
const CHANGES_MAX: usize = 4096;

impl View {
    /// Every pool of a token that is known to belong to an exchange, in no meaningful order. A coin
    /// that everything trades against has very many: ask for those with one other token instead.
    pub fn pools_of(&self, chain: ChainId, token: Address) -> Result<Vec<Pool>, Error> {
        let generation = self.generations(chain)?.current;
        self.pools_at(&keys::pools_of(chain, generation, token))
    }

    /// Every known pool of two tokens, in no meaningful order.
    pub fn pools_between(
        &self,
        chain: ChainId,
        token: Address,
        other: Address,
    ) -> Result<Vec<Pool>, Error> {
        let generation = self.generations(chain)?.current;
        self.pools_at(&keys::pools_between(chain, generation, (token, other)))
    }

    fn pools_at(&self, prefix: &[u8]) -> Result<Vec<Pool>, Error> {
        let mut pools = Vec::new();
        for item in self.snapshot.prefix(&self.tables.pools, prefix) {
            let (key, value) = item.into_inner()?;
            let pool =
                keys::id_of_pool_key(&key).and_then(|id| codec::pool::unpack(id, &mut &*value));
            pools.push(pool.ok_or(Error::BrokenRow { table: "pools" })?);
        }
        Ok(pools)
    }

    /// What the pool held after `block`, and the block that last changed it. None where no block
    /// up to it tells a whole state.
    pub fn pool_state(
        &self,
        chain: ChainId,
        id: &PoolId,
        block: u64,
    ) -> Result<Option<(PoolState, u64)>, Error> {
        self.pool_state_within(chain, id, (0, block))
    }

    /// The same from the changes of these blocks alone: what was before a gap may have changed in it.
    pub fn pool_state_within(
        &self,
        chain: ChainId,
        id: &PoolId,
        (first, last): (u64, u64),
    ) -> Result<Option<(PoolState, u64)>, Error> {
        let generation = self.generations(chain)?.current;
        let newest = keys::pool_state(chain, generation, id, last);
        let oldest = keys::pool_state(chain, generation, id, first);
        let mut changes: Vec<(u64, PoolChange)> = Vec::new();
        for item in self.snapshot.range(&self.tables.pool_states, newest..=oldest).take(CHANGES_MAX)
        {
            let (key, value) = item.into_inner()?;
            let broken = || Error::BrokenRow { table: "pool_states" };
            let number = !keys::last_number(&key).ok_or_else(broken)?;
            let change = codec::pool_change::unpack(*id, &mut &*value).ok_or_else(broken)?;
            let is_whole = change.change.fold(None).is_some();
            changes.push((number, change));
            if is_whole {
                break;
            }
        }
        let changed_at = changes.first().map(|(number, _)| *number);
        let mut state = None;
        for (_, change) in changes.iter().rev() {
            state = change.change.fold(state.as_ref());
        }
        Ok(state.zip(changed_at))
    }
}
