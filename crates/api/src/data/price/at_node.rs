//! Pools that the store does not know, asked of a node at a block: factories are asked for the pools of
//! a token with money, then the pools for what they hold. Two calls, whatever the number of pools.

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};
use model::abi::Words;
use model::chain::{Chain, ChainId, Exchange, ExchangeKind};
use model::facts::{Pool, PoolId, PoolState};
use model::price::{Book, PoolAt};
use quick_cache::sync::Cache;

use super::partners;
use crate::contracts::{Answer, Ask, Contracts, Trouble};

const GET_PAIR: [u8; 4] = [0xe6, 0xa4, 0x39, 0x05];
const GET_POOL: [u8; 4] = [0x16, 0x98, 0xee, 0x82];
const GET_RESERVES: [u8; 4] = [0x09, 0x02, 0xf1, 0xac];
const SLOT0: [u8; 4] = [0x38, 0x50, 0xc7, 0xbd];
const LIQUIDITY: [u8; 4] = [0x1a, 0x68, 0x65, 0x02];
const TICK_SPACING: [u8; 4] = [0xd0, 0xc9, 0x3a, 0x7c];

/// What was asked at a block; the hash where the store knows it, so that a reorg is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Where {
    pub chain: ChainId,
    pub block: u64,
    pub hash: Option<B256>,
}

/// Answers of nodes, kept by block.
pub struct NodePools(Cache<(Where, Address, Option<Address>), Arc<Vec<PoolAt>>>);

impl Default for NodePools {
    fn default() -> Self {
        NodePools(Cache::new(4_096))
    }
}

/// Whom to ask about what.
pub struct AskNode<'a> {
    pub contracts: &'a Contracts,
    pub pool: &'a rpc::Pool,
    pub chain: &'a Chain,
    pub book: &'a Book,
    pub at: Where,
}

impl AskNode<'_> {
    pub async fn pools(
        &self,
        kept: &NodePools,
        token: Address,
        exchange: Option<Address>,
    ) -> Result<Arc<Vec<PoolAt>>, Trouble> {
        let key = (self.at, token, exchange);
        let asked = kept.0.get_or_insert_async(&key, async {
            let exchanges =
                self.chain.exchanges.iter().filter(|it| exchange.is_none_or(|f| f == it.factory));
            let partners = partners(self.book, token);
            let questions: Vec<Candidate> =
                exchanges.flat_map(|it| candidates(it, token, &partners)).collect();
            let pools = self.found(questions).await?;
            self.states(pools).await.map(Arc::new)
        });
        asked.await
    }

    async fn found(&self, candidates: Vec<Candidate>) -> Result<Vec<Pool>, Trouble> {
        let asks: Vec<Ask> = candidates.iter().map(|it| it.ask.clone()).collect();
        let answers = self.contracts.ask(self.pool, &asks, Some(self.at.block)).await?;
        let pool = |(candidate, answer): (Candidate, Answer)| {
            let address = Words(&answer?).address(0).filter(|it| !it.is_zero())?;
            Some(Pool { id: PoolId::Contract(address), ..candidate.pool })
        };
        let mut pools: Vec<Pool> = candidates.into_iter().zip(answers).filter_map(pool).collect();
        // A factory that answers every question with the same pool gets one voice.
        pools.sort_by_key(|it| it.id);
        pools.dedup_by_key(|it| it.id);
        Ok(pools)
    }

    async fn states(&self, pools: Vec<Pool>) -> Result<Vec<PoolAt>, Trouble> {
        let asks: Vec<Ask> = pools.iter().flat_map(state_asks).collect();
        let answers = self.contracts.ask(self.pool, &asks, Some(self.at.block)).await?;
        let mut answers = answers.into_iter();
        let mut found = Vec::new();
        for mut pool in pools {
            let mine: Vec<Answer> = answers.by_ref().take(state_asks(&pool).len()).collect();
            if let Some(state) = state(&mut pool, &mine) {
                found.push(PoolAt { pool, state, before: None, block: self.at.block });
            }
        }
        Ok(found)
    }
}

/// A pool that there may be.
struct Candidate {
    ask: Ask,
    pool: Pool,
}

fn candidates(exchange: &Exchange, token: Address, partners: &[Address]) -> Vec<Candidate> {
    let pair = |other: &Address| (token.min(*other), token.max(*other));
    let fees: Vec<Option<u32>> = match exchange.kind {
        ExchangeKind::V2 | ExchangeKind::Camelot => vec![None],
        ExchangeKind::V3 => exchange.fees.iter().copied().map(Some).collect(),
        // Their pools cannot be asked for by their tokens alone, or in other words.
        ExchangeKind::V4
        | ExchangeKind::Solidly
        | ExchangeKind::Algebra
        | ExchangeKind::Slipstream => Vec::new(),
    };
    let mut all = Vec::new();
    for (token0, token1) in partners.iter().map(pair) {
        for fee in &fees {
            let mut words = vec![token0.into_word(), token1.into_word()];
            words.extend(fee.map(|it| B256::from(U256::from(it))));
            let selector = if fee.is_some() { GET_POOL } else { GET_PAIR };
            let pool = Pool {
                id: PoolId::Contract(Address::ZERO),
                factory: exchange.factory,
                kind: exchange.kind,
                token0,
                token1,
                fee: *fee,
                tick_spacing: None,
                hooks: Address::ZERO,
                stable: None,
            };
            all.push(Candidate { ask: Ask::new(exchange.factory, selector, &words), pool });
        }
    }
    all
}

fn state_asks(pool: &Pool) -> Vec<Ask> {
    let PoolId::Contract(address) = pool.id else { return Vec::new() };
    let selectors: &[[u8; 4]] = match pool.kind {
        ExchangeKind::V3 => &[SLOT0, LIQUIDITY, TICK_SPACING],
        _ => &[GET_RESERVES],
    };
    selectors.iter().map(|it| Ask::new(address, *it, &[])).collect()
}

/// None where the pool holds nothing or says what no pool can.
fn state(pool: &mut Pool, answers: &[Answer]) -> Option<PoolState> {
    let first = answers.first()?.as_deref()?;
    let at_most = |word: U256, bits: usize| (word.bit_len() <= bits).then_some(word);
    if pool.kind != ExchangeKind::V3 {
        let reserve0 = at_most(Words(first).uint(0)?, 112)?;
        let reserve1 = at_most(Words(first).uint(1)?, 112)?;
        return Some(PoolState::Reserves { reserve0, reserve1 });
    }
    let liquidity = Words(answers.get(1)?.as_deref()?).uint(0)?;
    let spacing = answers.get(2).and_then(Option::as_deref).and_then(|it| Words(it).uint(0));
    pool.tick_spacing = spacing.and_then(|it| i32::try_from(it).ok());
    Some(PoolState::Ranged {
        sqrt_price: at_most(Words(first).uint(0)?, 160)?,
        liquidity: u128::try_from(liquidity).ok()?,
        // The lowest 24 bits with their sign; prices do not need it.
        tick: (Words(first).uint(1)?.as_limbs().first().copied()? as i32) << 8 >> 8,
    })
}

#[cfg(test)]
mod tests {
    use alloy_primitives::keccak256;

    use super::*;

    #[test]
    fn selectors_are_those_of_the_functions() {
        for (selector, signature) in [
            (GET_PAIR, "getPair(address,address)"),
            (GET_POOL, "getPool(address,address,uint24)"),
            (GET_RESERVES, "getReserves()"),
            (SLOT0, "slot0()"),
            (LIQUIDITY, "liquidity()"),
            (TICK_SPACING, "tickSpacing()"),
        ] {
            assert_eq!(selector, keccak256(signature)[..4], "{signature}");
        }
    }
}
