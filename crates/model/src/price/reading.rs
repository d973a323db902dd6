//! What one pool says by itself: the other token's amount per unit of the asked one, and how much of
//! both stands behind that.

use alloy_primitives::{Address, U256, U512};

use super::ratio::Ratio;
use crate::facts::{Pool, PoolId, PoolState};

/// A pool and what it held at the asked block.
#[derive(Clone, Debug)]
pub struct PoolAt {
    pub pool: Pool,
    pub state: PoolState,
    /// What it held some blocks earlier, if known: tells a lasting price from a push.
    pub before: Option<PoolState>,
    /// The block of the last change.
    pub block: u64,
}

/// All amounts in the tokens' smallest units.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Units of the other token per unit of the asked one.
    pub price: Ratio,
    /// What can be traded on either side: reserves, or what lies within ±2 % if liquidity is there as
    /// deep as at the price.
    pub token_side: U256,
    pub other_side: U256,
    /// What surely lies within reach of the price. Liquidity cannot be put in a narrower range than the
    /// pool's tick spacing, so this much is really there, and a tiny position that looks deep does not.
    /// In billionths, so that tokens without decimals do not round to nothing.
    pub token_depth: U512,
    pub other_depth: U256,
    /// Of the other token, to push the price up by 1 %.
    pub one_percent: U256,
}

const TRADABLE_BPS: u32 = 200;

/// The decimals of the asked token and of the other one.
pub type Decimals = (u8, u8);

/// `None` where the pool is empty or holds numbers that no pool can.
pub fn read(pool: &Pool, state: &PoolState, token: Address, decimals: Decimals) -> Option<Reading> {
    let first = pool.token0 == token;
    match state {
        PoolState::Reserves { reserve0, reserve1 } => {
            let (mine, other) = if first { (reserve0, reserve1) } else { (reserve1, reserve0) };
            let price = match pool.stable {
                Some(true) => stable_price(*mine, *other, decimals)?,
                _ => Ratio::new(*other, *mine)?,
            };
            Some(Reading {
                price,
                token_side: *mine,
                other_side: *other,
                token_depth: billionths(*mine, TRADABLE_BPS),
                other_depth: share(*other, TRADABLE_BPS),
                one_percent: share(*other, 100),
            })
        }
        PoolState::Ranged { sqrt_price, liquidity, .. } => {
            let (root, liquidity) = (U512::from(*sqrt_price), U512::from(*liquidity));
            // As if the liquidity in range were a v2 pair's: x·y = L², y/x = price.
            let amount0 = (liquidity << 96usize).checked_div(root)?.saturating_to::<U256>();
            let amount1 = ((liquidity * root) >> 96usize).saturating_to::<U256>();
            let price0 = Ratio::wide(root * root, U512::from(1) << 192usize)?;
            let (mine, other) = if first { (amount0, amount1) } else { (amount1, amount0) };
            let reach = reach_bps(pool);
            Some(Reading {
                price: if first { price0 } else { price0.inverse() },
                token_side: share(mine, TRADABLE_BPS),
                other_side: share(other, TRADABLE_BPS),
                token_depth: billionths(mine, reach),
                other_depth: share(other, reach),
                one_percent: share(other, 100),
            })
        }
    }
}

/// One tick is a ten-thousandth. Not told: taken as the least there is.
fn reach_bps(pool: &Pool) -> u32 {
    let spacing = pool.tick_spacing.and_then(|it| u32::try_from(it).ok()).unwrap_or(1);
    spacing.clamp(1, TRADABLE_BPS)
}

/// The part of a v2 reserve that a move of the price by so much takes: √(1 + d) − 1.
fn share(amount: U256, bps: u32) -> U256 {
    (billionths(amount, bps) / U512::from(1_000_000_000)).saturating_to::<U256>()
}

fn billionths(amount: U256, bps: u32) -> U512 {
    let root = (u128::from(10_000 + bps) * 100_000_000_000_000).isqrt();
    U512::from(amount) * U512::from(root.saturating_sub(1_000_000_000))
}

/// The slope of x³y + xy³ = k, with both sides counted in whole tokens, as Solidly does.
fn stable_price(mine: U256, other: U256, decimals: Decimals) -> Option<Ratio> {
    let (up, down) = (i32::from(decimals.0), i32::from(decimals.1));
    // To the same number of decimals on both sides; how many does not matter for the slope.
    let widen = |amount: U256, by: i32| {
        let factor = U256::from(10).checked_pow(U256::from(by.max(0)))?;
        amount.checked_mul(factor).filter(|it| it.bit_len() <= 168 && !it.is_zero())
    };
    let (x, y) = (U512::from(widen(mine, down - up)?), U512::from(widen(other, up - down)?));
    let three = U512::from(3);
    let slope = Ratio::wide(y * (three * x * x + y * y), x * (x * x + three * y * y))?;
    Some(slope.times(Ratio::power_of_ten(down - up)))
}

/// Reasons in what the pool is, not in what it holds, to believe it less.
pub fn is_hooked(pool: &Pool) -> bool {
    !pool.hooks.is_zero()
}

/// Some pairs can follow the stable curve, which their reserves do not tell.
pub fn curve_is_unknown(pool: &Pool) -> bool {
    pool.stable.is_none() && pool.kind.has_stable_curve
}

/// The other token, with the native coin of v4 as its wrapped form; `None` if the asked one is not in.
pub fn partner(pool: &Pool, token: Address, wrapped: Address) -> Option<Address> {
    let (token0, token1) =
        (as_wrapped(pool, pool.token0, wrapped), as_wrapped(pool, pool.token1, wrapped));
    let other = if token0 == token { token1 } else { token0 };
    (token0 == token || token1 == token).then_some(other).filter(|it| *it != token)
}

/// How the pool itself names the asked token.
pub fn own_name(pool: &Pool, token: Address, wrapped: Address) -> Address {
    if as_wrapped(pool, pool.token0, wrapped) == token { pool.token0 } else { pool.token1 }
}

fn as_wrapped(pool: &Pool, token: Address, wrapped: Address) -> Address {
    if token.is_zero() && matches!(pool.id, PoolId::V4(_)) { wrapped } else { token }
}
