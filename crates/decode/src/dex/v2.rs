//! Uniswap v2 and its copies: one pair per two tokens, reserves told after every change.

use alloy_primitives::{Address, B256, keccak256};
use model::chain::ExchangeKind;
use model::facts::{PoolId, PoolState};
use model::raw::Log;

use super::event::{Created, Event, Flow};
use super::words::{address, topic, uint, words};

pub fn sync(log: &Log) -> Option<(PoolId, Event)> {
    topic(log, 1, 0)?;
    let [reserve0, reserve1] = words(log)?;
    let state =
        PoolState::Reserves { reserve0: uint(reserve0, 112)?, reserve1: uint(reserve1, 112)? };
    Some((PoolId::Contract(log.address?), Event::State(state)))
}

pub fn swap(log: &Log) -> Option<(PoolId, Event)> {
    let flow = flow(log)?;
    Some((PoolId::Contract(log.address?), Event::Swap(flow)))
}

/// Sender and receiver are topics; the amounts come in the same order in all that is made after v2.
pub fn flow(log: &Log) -> Option<Flow> {
    let [in0, in1, out0, out1] = words(log)?;
    Some(Flow {
        amount0_in: uint(in0, 256)?,
        amount1_in: uint(in1, 256)?,
        amount0_out: uint(out0, 256)?,
        amount1_out: uint(out1, 256)?,
        sender: address(topic(log, 3, 1)?)?,
        to: Some(address(topic(log, 3, 2)?)?),
        state: None,
        fee: None,
    })
}

pub fn pair_created(log: &Log) -> Option<(PoolId, Event)> {
    let [pair, _count] = words(log)?;
    let created = Created {
        kinds: &[ExchangeKind::V2, ExchangeKind::Camelot],
        token0: address(topic(log, 3, 1)?)?,
        token1: address(topic(log, 3, 2)?)?,
        fee: None,
        tick_spacing: None,
        hooks: Address::ZERO,
        stable: None,
        state: None,
    };
    Some((PoolId::Contract(address(pair)?), Event::Created(created)))
}

pub fn salt(token0: Address, token1: Address) -> B256 {
    let mut packed = [0; 40];
    let (first, second) = packed.split_at_mut(20);
    first.copy_from_slice(token0.as_slice());
    second.copy_from_slice(token1.as_slice());
    keccak256(packed)
}
