//! Algebra (QuickSwap v3): its pools speak as v3 pools do, its factory does not.

use alloy_primitives::{Address, B256, keccak256};
use model::chain::ExchangeKind;
use model::facts::PoolId;
use model::raw::Log;

use super::create2::joined;
use super::event::{Created, Event};
use super::words::{address, topic, words};

pub fn pool(log: &Log) -> Option<(PoolId, Event)> {
    let [pool] = words(log)?;
    let created = Created {
        kinds: &[ExchangeKind::Algebra],
        token0: address(topic(log, 3, 1)?)?,
        token1: address(topic(log, 3, 2)?)?,
        // The fee moves with the market; it is not part of what the pool is.
        fee: None,
        tick_spacing: None,
        hooks: Address::ZERO,
        stable: None,
        state: None,
    };
    Some((PoolId::Contract(address(pool)?), Event::Created(created)))
}

pub fn salt(token0: Address, token1: Address) -> B256 {
    keccak256(joined(&[token0.into_word(), token1.into_word()]))
}
