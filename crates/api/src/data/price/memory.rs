//! What is remembered between price requests. Each key or entry says what it was made from, so nothing
//! outlives a reorg, another generation of facts, or history that came later.

use std::sync::Arc;

use alloy_primitives::{Address, B256};
use model::chain::ChainId;
use model::facts::Pool;
use model::price::PoolAt;
use quick_cache::sync::Cache;
use store::Version;

/// A token's pools on one exchange or on all, in one epoch of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RankingKey {
    pub chain: ChainId,
    pub token: Address,
    pub exchange: Option<Address>,
    /// How long the epoch is, as a power of two, and which it is.
    pub epoch: (u32, u64),
}

/// The deepest pools. They stay the deepest while nothing is written at or below the last block at which
/// pools were compared.
#[derive(Clone)]
pub struct Ranking {
    pub pools: Arc<Vec<Pool>>,
    /// When this was last known to hold.
    pub version: Version,
    pub last_compared: u64,
}

/// The native coin's pools after a block, as the store had them at a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NativeKey {
    pub chain: ChainId,
    pub block: u64,
    pub version: Version,
}

/// A token's pools after a block, as a node had them. The hash, where it is known, tells a reorg.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeKey {
    pub chain: ChainId,
    pub block: u64,
    pub hash: Option<B256>,
    pub token: Address,
    pub exchange: Option<Address>,
}

pub struct PriceMemory {
    pub rankings: Cache<RankingKey, Ranking>,
    pub native: Cache<NativeKey, Arc<Vec<PoolAt>>>,
    pub node: Cache<NodeKey, Arc<Vec<PoolAt>>>,
}

impl Default for PriceMemory {
    fn default() -> Self {
        PriceMemory { rankings: Cache::new(512), native: Cache::new(128), node: Cache::new(4_096) }
    }
}
