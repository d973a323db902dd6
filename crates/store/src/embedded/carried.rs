//! What pools held when the blocks that told of it were pruned.
//!
//! A pool may rest for months. When its last change is pruned, the state that this left is carried over, or
//! today's price of its tokens would be gone with it. It holds only for blocks that stand on the pruned
//! ones: the row of the chain names the last of them by its hash.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::facts::{Change, PoolChange, PoolId};

use super::read::View;
use super::{codec, keys};
use crate::Error;
use crate::query::StateAt;

const BROKEN: Error = Error::Broken { what: "state of a pool that was carried over" };

/// Up to where a chain was pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The first block that was not.
    pub next: u64,
    /// Of the last that was.
    pub last_hash: B256,
    /// Raised where a block was missing, or the chain is another: what was carried before holds no longer.
    pub epoch: u64,
}

impl Carried {
    pub fn pack(&self) -> Vec<u8> {
        let numbers = [self.next.to_be_bytes(), self.epoch.to_be_bytes()];
        [numbers.as_flattened(), self.last_hash.as_slice()].concat()
    }

    fn unpack(row: &[u8]) -> Option<Self> {
        let (next, rest) = row.split_first_chunk::<8>()?;
        let (epoch, hash) = rest.split_first_chunk::<8>()?;
        Some(Carried {
            next: u64::from_be_bytes(*next),
            epoch: u64::from_be_bytes(*epoch),
            last_hash: B256::from(<[u8; 32]>::try_from(hash).ok()?),
        })
    }
}

pub fn pack_state(epoch: u64, id: &PoolId, at: &StateAt) -> Vec<u8> {
    let mut row = [epoch.to_be_bytes(), at.block.to_be_bytes()].as_flattened().to_vec();
    let change = Change::State(at.state.clone());
    codec::pool_change::pack(&PoolChange { id: *id, log_index: 0, change }, &mut row);
    row
}

/// With its epoch.
pub fn unpack_state(id: &PoolId, row: &[u8]) -> Option<(u64, StateAt)> {
    let (epoch, rest) = row.split_first_chunk::<8>()?;
    let (block, mut rest) = rest.split_first_chunk::<8>()?;
    let state = codec::pool_change::unpack(*id, &mut rest)?.change.fold(None)?;
    let at = StateAt { state, block: u64::from_be_bytes(*block) };
    Some((u64::from_be_bytes(*epoch), at))
}

impl View {
    /// None where nothing was pruned, or where what is stored does not stand on it.
    pub fn carried(&self, chain: ChainId) -> Result<Option<Carried>, Error> {
        let Some(carried) = self.last_pruned(chain)? else { return Ok(None) };
        let parent = self.parent_hash(chain, carried.next)?;
        Ok(Some(carried).filter(|carried| parent == Some(carried.last_hash)))
    }

    /// Whether or not anything stands on it.
    pub fn last_pruned(&self, chain: ChainId) -> Result<Option<Carried>, Error> {
        match self.snapshot.get(&self.tables.meta, keys::pruned(chain))? {
            Some(row) => Carried::unpack(&row).map(Some).ok_or(BROKEN),
            None => Ok(None),
        }
    }

    /// How the pool was left by the blocks that were pruned.
    pub fn carried_state(
        &self,
        chain: ChainId,
        carried: &Carried,
        id: &PoolId,
    ) -> Result<Option<StateAt>, Error> {
        let key = keys::carried_pool(chain, id);
        let Some(row) = self.snapshot.get(&self.tables.carried_pools, key)? else {
            return Ok(None);
        };
        let (epoch, at) = unpack_state(id, &row).ok_or(BROKEN)?;
        Ok((epoch == carried.epoch).then_some(at))
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{Address, U256};
    use model::facts::PoolState;

    use super::*;

    #[test]
    fn rows_come_back() {
        let carried = Carried { next: 7, last_hash: B256::repeat_byte(3), epoch: 2 };
        assert_eq!(Carried::unpack(&carried.pack()), Some(carried));
        assert_eq!(Carried::unpack(&carried.pack()[..47]), None);
        let id = PoolId::Contract(Address::repeat_byte(1));
        let state = PoolState::Reserves { reserve0: U256::from(5), reserve1: U256::MAX };
        let at = StateAt { state, block: 9 };
        assert_eq!(unpack_state(&id, &pack_state(4, &id, &at)), Some((4, at)));
    }
}
