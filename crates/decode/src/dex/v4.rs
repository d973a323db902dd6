//! Uniswap v4: all pools live in one contract and go by the hash of what they are.
//!
//! That hash proves a pool's tokens without any factory: whoever guesses them can check the guess.

use alloy_primitives::{Address, B256, I256, U256, keccak256};
use model::chain::ExchangeKind;
use model::facts::{PoolId, RangeDelta};
use model::raw::Log;

use super::create2::joined;
use super::event::{Created, Event, Flow};
use super::v3::ranged;
use super::words::{address, int24, int128, topic, uint24, uint128, words};

/// Fee and tick spacing that most pools without hooks are made with.
const USUAL: [(u32, i32); 4] = [(100, 1), (500, 10), (3000, 60), (10_000, 200)];

pub fn initialize(log: &Log) -> Option<(PoolId, Event)> {
    let [fee, spacing, hooks, sqrt_price, tick] = words(log)?;
    let created = Created {
        kinds: &[ExchangeKind::V4],
        token0: address(topic(log, 4, 2)?)?,
        token1: address(topic(log, 4, 3)?)?,
        fee: Some(uint24(fee)?),
        tick_spacing: Some(int24(spacing)?),
        hooks: address(hooks)?,
        stable: None,
        state: Some(ranged(sqrt_price, 0, tick)?),
    };
    Some((PoolId::V4(topic(log, 4, 1)?), Event::Created(created)))
}

pub fn swap(log: &Log) -> Option<(PoolId, Event)> {
    let [amount0, amount1, sqrt_price, liquidity, tick, fee] = words(log)?;
    // Told from the swapper's side, unlike in v3: what is negative went into the pool.
    let received = |word| I256::try_from(int128(word)?.checked_neg()?).ok();
    let sender = address(topic(log, 3, 2)?)?;
    let mut flow = Flow::of_pool(received(amount0)?, received(amount1)?, sender);
    flow.state = Some(ranged(sqrt_price, uint128(liquidity)?, tick)?);
    flow.fee = Some(uint24(fee)?);
    Some((PoolId::V4(topic(log, 3, 1)?), Event::Swap(flow)))
}

pub fn modify_liquidity(log: &Log) -> Option<(PoolId, Event)> {
    let [lower, upper, delta, _salt] = words(log)?;
    let range = RangeDelta { lower: int24(lower)?, upper: int24(upper)?, delta: int128(delta)? };
    Some((PoolId::V4(topic(log, 3, 1)?), Event::Liquidity(range)))
}

/// Fee and tick spacing under which a pool of these tokens without hooks has this id. `paid` is what
/// a swap paid: the pool's own fee, if the protocol takes none.
pub fn guess(id: B256, token0: Address, token1: Address, paid: Option<u32>) -> Option<(u32, i32)> {
    let own = paid.map(|fee| (fee, i32::try_from(fee / 50).unwrap_or(0).max(1)));
    let guesses = USUAL.into_iter().chain(own.filter(|own| !USUAL.contains(own)));
    guesses.into_iter().find(|(fee, spacing)| {
        let fee = U256::from(*fee).into();
        let spacing = U256::from(spacing.unsigned_abs()).into();
        let key = [token0.into_word(), token1.into_word(), fee, spacing, B256::ZERO];
        keccak256(joined(&key)) == id
    })
}
