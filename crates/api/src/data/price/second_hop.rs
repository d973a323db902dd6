//! Prices through a second token: one that trades against nothing that is money is worth what it costs in a token
//! that itself has a price.
//!
//! Only such a token counts as a step that money vouches for, by pools of its own, with some confidence; what is
//! doubtful about it is doubtful about the price that is built upon it.

use alloy_primitives::{Address, U256};
use model::facts::{Pool, PoolState};
use model::price::{Confidence, Doubt, Money, PoolAt, Price};

use super::stored_pools::{PoolQuery, StoredPools};

/// Pools with other tokens that are looked at, and tokens among them that may be steps.
const POOLS_MAX: usize = 64;
const STEPS_MAX: usize = 8;
/// A price through a second token that is further than this from the token's own pools with money is doubtful.
const CONTESTED_BPS: u32 = 1000;

/// A token on the way, and how it counts.
#[derive(Clone, Copy)]
pub struct Step {
    pub token: Address,
    pub decimals: u8,
}

/// A step that has a price.
pub struct Hop {
    pub token: Address,
    pub price: Price,
    pub money: Money,
}

/// What is added to a token's own pools.
#[derive(Default)]
pub struct SecondHop {
    pub pools: Vec<PoolAt>,
    pub hops: Vec<Hop>,
}

impl SecondHop {
    pub fn money(&self) -> Vec<Money> {
        self.hops.iter().map(|hop| hop.money.clone()).collect()
    }

    /// The step that a price went through, if it did. What is doubtful about the step is doubtful about the price, and
    /// no more can be traded than the step lets through: a pool full of a token is worth no more than what that token
    /// sells for. `direct` is what the token's pools with money say by themselves.
    pub fn explain(self, price: &mut Price, direct: Option<&Price>) -> Option<Hop> {
        let hop = self.hops.into_iter().find(|hop| hop.token == price.partner)?;
        let step = &hop.price;
        let is_contested = direct.is_some_and(|it| !price.usd.is_within(CONTESTED_BPS, it.usd));
        let more = step.doubts.iter().copied().chain(is_contested.then_some(Doubt::Contested));
        for doubt in more {
            if !price.doubts.contains(&doubt) {
                price.doubts.push(doubt);
            }
        }
        price.confidence = price.confidence.min(step.confidence);
        if is_contested
            || [Doubt::Thin, Doubt::SingleSource].iter().all(|it| price.doubts.contains(it))
        {
            price.confidence = Confidence::Low;
        }
        let through = step.partner_side_micro_usd;
        price.token_side_micro_usd = price.token_side_micro_usd.min(through);
        price.partner_side_micro_usd = price.partner_side_micro_usd.min(through);
        price.one_percent_micro_usd = price.one_percent_micro_usd.min(step.one_percent_micro_usd);
        Some(hop)
    }
}

impl StoredPools<'_> {
    /// Tokens that are no money and that most of the asked one is in a pool with, those first. Nobody knows yet what
    /// they are worth; how much of the asked token lies in a pool can be compared all the same.
    pub async fn steps(&self, q: &PoolQuery) -> Result<Vec<Address>, store::Error> {
        let mut pools = self.view.pools_of(self.chain.id, q.token).await?;
        pools.retain(|it| {
            let other = other_token(it, q.token);
            q.exchange.is_none_or(|only| only == it.factory) && !self.is_money(other)
        });
        pools.truncate(POOLS_MAX);
        let mut states = self.states(&pools, self.block).await?;
        states.sort_by_key(|it| (std::cmp::Reverse(amount_of(it, q.token)), it.pool.id));
        let mut steps = Vec::new();
        for at in &states {
            let other = other_token(&at.pool, q.token);
            if !steps.contains(&other) && steps.len() < STEPS_MAX {
                steps.push(other);
            }
        }
        Ok(steps)
    }

    /// The asked token's pools with these.
    pub async fn pools_with(
        &self,
        q: &PoolQuery,
        steps: &[Step],
    ) -> Result<Vec<PoolAt>, store::Error> {
        let pairs: Vec<_> = steps.iter().map(|step| (q.token, step.token)).collect();
        let mut pools = self.view.pools_between(self.chain.id, &pairs).await?;
        pools.retain(|it| q.exchange.is_none_or(|only| only == it.factory));
        pools.truncate(POOLS_MAX);
        self.with_before(self.states(&pools, self.block).await?).await
    }

    pub fn is_money(&self, token: Address) -> bool {
        let is_stable = self.table.stables.iter().any(|(stable, _)| *stable == token);
        is_stable || token == self.table.wrapped || token.is_zero()
    }
}

fn other_token(pool: &Pool, token: Address) -> Address {
    if pool.token0 == token { pool.token1 } else { pool.token0 }
}

/// How much of a token a pool has, or would have were its liquidity the same at every price.
fn amount_of(at: &PoolAt, token: Address) -> U256 {
    let is_first = at.pool.token0 == token;
    match &at.state {
        PoolState::Reserves { reserve0, reserve1 } => {
            if is_first {
                *reserve0
            } else {
                *reserve1
            }
        }
        PoolState::Ranged { sqrt_price, liquidity, .. } => {
            // The root has 160 bits and the liquidity 128: what does not fit is more than any pool has.
            let (root, liquidity) = (*sqrt_price, U256::from(*liquidity));
            if is_first {
                (liquidity << 96usize).checked_div(root).unwrap_or_default()
            } else {
                liquidity.checked_mul(root).map_or(U256::MAX, |it| it >> 96usize)
            }
        }
    }
}
