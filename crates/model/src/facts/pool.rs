//! Pools whose exchange a block proves, and what a block changes in pools.
//!
//! What a pool *is* never changes, so the same fact from many blocks is one row. What a pool *holds*
//! is one row per pool and block, in [`PoolChange`].

use alloy_primitives::Address;

use super::PoolChange;
use super::pool_id::PoolId;
use crate::exchange_families::{Exchange, ExchangeKind, PoolTerms};

/// Everything that one block says about pools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolFacts {
    /// Pools that this block proves to belong to an exchange; sorted by id, each once.
    pub seen: Vec<Pool>,
    /// What each pool has become by the end of the block; sorted by id, each once. Also of pools that
    /// this block does not prove: another block or a node may tell whose they are.
    pub changes: Vec<PoolChange>,
}

/// A pool that belongs to an exchange, because the exchange's factory says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    pub id: PoolId,
    /// As the chain table names it; for v4 the one contract.
    pub factory: Address,
    pub kind: ExchangeKind,
    /// Zero is the native coin, in v4 only.
    pub token0: Address,
    pub token1: Address,
    /// In millionths, where the fee is part of what the pool is; v4 has one value that means "varies".
    pub fee: Option<u32>,
    /// How many ticks lie between two places where liquidity can begin or end, if told.
    pub tick_spacing: Option<i32>,
    /// v4: a contract that may change every swap. Zero is none.
    pub hooks: Address,
    /// Whether reserves follow the curve for tokens of like worth; told by Solidly pools only.
    pub stable: Option<bool>,
}

impl Pool {
    /// A pool that an exchange was found to have made. `tokens` in their order.
    pub fn new(id: PoolId, exchange: &Exchange, tokens: [Address; 2], terms: PoolTerms) -> Pool {
        let [token0, token1] = tokens;
        let PoolTerms { fee, tick_spacing, hooks, stable } = terms;
        let (factory, kind) = (exchange.factory, exchange.kind);
        Pool { id, factory, kind, token0, token1, fee, tick_spacing, hooks, stable }
    }

    /// What it is beside its tokens.
    pub fn terms(&self) -> PoolTerms {
        let Pool { fee, tick_spacing, hooks, stable, .. } = *self;
        PoolTerms { fee, tick_spacing, hooks, stable }
    }

    pub fn set_terms(&mut self, terms: PoolTerms) {
        let PoolTerms { fee, tick_spacing, hooks, stable } = terms;
        (self.fee, self.tick_spacing, self.hooks, self.stable) = (fee, tick_spacing, hooks, stable);
    }
}
