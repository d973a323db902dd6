//! Uniswap v3 and its copies: liquidity in ranges of prices, one pool per two tokens and fee.

use alloy_primitives::{Address, B256, U256, keccak256};
use model::chain::ExchangeKind;
use model::facts::{PoolId, PoolState, RangeDelta};
use model::raw::Log;

use super::create2::joined;
use super::event::{Created, Event, Flow};
use super::words::{address, int24, int256, topic, uint, uint24, uint128, words};

/// Prices outside of these ticks cannot be held; the same bound in all that is made after v3.
const TICK_MAX: i32 = 887_272;

pub fn initialize(log: &Log) -> Option<(PoolId, Event)> {
    topic(log, 1, 0)?;
    let [sqrt_price, tick] = words(log)?;
    // Nothing can be added before the first price is set, so nothing is in range.
    let state = ranged(sqrt_price, 0, tick)?;
    Some((PoolId::Contract(log.address?), Event::State(state)))
}

pub fn swap(log: &Log) -> Option<(PoolId, Event)> {
    let [amount0, amount1, sqrt_price, liquidity, tick] = words(log)?;
    swapped(log, [amount0, amount1], ranged(sqrt_price, uint128(liquidity)?, tick)?)
}

/// PancakeSwap adds what the protocol took of each token.
pub fn swap_pancake(log: &Log) -> Option<(PoolId, Event)> {
    let [amount0, amount1, sqrt_price, liquidity, tick, _, _] = words(log)?;
    swapped(log, [amount0, amount1], ranged(sqrt_price, uint128(liquidity)?, tick)?)
}

fn swapped(log: &Log, amounts: [B256; 2], state: PoolState) -> Option<(PoolId, Event)> {
    let [amount0, amount1] = amounts.map(int256);
    let mut flow = Flow::of_pool(amount0, amount1, address(topic(log, 3, 1)?)?);
    flow.to = Some(address(topic(log, 3, 2)?)?);
    flow.state = Some(state);
    Some((PoolId::Contract(log.address?), Event::Swap(flow)))
}

pub fn mint(log: &Log) -> Option<(PoolId, Event)> {
    let [_sender, amount, _, _] = words(log)?;
    liquidity(log, i128::try_from(uint128(amount)?).ok()?)
}

pub fn burn(log: &Log) -> Option<(PoolId, Event)> {
    let [amount, _, _] = words(log)?;
    liquidity(log, i128::try_from(uint128(amount)?).ok()?.checked_neg()?)
}

fn liquidity(log: &Log, delta: i128) -> Option<(PoolId, Event)> {
    let range =
        RangeDelta { lower: int24(topic(log, 4, 2)?)?, upper: int24(topic(log, 4, 3)?)?, delta };
    Some((PoolId::Contract(log.address?), Event::Liquidity(range)))
}

pub fn pool_created(log: &Log) -> Option<(PoolId, Event)> {
    let [spacing, pool] = words(log)?;
    let created = Created {
        // Solidly v3's factory says it in the same words.
        kinds: &[ExchangeKind::V3, ExchangeKind::Slipstream],
        token0: address(topic(log, 4, 1)?)?,
        token1: address(topic(log, 4, 2)?)?,
        fee: Some(uint24(topic(log, 4, 3)?)?),
        tick_spacing: Some(int24(spacing)?),
        hooks: Address::ZERO,
        stable: None,
        state: None,
    };
    Some((PoolId::Contract(address(pool)?), Event::Created(created)))
}

/// What v3, v4 and Algebra hold, if such a price can be.
pub fn ranged(sqrt_price: B256, liquidity: u128, tick: B256) -> Option<PoolState> {
    let sqrt_price = uint(sqrt_price, 160).filter(|root| *root != U256::ZERO)?;
    let tick = int24(tick).filter(|tick| tick.abs() <= TICK_MAX)?;
    Some(PoolState::Ranged { sqrt_price, liquidity, tick })
}

pub fn salt(token0: Address, token1: Address, fee: u32) -> B256 {
    let fee = U256::from(fee).into();
    keccak256(joined(&[token0.into_word(), token1.into_word(), fee]))
}
