//! What a pool holds, and what a swap makes of it.

use alloy_primitives::{U256, U512};

/// 2 to the power of 96, by which pools write the root of their price.
const Q96: usize = 96;
const MILLION: u128 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holdings {
    /// Of which the product never falls.
    Pair { reserve0: u128, reserve1: u128 },
    /// One position over all prices.
    Ranged { sqrt_price: U256, liquidity: u128 },
}

/// One of a pool's two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    First,
    Second,
}

impl Side {
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// What belongs to this side and what to the other, of what is in the pool's order. And back.
    pub fn order<T>(self, [first, second]: [T; 2]) -> [T; 2] {
        match self {
            Self::First => [first, second],
            Self::Second => [second, first],
        }
    }
}

/// The other side's amount, and what is held afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swap {
    pub received: u128,
    pub after: Holdings,
}

impl Holdings {
    pub(super) fn pair([reserve0, reserve1]: [u128; 2]) -> Self {
        Self::Pair { reserve0, reserve1 }
    }

    pub(super) fn ranged([amount0, amount1]: [u128; 2]) -> Self {
        let (amount0, amount1) = (U512::from(amount0.max(1)), U512::from(amount1));
        let sqrt_price = square_root((amount1 << (2 * Q96)) / amount0);
        let liquidity = square_root(amount0 * amount1);
        Self::Ranged { sqrt_price: narrow(sqrt_price), liquidity: narrow_u128(liquidity) }
    }

    /// Of a position over all prices: what it holds, but for dust.
    pub fn reserves(&self) -> [u128; 2] {
        match *self {
            Self::Pair { reserve0, reserve1 } => [reserve0, reserve1],
            Self::Ranged { sqrt_price, liquidity } => {
                let (root, liquidity) = (U512::from(sqrt_price), U512::from(liquidity));
                let amount0 = (liquidity << Q96) / root.max(U512::ONE);
                [amount0, (liquidity * root) >> Q96].map(narrow_u128)
            }
        }
    }

    pub(super) fn swap(&self, side: Side, amount: u128, fee: u32) -> Swap {
        let works = U512::from(amount) * U512::from(MILLION - u128::from(fee));
        match *self {
            Self::Pair { reserve0, reserve1 } => {
                let [paid, other] = side.order([reserve0, reserve1]);
                let whole = U512::from(paid) * U512::from(MILLION) + works;
                let received = narrow_u128(works * U512::from(other) / whole);
                let after = side.order([paid + amount, other - received]);
                Swap { received, after: Self::pair(after) }
            }
            Self::Ranged { sqrt_price, liquidity } => {
                let works = works / U512::from(MILLION);
                let (root, depth) = (U512::from(sqrt_price), U512::from(liquidity));
                let (next, received) = match side {
                    Side::First => {
                        let next = (depth << Q96) * root / ((depth << Q96) + works * root);
                        (next, (depth * (root - next)) >> Q96)
                    }
                    Side::Second => {
                        let next = root + (works << Q96) / depth;
                        (next, (depth << Q96) * (next - root) / next / root)
                    }
                };
                let after = Self::Ranged { sqrt_price: narrow(next), liquidity };
                Swap { received: narrow_u128(received), after }
            }
        }
    }
}

/// The whole number of steps of a hundredth of a percent from a price of one.
pub(crate) fn tick_of(sqrt_price: U256) -> i32 {
    let root = f64::from(sqrt_price) / 2f64.powi(Q96 as i32);
    (2.0 * root.ln() / 1.0001f64.ln()).floor() as i32
}

/// Rounded down, by Newton's method from above.
fn square_root(number: U512) -> U512 {
    let mut root = U512::ONE << number.bit_len().div_ceil(2);
    loop {
        let next = (root + number / root) >> 1;
        if next >= root {
            return root;
        }
        root = next;
    }
}

fn narrow(wide: U512) -> U256 {
    wide.saturating_to()
}

fn narrow_u128(wide: U512) -> u128 {
    wide.saturating_to()
}
