//! Algebra (QuickSwap v3): liquidity in ranges without fee tiers, pools from a separate deployer. Its
//! pools speak as v3 pools do, its factory does not.

use alloy_primitives::{Address, B256, b256, keccak256};

use super::event::{Created, EventReader, PoolEvent};
use super::family::{Exchange, ExchangeKind, Family, PoolGuess};
use super::pool_terms::PoolTerms;
use super::v3;
use crate::abi::{address, joined, topic, words};
use crate::raw::Log;

pub static FAMILY: Family = Family {
    code: 5,
    name: "algebra",
    is_ranged: true,
    is_singleton: false,
    has_stable_curve: false,
    events: &[v3::INITIALIZE, v3::SWAP, v3::MINT, v3::BURN, POOL],
    prove,
    // Factory and pools are asked in words of their own.
    node_calls: None,
};

impl ExchangeKind {
    pub const ALGEBRA: ExchangeKind = ExchangeKind(&FAMILY);
}

pub const POOL: EventReader = EventReader {
    topic: b256!("91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db"),
    signature: "Pool(address,address,address)",
    read: pool,
};

fn pool(log: &Log) -> Option<PoolEvent> {
    let [pool] = words(log)?;
    let tokens = [address(topic(log, 3, 1)?)?, address(topic(log, 3, 2)?)?];
    // The fee moves with the market; it is not part of what the pool is.
    let created = Created { tokens, terms: PoolTerms::default(), state: None };
    Some(PoolEvent::created(address(pool)?, created))
}

fn prove(exchange: &Exchange, guess: &PoolGuess) -> Option<PoolTerms> {
    exchange.has_made(guess.id, salt(guess.tokens)).then(PoolTerms::default)
}

fn salt([token0, token1]: [Address; 2]) -> B256 {
    keccak256(joined(&[token0.into_word(), token1.into_word()]))
}
