//! Slipstream (Aerodrome, Velodrome) and Solidly v3: pools speak as v3 pools do, and one is told from
//! another of the same tokens by its tick spacing, not by its fee, which may change.

use alloy_primitives::b256;

use super::event::{Created, EventReader, PoolEvent};
use super::family::{Exchange, ExchangeKind, Family, PoolGuess};
use super::pool_terms::PoolTerms;
use super::v3;
use crate::abi::{address, int24, topic, words};
use crate::raw::Log;

pub static FAMILY: Family = Family {
    code: 6,
    name: "slipstream",
    is_ranged: true,
    is_singleton: false,
    has_stable_curve: false,
    // Solidly v3's factory says it in the words of v3.
    events: &[v3::INITIALIZE, v3::SWAP, v3::MINT, v3::BURN, v3::POOL_CREATED, POOL_CREATED],
    prove,
    // Factories take the spacing as another type than v3's take the fee.
    node_calls: None,
};

impl ExchangeKind {
    pub const SLIPSTREAM: ExchangeKind = ExchangeKind(&FAMILY);
}

pub const POOL_CREATED: EventReader = EventReader {
    topic: b256!("ab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2"),
    signature: "PoolCreated(address,address,int24,address)",
    read: pool_created,
};

fn pool_created(log: &Log) -> Option<PoolEvent> {
    let [pool] = words(log)?;
    let tokens = [address(topic(log, 4, 1)?)?, address(topic(log, 4, 2)?)?];
    let tick_spacing = Some(int24(topic(log, 4, 3)?)?);
    let terms = PoolTerms { tick_spacing, ..PoolTerms::default() };
    Some(PoolEvent::created(address(pool)?, Created { tokens, terms, state: None }))
}

fn prove(exchange: &Exchange, guess: &PoolGuess) -> Option<PoolTerms> {
    // The spacing stands where v3 has the fee.
    let made = |spacing: &&u32| exchange.has_made(guess.id, v3::salt(guess.tokens, **spacing));
    let spacing = *exchange.tick_spacings.iter().find(made)?;
    Some(PoolTerms { tick_spacing: i32::try_from(spacing).ok(), ..PoolTerms::default() })
}
