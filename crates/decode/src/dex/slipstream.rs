//! Slipstream (Aerodrome, Velodrome) and Solidly v3: pools speak as v3 pools do, and one is told from
//! another of the same tokens by its tick spacing, not by its fee.

use alloy_primitives::{Address, B256};
use model::chain::ExchangeKind;
use model::facts::PoolId;
use model::raw::Log;

use super::event::{Created, Event};
use super::v3;
use super::words::{address, int24, topic, words};

pub fn pool_created(log: &Log) -> Option<(PoolId, Event)> {
    let [pool] = words(log)?;
    let created = Created {
        kinds: &[ExchangeKind::Slipstream],
        token0: address(topic(log, 4, 1)?)?,
        token1: address(topic(log, 4, 2)?)?,
        // The fee may be changed; it is not part of what the pool is.
        fee: None,
        tick_spacing: Some(int24(topic(log, 4, 3)?)?),
        hooks: Address::ZERO,
        stable: None,
        state: None,
    };
    Some((PoolId::Contract(address(pool)?), Event::Created(created)))
}

/// The spacing stands where v3 has the fee.
pub fn salt(token0: Address, token1: Address, spacing: u32) -> B256 {
    v3::salt(token0, token1, spacing)
}
