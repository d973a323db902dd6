//! Pools of a token, and what pools held at a block.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::facts::{Pool, PoolId, PoolState};

use super::{Snapshot, View};
use crate::Error;

/// What pools held after `last`, told by the changes of `first..=last` alone: what was before a gap
/// may have changed in it.
#[derive(Clone, Copy, Debug)]
pub struct PoolStatesQuery<'a> {
    pub chain: ChainId,
    pub pools: &'a [PoolId],
    pub first: u64,
    pub last: u64,
}

/// A pool's state and the block that last changed it.
#[derive(Clone, Debug, PartialEq)]
pub struct StateAt {
    pub state: PoolState,
    pub block: u64,
}

impl View {
    /// Every known pool of a token, in no meaningful order. A coin that everything trades against has
    /// very many: ask for those with one other token instead.
    pub async fn pools_of(&self, chain: ChainId, token: Address) -> Result<Vec<Pool>, Error> {
        match &self.snapshot {
            Snapshot::Embedded(view) => view.pools_of(chain, token),
        }
    }

    /// Every known pool of these pairs of tokens; pair by pair, otherwise in no meaningful order.
    pub async fn pools_between(
        &self,
        chain: ChainId,
        pairs: &[(Address, Address)],
    ) -> Result<Vec<Pool>, Error> {
        match &self.snapshot {
            Snapshot::Embedded(view) => view.pools_between(chain, pairs),
        }
    }

    /// One for each pool asked for; none where no block of the range tells a whole state.
    pub async fn pool_states(
        &self,
        q: &PoolStatesQuery<'_>,
    ) -> Result<Vec<Option<StateAt>>, Error> {
        match &self.snapshot {
            Snapshot::Embedded(view) => view.pool_states(q),
        }
    }
}
