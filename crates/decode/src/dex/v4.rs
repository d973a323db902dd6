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
/// The spacing that launchpads with hooks of their own choose, whatever the fee is.
const HOOKED_SPACING: i32 = 200;

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

/// Who acted on a v4 pool. A hook that trades in its own pool names itself so.
pub fn actor(id: PoolId, log: &Log) -> Option<Address> {
    matches!(id, PoolId::V4(_)).then(|| topic(log, 3, 2).and_then(address)).flatten()
}

/// Fee, tick spacing and hooks under which a pool of these tokens has this id. `paid` is what a swap
/// paid: the pool's own fee, if the protocol takes none. Hooks cannot be guessed, so they are none
/// or whoever acted on the pool.
pub fn guess(
    id: B256,
    [token0, token1]: [Address; 2],
    paid: Option<u32>,
    actor: Option<Address>,
) -> Option<(u32, i32, Address)> {
    let own = paid.map(|fee| (fee, i32::try_from(fee / 50).unwrap_or(0).max(1)));
    let plain = USUAL.into_iter().chain(own.filter(|own| !USUAL.contains(own)));
    let wide = paid.map(|fee| (fee, HOOKED_SPACING)).filter(|it| !USUAL.contains(it));
    let hooked = plain.clone().chain(wide);
    let all = plain.map(|(fee, spacing)| (fee, spacing, Address::ZERO));
    let of_actor = actor.map(|actor| hooked.map(move |(fee, spacing)| (fee, spacing, actor)));
    all.chain(of_actor.into_iter().flatten()).find(|(fee, spacing, hooks)| {
        let fee = U256::from(*fee).into();
        let spacing = U256::from(spacing.unsigned_abs()).into();
        let key = [token0.into_word(), token1.into_word(), fee, spacing, hooks.into_word()];
        keccak256(joined(&key)) == id
    })
}
