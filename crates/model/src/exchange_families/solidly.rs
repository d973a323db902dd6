//! Solidly and its copies (Aerodrome): volatile and stable pools, made as minimal proxies; each follows
//! one of two curves.

use alloy_primitives::{Address, B256, b256, keccak256};

use super::event::{Created, Event, EventReader, PoolEvent};
use super::family::{Exchange, ExchangeKind, Family, PoolGuess};
use super::pool_terms::PoolTerms;
use super::v2;
use crate::abi::{address, boolean, topic, uint, words};
use crate::facts::PoolState;
use crate::raw::Log;

pub static FAMILY: Family = Family {
    code: 4,
    name: "solidly",
    is_ranged: false,
    is_singleton: false,
    has_stable_curve: true,
    events: &[SYNC, SWAP, POOL_CREATED, PAIR_CREATED],
    prove,
    // Factories of the copies take the curve in different words.
    node_calls: None,
};

impl ExchangeKind {
    pub const SOLIDLY: ExchangeKind = ExchangeKind(&FAMILY);
}

pub const SYNC: EventReader = EventReader {
    topic: b256!("cf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a"),
    signature: "Sync(uint256,uint256)",
    read: sync,
};
pub const SWAP: EventReader = EventReader {
    topic: b256!("b3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b"),
    signature: "Swap(address,address,uint256,uint256,uint256,uint256)",
    read: |log| PoolEvent::of_emitter(log, Event::Swap(v2::flow(log)?)),
};
/// As Velodrome v2 and Aerodrome say it.
pub const POOL_CREATED: EventReader = EventReader {
    topic: b256!("2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e"),
    signature: "PoolCreated(address,address,bool,address,uint256)",
    read: pool_created,
};
/// As Solidly and Velodrome v1 say it.
pub const PAIR_CREATED: EventReader = EventReader {
    topic: b256!("c4805696c66d7cf352fc1d6bb633ad5ee82f6cb577c453024b6e0eb8306c6fc9"),
    signature: "PairCreated(address,address,bool,address,uint256)",
    read: pair_created,
};

fn sync(log: &Log) -> Option<PoolEvent> {
    topic(log, 1, 0)?;
    let [reserve0, reserve1] = words(log)?;
    let state =
        PoolState::Reserves { reserve0: uint(reserve0, 256)?, reserve1: uint(reserve1, 256)? };
    PoolEvent::of_emitter(log, Event::State(state))
}

fn pool_created(log: &Log) -> Option<PoolEvent> {
    let [pool, _count] = words(log)?;
    created([topic(log, 4, 1)?, topic(log, 4, 2)?], topic(log, 4, 3)?, pool)
}

fn pair_created(log: &Log) -> Option<PoolEvent> {
    let [stable, pair, _count] = words(log)?;
    created([topic(log, 3, 1)?, topic(log, 3, 2)?], stable, pair)
}

fn created([token0, token1]: [B256; 2], stable: B256, pool: B256) -> Option<PoolEvent> {
    let tokens = [address(token0)?, address(token1)?];
    let terms = PoolTerms { stable: Some(boolean(stable)?), ..PoolTerms::default() };
    Some(PoolEvent::created(address(pool)?, Created { tokens, terms, state: None }))
}

fn prove(exchange: &Exchange, guess: &PoolGuess) -> Option<PoolTerms> {
    let made = |stable: &bool| exchange.has_made(guess.id, salt(guess.tokens, *stable));
    let stable = [false, true].into_iter().find(made)?;
    Some(PoolTerms { stable: Some(stable), ..PoolTerms::default() })
}

fn salt([token0, token1]: [Address; 2], stable: bool) -> B256 {
    let mut packed = Vec::with_capacity(41);
    packed.extend_from_slice(token0.as_slice());
    packed.extend_from_slice(token1.as_slice());
    packed.push(u8::from(stable));
    keccak256(packed)
}
