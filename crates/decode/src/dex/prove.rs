//! Whose pools these are: tries every two tokens that moved through a pool in one transaction.
//!
//! In: a pool and those tokens. Out: what the pool is, if a factory of the chain table made it.
//! What was once worked out is kept, as it can never turn out differently; the answer depends on the
//! question alone.

use alloy_primitives::map::HashMap;
use std::sync::{PoisonError, RwLock};

use alloy_primitives::Address;
use model::chain::{Chain, Exchange, ExchangeKind};
use model::facts::{Pool, PoolId};

use super::{create2, v4};

/// Tokens tried for one pool in one transaction. Two are usual; more are there to cost us time.
pub const TOKENS_MAX: usize = 6;
/// Pairs tried in one block, known ones included, lest the answer depend on what is known. Real blocks
/// need hundreds; the bound is a fifth of a second of hashing.
const PAIRS_MAX: u32 = 6_000;
/// When as many are kept, all are dropped: simple, and rare.
const KEPT_MAX: usize = 100_000;

/// A pool, two tokens, and for v4 the fee that a swap paid and who acted.
type Guess = (PoolId, Address, Address, Option<u32>, Option<Address>);

/// What is asked about a pool.
pub struct Suspect<'a> {
    pub id: PoolId,
    /// Whether it holds ranges of liquidity, and not plain reserves.
    pub ranged: bool,
    pub paid: Option<u32>,
    /// v4 only: who acted on the pool, which may be its own hook.
    pub actor: Option<Address>,
    pub tokens: &'a [Address],
}

pub struct Prover {
    exchanges: Vec<Exchange>,
    /// Pool ids are only unique inside one contract, so there can be but one.
    manager: Option<Address>,
    kept: RwLock<HashMap<Guess, Option<Pool>>>,
}

/// How many more pairs may be tried in the block at hand.
pub struct Patience(u32);

impl Default for Patience {
    fn default() -> Self {
        Patience(PAIRS_MAX)
    }
}

impl Prover {
    pub fn new(chain: &Chain) -> Prover {
        let exchanges = chain.exchanges.clone();
        let manager = exchanges.iter().find(|it| it.kind == ExchangeKind::V4).map(|it| it.factory);
        Prover { exchanges, manager, kept: RwLock::default() }
    }

    /// The one contract that holds the v4 pools.
    pub fn manager(&self) -> Option<Address> {
        self.manager
    }

    /// The exchange whose factory this is, if it makes pools of one of these kinds.
    pub fn factory(&self, address: Address, kinds: &[ExchangeKind]) -> Option<&Exchange> {
        self.exchanges.iter().find(|it| it.factory == address && kinds.contains(&it.kind))
    }

    pub fn prove(&self, suspect: &Suspect, patience: &mut Patience) -> Option<Pool> {
        for (n, first) in suspect.tokens.iter().enumerate() {
            for second in suspect.tokens.iter().skip(n + 1) {
                patience.0 = patience.0.checked_sub(1)?;
                let (token0, token1) = (first.min(second), first.max(second));
                if let Some(pool) = self.guess(suspect, *token0, *token1) {
                    return Some(pool);
                }
            }
        }
        None
    }

    fn guess(&self, suspect: &Suspect, token0: Address, token1: Address) -> Option<Pool> {
        let guess = (suspect.id, token0, token1, suspect.paid, suspect.actor);
        if let Some(known) = self.kept.read().unwrap_or_else(PoisonError::into_inner).get(&guess) {
            return known.clone();
        }
        let found = self.work_out(suspect, token0, token1);
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(guess, found.clone());
        found
    }

    fn work_out(&self, suspect: &Suspect, token0: Address, token1: Address) -> Option<Pool> {
        match suspect.id {
            PoolId::Contract(pool) => self
                .exchanges
                .iter()
                .filter(|it| is_ranged(it.kind) == suspect.ranged)
                .find_map(|it| create2::prove(it, pool, token0, token1)),
            PoolId::V4(id) => {
                let (fee, spacing, hooks) =
                    v4::guess(id, [token0, token1], suspect.paid, suspect.actor)?;
                Some(Pool {
                    id: suspect.id,
                    factory: self.manager?,
                    kind: ExchangeKind::V4,
                    token0,
                    token1,
                    fee: Some(fee),
                    tick_spacing: Some(spacing),
                    hooks,
                    stable: None,
                })
            }
        }
    }
}

fn is_ranged(kind: ExchangeKind) -> bool {
    match kind {
        ExchangeKind::V3 | ExchangeKind::V4 | ExchangeKind::Algebra | ExchangeKind::Slipstream => {
            true
        }
        ExchangeKind::V2 | ExchangeKind::Camelot | ExchangeKind::Solidly => false,
    }
}
