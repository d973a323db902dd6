//! Pools of a token, and what pools held at a block.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::facts::{Pool, PoolChange, PoolId};

use super::View;
use crate::Error;
use crate::embedded::blocking::may_block;
use crate::embedded::carried::Carried;
use crate::embedded::{codec, keys};
use crate::query::{PoolStatesQuery, StateAt};

/// How far back the last whole state is looked for behind changes of liquidity alone.
const CHANGES_MAX: usize = 4096;
const BROKEN: Error = Error::Broken { what: "pool" };

impl View {
    pub fn pools_of(&self, chain: ChainId, token: Address) -> Result<Vec<Pool>, Error> {
        let generation = self.version(chain)?.generation;
        let mut pools = Vec::new();
        may_block(|| self.add_pools(&keys::pools_of(chain, generation, token), &mut pools))?;
        Ok(pools)
    }

    pub fn pools_between(
        &self,
        chain: ChainId,
        pairs: &[(Address, Address)],
    ) -> Result<Vec<Pool>, Error> {
        let generation = self.version(chain)?.generation;
        let mut pools = Vec::new();
        may_block(|| {
            for pair in pairs {
                self.add_pools(&keys::pools_between(chain, generation, *pair), &mut pools)?;
            }
            Ok(pools)
        })
    }

    fn add_pools(&self, prefix: &[u8], pools: &mut Vec<Pool>) -> Result<(), Error> {
        for item in self.snapshot.prefix(&self.tables.pools, prefix) {
            let (key, value) = item.into_inner()?;
            let pool =
                keys::id_of_pool_key(&key).and_then(|id| codec::pool::unpack(id, &mut &*value));
            pools.push(pool.ok_or(BROKEN)?);
        }
        Ok(())
    }

    pub fn pool_states(&self, q: &PoolStatesQuery) -> Result<Vec<Option<StateAt>>, Error> {
        let generation = self.version(q.chain)?.generation;
        let carried = self.carried(q.chain)?.filter(|it| (q.first..=q.last).contains(&it.next));
        may_block(|| {
            let state = |id| self.pool_state(q, generation, id, carried.as_ref());
            q.pools.iter().map(state).collect()
        })
    }

    fn pool_state(
        &self,
        q: &PoolStatesQuery,
        generation: u8,
        id: &PoolId,
        carried: Option<&Carried>,
    ) -> Result<Option<StateAt>, Error> {
        let newest = keys::pool_state(q.chain, generation, id, q.last);
        let oldest = keys::pool_state(q.chain, generation, id, q.first);
        let mut changes: Vec<(u64, PoolChange)> = Vec::new();
        if newest > oldest {
            return Ok(None);
        }
        for item in self.snapshot.range(&self.tables.pool_states, newest..=oldest).take(CHANGES_MAX)
        {
            let (key, value) = item.into_inner()?;
            let number = !keys::last_number(&key).ok_or(BROKEN)?;
            let change = codec::pool_change::unpack(*id, &mut &*value).ok_or(BROKEN)?;
            let is_whole = change.change.fold(None).is_some();
            changes.push((number, change));
            if is_whole {
                break;
            }
        }
        let is_whole = changes.last().is_some_and(|(_, last)| last.change.fold(None).is_some());
        let mut before = None;
        if let Some(carried) = carried.filter(|_| !is_whole && changes.len() < CHANGES_MAX) {
            before = self.carried_state(q.chain, carried, id)?;
        }
        if let Some((carried, _)) = carried.zip(before.as_ref()) {
            // What was pruned is in it already, also where such a block is stored again.
            changes.retain(|(number, _)| *number >= carried.next);
        }
        let newest = changes.first().map(|(block, _)| *block);
        let Some(block) = newest.or(before.as_ref().map(|it| it.block)) else { return Ok(None) };
        let mut state = before.map(|it| it.state);
        for (_, change) in changes.iter().rev() {
            state = change.change.fold(state.as_ref());
        }
        Ok(state.map(|state| StateAt { state, block }))
    }
}
