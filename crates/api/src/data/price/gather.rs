//! Reads the pools that have a say in a price, as they were after a block.
//!
//! Cost: a token's pools are found by their partner, so a coin that everything trades against is no
//! dearer than any other. Up to [`DEEPEST`] pools all are read, each time. Where there are more, all are
//! read once in an epoch of blocks to find the deepest, and only those for every other question in it.
//! Which those are depends on the epoch alone, not on who asked first.

use std::sync::Arc;

use alloy_primitives::Address;
use model::chain::ChainId;
use model::facts::{Pool, PoolId};
use model::price::{self, PoolAt, PricingTable, Question, Settings};
use quick_cache::sync::Cache;
use store::{PoolStatesQuery, StateAt, Version, View};

use super::partners;

/// Pools heard for one price.
const DEEPEST: usize = 16;
/// Epochs in blocks, as powers of two. Near the head a new pool must soon be heard; further back both ends
/// of an epoch are known, so it may be long.
const NEAR_BITS: u32 = 5;
const FAR_BITS: u32 = 10;

/// A token on an exchange or any, in one epoch.
type RankKey = (ChainId, Address, Option<Address>, (u32, u64));
/// Native pools at a block, seen at a position of the journal.
type NativeKey = (ChainId, u64, Version);

/// What is remembered between questions.
pub struct Memory {
    deepest: Cache<RankKey, Arc<Vec<Pool>>>,
    native: Cache<NativeKey, Arc<Vec<PoolAt>>>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { deepest: Cache::new(512), native: Cache::new(128) }
    }
}

pub struct Gather<'a> {
    pub view: &'a View,
    pub memory: &'a Memory,
    pub chain: ChainId,
    pub book: &'a PricingTable,
    /// Every block between these is stored: what a pool held before them may have changed unseen.
    pub blocks: (u64, u64),
    /// The last one of which that is so, too.
    pub newest: u64,
    /// How many blocks earlier a pool is looked at, too.
    pub before: u64,
    /// The journal's position.
    pub version: Version,
}

impl Gather<'_> {
    /// Pools of the native coin with stables.
    pub async fn native(&self) -> Result<Arc<Vec<PoolAt>>, store::Error> {
        let key = (self.chain, self.blocks.1, self.version);
        if let Some(known) = self.memory.native.get(&key) {
            return Ok(known);
        }
        let asked =
            Asked { token: self.book.wrapped, decimals: self.book.native_decimals, exchange: None };
        let pools = Arc::new(self.pools(&asked, &[]).await?);
        self.memory.native.insert(key, pools.clone());
        Ok(pools)
    }

    /// Pools of a token with money. `native` says what the native coin is worth.
    pub async fn pools(
        &self,
        asked: &Asked,
        native: &[PoolAt],
    ) -> Result<Vec<PoolAt>, store::Error> {
        let epoch = self.epoch();
        let key = (self.chain, asked.token, asked.exchange, epoch.number);
        if let Some(known) = self.memory.deepest.get(&key) {
            return self.with_before(self.states(&known, self.blocks.1).await?).await;
        }
        let mut pools = self.listed(asked).await?;
        if pools.len() > DEEPEST {
            let mut deepest = Vec::new();
            for block in epoch.looked_at {
                deepest.extend(self.deepest(asked, &self.states(&pools, block).await?, native));
            }
            // Fewer than are heard anyway say nothing about those that came later in the epoch.
            if deepest.len() >= DEEPEST {
                pools.retain(|it| deepest.contains(&it.id));
                self.memory.deepest.insert(key, Arc::new(pools.clone()));
            }
        }
        self.with_before(self.states(&pools, self.blocks.1).await?).await
    }

    fn epoch(&self) -> Epoch {
        let (first, block) = self.blocks;
        let far_start = block >> FAR_BITS << FAR_BITS;
        let far_end = far_start + (1 << FAR_BITS) - 1;
        if far_end <= self.newest {
            let number = (FAR_BITS, block >> FAR_BITS);
            return Epoch { number, looked_at: vec![far_start.max(first), far_end] };
        }
        let near_start = block >> NEAR_BITS << NEAR_BITS;
        Epoch { number: (NEAR_BITS, block >> NEAR_BITS), looked_at: vec![near_start.max(first)] }
    }

    /// Whether any pool of the token is known, at any block.
    pub async fn knows(&self, token: Address) -> Result<bool, store::Error> {
        let asked = Asked { token, decimals: 0, exchange: None };
        Ok(!self.listed(&asked).await?.is_empty())
    }

    async fn listed(&self, asked: &Asked) -> Result<Vec<Pool>, store::Error> {
        let mut pairs = Vec::new();
        for mine in self.names(asked.token) {
            for partner in partners(self.book, asked.token) {
                pairs.extend(self.names(partner).map(|other| (mine, other)));
            }
        }
        let mut pools = self.view.pools_between(self.chain, &pairs).await?;
        pools.retain(|it| asked.exchange.is_none_or(|only| only == it.factory));
        Ok(pools)
    }

    /// v4 pools hold the native coin itself, which goes by the zero address there.
    fn names(&self, token: Address) -> impl Iterator<Item = Address> + use<> {
        let coin = (token == self.book.wrapped).then_some(Address::ZERO);
        std::iter::once(token).chain(coin)
    }

    async fn states(&self, pools: &[Pool], block: u64) -> Result<Vec<PoolAt>, store::Error> {
        let ids: Vec<PoolId> = pools.iter().map(|it| it.id).collect();
        let states = self.states_of(&ids, block).await?;
        let known = pools.iter().zip(states).filter_map(|(pool, found)| {
            let StateAt { state, block } = found?;
            Some(PoolAt { pool: pool.clone(), state, before: None, block })
        });
        Ok(known.collect())
    }

    async fn states_of(
        &self,
        pools: &[PoolId],
        last: u64,
    ) -> Result<Vec<Option<StateAt>>, store::Error> {
        let q = PoolStatesQuery { chain: self.chain, pools, first: self.blocks.0, last };
        self.view.pool_states(&q).await
    }

    /// Only pools that changed since have been anything else then.
    async fn with_before(&self, mut pools: Vec<PoolAt>) -> Result<Vec<PoolAt>, store::Error> {
        let (first, last) = self.blocks;
        let Some(then) = last.checked_sub(self.before).filter(|then| *then >= first) else {
            return Ok(pools);
        };
        let changed = pools.iter().filter(|it| it.block > then).map(|it| it.pool.id);
        let states = self.states_of(&changed.collect::<Vec<_>>(), then).await?;
        for (pool, state) in pools.iter_mut().filter(|it| it.block > then).zip(states) {
            pool.before = state.map(|it| it.state);
        }
        Ok(pools)
    }

    fn deepest(&self, asked: &Asked, all: &[PoolAt], native: &[PoolAt]) -> Vec<PoolId> {
        // For the coin itself its own pools say what the stables are worth.
        let native = if asked.token == self.book.wrapped { all } else { native };
        let question = Question {
            token: asked.token,
            decimals: asked.decimals,
            exchange: asked.exchange,
            pools: all,
            native_pools: native,
            via: &[],
        };
        price::deepest(self.book, &question, &Settings::default(), DEEPEST)
    }
}

struct Epoch {
    /// How long it is, and which.
    number: (u32, u64),
    /// The blocks at which all pools are compared.
    looked_at: Vec<u64>,
}

/// Whose pools.
#[derive(Clone, Copy)]
pub struct Asked {
    pub token: Address,
    pub decimals: u8,
    pub exchange: Option<Address>,
}
