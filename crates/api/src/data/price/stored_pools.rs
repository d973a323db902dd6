//! Reads the pools that have a say in a price from the store, as they were after a block.
//!
//! Cost: a token's pools are found by their partner, so a coin that everything trades against is no
//! dearer than any other. Up to [`DEEPEST`] pools all are read, each time. Where there are more, all are
//! read once in an epoch of blocks to find the deepest, and only those for every other request in it.
//! Which those are depends on the epoch and on what is stored, not on who asked first.

use std::sync::Arc;

use alloy_primitives::Address;
use model::chain::Chain;
use model::facts::{Pool, PoolId};
use model::price::{self, PoolAt, PricingTable, Question, Settings};
use store::{Coverage, Entry, EntryKind, PoolStatesQuery, StateAt, Version, View};

use super::memory::{NativeKey, PriceMemory, Ranking, RankingKey};
use super::pairs::partners;

/// Pools read for one price.
const DEEPEST: usize = 16;
/// Epochs in blocks, as powers of two. Near the head a new pool must soon be seen; further back both ends
/// of an epoch are known, so it may be long.
const NEAR_BITS: u32 = 5;
const FAR_BITS: u32 = 10;
/// Journal entries that are looked through for a change before all pools are rather compared again.
const ENTRIES_MAX: u64 = 512;

/// Whose pools.
#[derive(Clone, Copy)]
pub struct PoolQuery {
    pub token: Address,
    pub decimals: u8,
    pub exchange: Option<Address>,
}

/// Where pools are read, and at which block.
pub struct StoredPools<'a> {
    pub view: &'a View,
    /// The view's.
    pub version: Version,
    pub coverage: &'a Coverage,
    pub memory: &'a PriceMemory,
    pub chain: &'a Chain,
    pub table: &'a PricingTable,
    pub block: u64,
}

struct Epoch {
    /// How long it is, and which.
    number: (u32, u64),
    /// The blocks at which all pools are compared, rising.
    compared_at: Vec<u64>,
}

impl StoredPools<'_> {
    /// Pools of the native coin with stables.
    pub async fn native(&self) -> Result<Arc<Vec<PoolAt>>, store::Error> {
        let key = NativeKey { chain: self.chain.id, block: self.block, version: self.version };
        if let Some(known) = self.memory.native.get(&key) {
            return Ok(known);
        }
        let (token, decimals) = (self.table.wrapped, self.table.native_decimals);
        let pools = self.pools(&PoolQuery { token, decimals, exchange: None }, &[]).await?;
        let pools = Arc::new(pools);
        self.memory.native.insert(key, pools.clone());
        Ok(pools)
    }

    /// Pools of a token with money. `native` says what the native coin is worth.
    pub async fn pools(
        &self,
        q: &PoolQuery,
        native: &[PoolAt],
    ) -> Result<Vec<PoolAt>, store::Error> {
        let epoch = self.epoch();
        let key = RankingKey {
            chain: self.chain.id,
            token: q.token,
            exchange: q.exchange,
            epoch: epoch.number,
        };
        let pools = match self.remembered(&key).await? {
            Some(pools) => pools,
            None => self.ranked(q, native, key, &epoch).await?,
        };
        self.with_before(self.states(&pools, self.block).await?).await
    }

    /// Whether any pool of the token is known, at any block.
    pub async fn knows(&self, token: Address) -> Result<bool, store::Error> {
        let q = PoolQuery { token, decimals: 0, exchange: None };
        Ok(!self.listed(&q).await?.is_empty())
    }

    /// Every block from here to the asked one is stored: what a pool held before may have changed unseen.
    fn first(&self) -> u64 {
        self.coverage.range_of(self.block).map_or(self.block, |(first, _)| first)
    }

    fn epoch(&self) -> Epoch {
        let (first, newest) =
            self.coverage.range_of(self.block).unwrap_or((self.block, self.block));
        let far_start = self.block >> FAR_BITS << FAR_BITS;
        let far_end = far_start + (1 << FAR_BITS) - 1;
        if far_end <= newest {
            let number = (FAR_BITS, self.block >> FAR_BITS);
            return Epoch { number, compared_at: vec![far_start.max(first), far_end] };
        }
        let near_start = self.block >> NEAR_BITS << NEAR_BITS;
        let number = (NEAR_BITS, self.block >> NEAR_BITS);
        Epoch { number, compared_at: vec![near_start.max(first)] }
    }

    /// The deepest pools found earlier in this epoch, if they still are.
    async fn remembered(&self, key: &RankingKey) -> Result<Option<Arc<Vec<Pool>>>, store::Error> {
        let Some(mut known) = self.memory.rankings.get(key) else { return Ok(None) };
        if known.version == self.version {
            return Ok(Some(known.pools));
        }
        if !self.still_holds(&known).await? {
            return Ok(None);
        }
        known.version = self.version;
        self.memory.rankings.insert(*key, known.clone());
        Ok(Some(known.pools))
    }

    /// Whether no block at or below those compared came, went or changed since.
    async fn still_holds(&self, known: &Ranking) -> Result<bool, store::Error> {
        let (then, now) = (known.version, self.version);
        let Some(count) = now.seq.checked_sub(then.seq).filter(|count| *count <= ENTRIES_MAX)
        else {
            return Ok(false);
        };
        if then.generation != now.generation {
            return Ok(false);
        }
        let entries = self.view.journal_after(self.chain.id, then.seq, count as usize).await?;
        // With a block that is reverted a pool may go that only it told of.
        let leaves = |it: &Entry| it.number > known.last_compared && it.kind != EntryKind::Revert;
        // Fewer where the journal was pruned meanwhile.
        Ok(entries.len() as u64 == count && entries.iter().all(leaves))
    }

    /// All pools, or the deepest where there are many; those are then remembered.
    async fn ranked(
        &self,
        q: &PoolQuery,
        native: &[PoolAt],
        key: RankingKey,
        epoch: &Epoch,
    ) -> Result<Arc<Vec<Pool>>, store::Error> {
        let mut pools = self.listed(q).await?;
        if pools.len() <= DEEPEST {
            return Ok(Arc::new(pools));
        }
        let mut deepest = Vec::new();
        for block in &epoch.compared_at {
            deepest.extend(self.deepest(q, &self.states(&pools, *block).await?, native));
        }
        // Fewer than are read anyway say nothing about those that came later in the epoch.
        if deepest.len() < DEEPEST {
            return Ok(Arc::new(pools));
        }
        pools.retain(|it| deepest.contains(&it.id));
        let pools = Arc::new(pools);
        let last_compared = epoch.compared_at.last().copied().unwrap_or(self.block);
        let ranking = Ranking { pools: pools.clone(), version: self.version, last_compared };
        self.memory.rankings.insert(key, ranking);
        Ok(pools)
    }

    async fn listed(&self, q: &PoolQuery) -> Result<Vec<Pool>, store::Error> {
        let mut pairs = Vec::new();
        for mine in self.names(q.token) {
            for partner in partners(self.table, q.token) {
                pairs.extend(self.names(partner).map(|other| (mine, other)));
            }
        }
        let mut pools = self.view.pools_between(self.chain.id, &pairs).await?;
        pools.retain(|it| q.exchange.is_none_or(|only| only == it.factory));
        Ok(pools)
    }

    /// v4 pools hold the native coin itself, which goes by the zero address there.
    fn names(&self, token: Address) -> impl Iterator<Item = Address> + use<> {
        let coin = (token == self.table.wrapped).then_some(Address::ZERO);
        std::iter::once(token).chain(coin)
    }

    pub async fn states(&self, pools: &[Pool], block: u64) -> Result<Vec<PoolAt>, store::Error> {
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
        let q = PoolStatesQuery { chain: self.chain.id, pools, first: self.first(), last };
        self.view.pool_states(&q).await
    }

    /// Adds what pools held about a minute earlier: long enough that a push would have been traded back,
    /// short enough that a market's own moves are not taken for one. Only pools that changed since have
    /// been anything else then.
    pub async fn with_before(&self, mut pools: Vec<PoolAt>) -> Result<Vec<PoolAt>, store::Error> {
        let minute = (60_000 / self.chain.block_time_ms.max(1)).clamp(2, 300);
        let then = self.block.checked_sub(minute).filter(|then| *then >= self.first());
        let Some(then) = then else { return Ok(pools) };
        let changed = pools.iter().filter(|it| it.block > then).map(|it| it.pool.id);
        let states = self.states_of(&changed.collect::<Vec<_>>(), then).await?;
        for (pool, state) in pools.iter_mut().filter(|it| it.block > then).zip(states) {
            pool.before = state.map(|it| it.state);
        }
        Ok(pools)
    }

    fn deepest(&self, q: &PoolQuery, all: &[PoolAt], native: &[PoolAt]) -> Vec<PoolId> {
        // For the coin itself its own pools say what the stables are worth.
        let native = if q.token == self.table.wrapped { all } else { native };
        let question = Question {
            token: q.token,
            decimals: q.decimals,
            exchange: q.exchange,
            pools: all,
            native_pools: native,
            via: &[],
        };
        price::deepest(self.table, &question, &Settings::default(), DEEPEST)
    }
}
