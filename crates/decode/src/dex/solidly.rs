//! Solidly and its copies (Aerodrome): pairs that follow one of two curves.

use alloy_primitives::{Address, B256, keccak256};
use model::chain::ExchangeKind;
use model::facts::{PoolId, PoolState};
use model::raw::Log;

use super::event::{Created, Event};
use super::v2;
use super::words::{address, boolean, topic, uint, words};

pub fn sync(log: &Log) -> Option<(PoolId, Event)> {
    topic(log, 1, 0)?;
    let [reserve0, reserve1] = words(log)?;
    let state =
        PoolState::Reserves { reserve0: uint(reserve0, 256)?, reserve1: uint(reserve1, 256)? };
    Some((PoolId::Contract(log.address?), Event::State(state)))
}

pub fn swap(log: &Log) -> Option<(PoolId, Event)> {
    Some((PoolId::Contract(log.address?), Event::Swap(v2::flow(log)?)))
}

/// As Velodrome v2 and Aerodrome say it.
pub fn pool_created(log: &Log) -> Option<(PoolId, Event)> {
    let [pool, _count] = words(log)?;
    created(topic(log, 4, 1)?, topic(log, 4, 2)?, topic(log, 4, 3)?, pool)
}

/// As Solidly and Velodrome v1 say it.
pub fn pair_created(log: &Log) -> Option<(PoolId, Event)> {
    let [stable, pair, _count] = words(log)?;
    created(topic(log, 3, 1)?, topic(log, 3, 2)?, stable, pair)
}

fn created(token0: B256, token1: B256, stable: B256, pool: B256) -> Option<(PoolId, Event)> {
    let created = Created {
        kinds: &[ExchangeKind::Solidly],
        token0: address(token0)?,
        token1: address(token1)?,
        fee: None,
        tick_spacing: None,
        hooks: Address::ZERO,
        stable: Some(boolean(stable)?),
        state: None,
    };
    Some((PoolId::Contract(address(pool)?), Event::Created(created)))
}

pub fn salt(token0: Address, token1: Address, stable: bool) -> B256 {
    let mut packed = Vec::with_capacity(41);
    packed.extend_from_slice(token0.as_slice());
    packed.extend_from_slice(token1.as_slice());
    packed.push(u8::from(stable));
    keccak256(packed)
}
