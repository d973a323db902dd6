//! What can be asked about pools.

use model::chain::ChainId;
use model::facts::{PoolId, PoolState};

/// What pools held after `last`, told by the changes of `first..=last` alone: what was before a gap
/// may have changed in it. Where blocks below `first` were pruned, what pools held before is known, too: it
/// was carried over.
#[derive(Clone, Copy, Debug)]
pub struct PoolStatesQuery<'a> {
    pub chain: ChainId,
    pub pools: &'a [PoolId],
    pub first: u64,
    pub last: u64,
}

/// A pool's state and the block that last changed it, which may be pruned by now.
#[derive(Clone, Debug, PartialEq)]
pub struct StateAt {
    pub state: PoolState,
    pub block: u64,
}
