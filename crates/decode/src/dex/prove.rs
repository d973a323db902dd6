//! Whose pools these are: tries every two tokens that moved through a pool in one transaction.
//!
//! In: a pool and those tokens. Out: what the pool is, if a factory of the chain table made it.
//! What was once worked out is cached, as it can never turn out differently; the answer depends on the
//! candidate alone. Must not know the families: each says itself how its pools are proven.

use alloy_primitives::{Address, B256};
use model::chain::{Chain, Exchange};
use model::exchange_families::PoolGuess;
use model::facts::{Pool, PoolId};
use quick_cache::sync::Cache;

/// Pairs tried in one block, cached ones included, lest the answer depend on the cache. Real blocks need
/// hundreds; the bound is a fifth of a second of hashing.
const PAIRS_MAX: u32 = 6_000;
/// Guesses remembered, right and wrong.
const CACHED_MAX: usize = 100_000;

/// A pool, two tokens, and for pools in one contract the fee that a swap paid and who acted.
type GuessKey = (PoolId, [Address; 2], Option<u32>, Option<Address>);

/// A pool that may be of an exchange.
pub struct PoolCandidate<'a> {
    pub id: PoolId,
    /// Who emitted the event: the pool itself, or the one contract that holds it.
    pub emitter: Address,
    /// Whether it holds ranges of liquidity, and not plain reserves.
    pub ranged: bool,
    pub paid: Option<u32>,
    pub actor: Option<Address>,
    /// Those that moved; in any order.
    pub tokens: &'a [Address],
}

pub struct Prover {
    exchanges: Vec<Exchange>,
    cache: Cache<GuessKey, Option<Pool>>,
}

/// How many more pairs may be tried in the block at hand.
pub struct HashBudget(u32);

impl Default for HashBudget {
    fn default() -> Self {
        HashBudget(PAIRS_MAX)
    }
}

impl Prover {
    pub fn new(chain: &Chain) -> Prover {
        let mut exchanges = chain.exchanges.clone();
        // Pool ids are only unique inside one contract, so of each such family there can be but one.
        let mut known = Vec::new();
        exchanges.retain(|it| {
            let is_second = it.kind.is_singleton && known.contains(&it.kind);
            known.push(it.kind);
            !is_second
        });
        Prover { exchanges, cache: Cache::new(CACHED_MAX) }
    }

    /// The exchange whose factory this is, if its family has this event.
    pub fn factory(&self, address: Address, topic: B256) -> Option<&Exchange> {
        self.exchanges.iter().find(|it| it.factory == address && it.kind.has_event(topic))
    }

    pub fn prove(&self, candidate: &PoolCandidate, budget: &mut HashBudget) -> Option<Pool> {
        for (n, first) in candidate.tokens.iter().enumerate() {
            for second in candidate.tokens.iter().skip(n + 1) {
                budget.0 = budget.0.checked_sub(1)?;
                let tokens = [*first.min(second), *first.max(second)];
                if let Some(pool) = self.cached(candidate, tokens) {
                    return Some(pool);
                }
            }
        }
        None
    }

    fn cached(&self, candidate: &PoolCandidate, tokens: [Address; 2]) -> Option<Pool> {
        let key = (candidate.id, tokens, candidate.paid, candidate.actor);
        if let Some(known) = self.cache.get(&key) {
            return known;
        }
        let found = self.derive(candidate, tokens);
        self.cache.insert(key, found.clone());
        found
    }

    fn derive(&self, candidate: &PoolCandidate, tokens: [Address; 2]) -> Option<Pool> {
        let PoolCandidate { id, paid, actor, .. } = *candidate;
        let guess = PoolGuess { id, tokens, paid, actor };
        let may_be_of = |it: &&Exchange| {
            let is_home = match id {
                PoolId::Contract(_) => !it.kind.is_singleton,
                PoolId::V4(_) => it.kind.is_singleton && it.factory == candidate.emitter,
            };
            is_home && it.kind.is_ranged == candidate.ranged
        };
        self.exchanges.iter().filter(may_be_of).find_map(|exchange| {
            let terms = (exchange.kind.prove)(exchange, &guess)?;
            Some(Pool::new(id, exchange, tokens, terms))
        })
    }
}
