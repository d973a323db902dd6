//! What is asked of pricing, how strict it is, and why there may be no answer.

use alloy_primitives::Address;

use super::dropped::Dropped;
use super::money::Money;
use super::reading::PoolAt;

pub struct Question<'a> {
    pub token: Address,
    pub decimals: u8,
    /// Only pools of this factory may give the price; all may say what the native coin is worth.
    pub exchange: Option<Address>,
    /// The token's pools; others are ignored.
    pub pools: &'a [PoolAt],
    /// Pools of the native coin with stables.
    pub native_pools: &'a [PoolAt],
    /// Further tokens of known worth, for tokens that trade against nothing better: see `Price::money`.
    pub via: &'a [Money],
}

/// Amounts in millionths of a dollar, deviations in ten-thousandths.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Either side of a pool has to be worth this much to count.
    pub min_side_micro_usd: u128,
    /// Pools this close to the answer bear it out.
    pub agree_bps: u32,
    /// Pools further than this from the median are not believed.
    pub outlier_bps: u32,
    /// A stable further than this from a dollar has lost its peg.
    pub peg_bps: u32,
    /// Less than this surely within reach of the price is thin.
    pub thin_micro_usd: u128,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            min_side_micro_usd: 50_000_000,
            agree_bps: 200,
            outlier_bps: 1000,
            peg_bps: 200,
            thin_micro_usd: 100_000_000,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPrice {
    /// Why each pool was left out; empty where there was none.
    NotEnoughLiquidity(Vec<Dropped>),
    /// There are pools with the native coin, but nothing says what that is worth.
    NoNativeUsd(Vec<Dropped>),
}
