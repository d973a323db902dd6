//! Pools that the store does not know, asked of a node at a block: factories are asked for the pools of
//! a token with money, then the pools for what they hold. Two calls, whatever the number of pools. Which
//! functions are called is said by each family in `model::exchange_families`.

use std::sync::Arc;

use alloy_primitives::{Address, B256};
use model::abi::Words;
use model::chain::{Chain, Exchange};
use model::facts::{Pool, PoolId, PoolState};
use model::price::{PoolAt, PricingTable};

use super::memory::{NodeKey, PriceMemory};
use super::pairs::partners;
use crate::contracts::{CallError, ContractCall, Contracts, ReturnData};

/// Which node is asked, and at which block.
pub struct NodePools<'a> {
    pub contracts: &'a Contracts,
    pub upstreams: &'a rpc::Pool,
    pub memory: &'a PriceMemory,
    pub chain: &'a Chain,
    pub table: &'a PricingTable,
    pub block: u64,
    pub hash: Option<B256>,
}

impl NodePools<'_> {
    /// Pools of a token with money. Whoever wants the same meanwhile waits for this answer.
    pub async fn pools(
        &self,
        token: Address,
        exchange: Option<Address>,
    ) -> Result<Arc<Vec<PoolAt>>, CallError> {
        let (chain, block, hash) = (self.chain.id, self.block, self.hash);
        let key = NodeKey { chain, block, hash, token, exchange };
        let asked = self.memory.node.get_or_insert_async(&key, async {
            let exchanges =
                self.chain.exchanges.iter().filter(|it| exchange.is_none_or(|f| f == it.factory));
            let partners = partners(self.table, token);
            let candidates: Vec<Candidate> =
                exchanges.flat_map(|it| candidates(it, token, &partners)).collect();
            let pools = self.found(candidates).await?;
            self.states(pools).await.map(Arc::new)
        });
        asked.await
    }

    async fn found(&self, candidates: Vec<Candidate>) -> Result<Vec<Pool>, CallError> {
        let calls: Vec<ContractCall> = candidates.iter().map(|it| it.call.clone()).collect();
        let answers = self.contracts.call(self.upstreams, &calls, Some(self.block)).await?;
        let pool = |(candidate, answer): (Candidate, ReturnData)| {
            let address = Words(&answer?).address(0).filter(|it| !it.is_zero())?;
            Some(Pool { id: PoolId::Contract(address), ..candidate.pool })
        };
        let mut pools: Vec<Pool> = candidates.into_iter().zip(answers).filter_map(pool).collect();
        // A factory that answers every question with the same pool counts once.
        pools.sort_by_key(|it| it.id);
        pools.dedup_by_key(|it| it.id);
        Ok(pools)
    }

    async fn states(&self, pools: Vec<Pool>) -> Result<Vec<PoolAt>, CallError> {
        let calls: Vec<ContractCall> = pools.iter().flat_map(state_calls).collect();
        let answers = self.contracts.call(self.upstreams, &calls, Some(self.block)).await?;
        let mut answers = answers.into_iter();
        let mut found = Vec::new();
        for mut pool in pools {
            let mine: Vec<ReturnData> = answers.by_ref().take(state_calls(&pool).len()).collect();
            if let Some(state) = state(&mut pool, &mine) {
                found.push(PoolAt { pool, state, before: None, block: self.block });
            }
        }
        Ok(found)
    }
}

/// A pool that there may be.
struct Candidate {
    call: ContractCall,
    pool: Pool,
}

fn candidates(exchange: &Exchange, token: Address, partners: &[Address]) -> Vec<Candidate> {
    let Some(calls) = &exchange.kind.node_calls else { return Vec::new() };
    let mut all = Vec::new();
    for other in partners {
        let tokens = [token.min(*other), token.max(*other)];
        for call in (calls.arguments)(exchange, tokens) {
            let find =
                ContractCall::new(exchange.factory, calls.find_pool.selector, &call.arguments);
            let pool = Pool::new(PoolId::Contract(Address::ZERO), exchange, tokens, call.terms);
            all.push(Candidate { call: find, pool });
        }
    }
    all
}

fn state_calls(pool: &Pool) -> Vec<ContractCall> {
    let PoolId::Contract(address) = pool.id else { return Vec::new() };
    let functions = pool.kind.node_calls.as_ref().map_or(&[][..], |calls| calls.state);
    functions.iter().map(|it| ContractCall::new(address, it.selector, &[])).collect()
}

/// None where the pool holds nothing or says what no pool can.
fn state(pool: &mut Pool, answers: &[ReturnData]) -> Option<PoolState> {
    let mut terms = pool.terms();
    let state = (pool.kind.node_calls.as_ref()?.read_state)(answers, &mut terms)?;
    pool.set_terms(terms);
    Some(state)
}
