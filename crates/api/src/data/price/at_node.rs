//! Pools that the store does not know, asked of a node at a block: factories are asked for the pools of
//! a token with money, then the pools for what they hold. Two calls, whatever the number of pools. Which
//! functions are called is said by each family in `model::exchange_families`.

use std::sync::Arc;

use alloy_primitives::{Address, B256};
use model::abi::Words;
use model::chain::{Chain, ChainId, Exchange};
use model::facts::{Pool, PoolId, PoolState};
use model::price::{PoolAt, PricingTable};
use quick_cache::sync::Cache;

use super::partners;
use crate::contracts::{Answer, Ask, Contracts, Trouble};

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
    pub book: &'a PricingTable,
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
    let Some(calls) = &exchange.kind.node_calls else { return Vec::new() };
    let mut all = Vec::new();
    for other in partners {
        let tokens = [token.min(*other), token.max(*other)];
        for call in (calls.arguments)(exchange, tokens) {
            let ask = Ask::new(exchange.factory, calls.find_pool.selector, &call.arguments);
            let pool = Pool::new(PoolId::Contract(Address::ZERO), exchange, tokens, call.terms);
            all.push(Candidate { ask, pool });
        }
    }
    all
}

fn state_asks(pool: &Pool) -> Vec<Ask> {
    let PoolId::Contract(address) = pool.id else { return Vec::new() };
    let functions = pool.kind.node_calls.as_ref().map_or(&[][..], |calls| calls.state);
    functions.iter().map(|it| Ask::new(address, it.selector, &[])).collect()
}

/// None where the pool holds nothing or says what no pool can.
fn state(pool: &mut Pool, answers: &[Answer]) -> Option<PoolState> {
    let mut terms = pool.terms();
    let state = (pool.kind.node_calls.as_ref()?.read_state)(answers, &mut terms)?;
    pool.set_terms(terms);
    Some(state)
}
