//! A made-up chain with a native coin at 2000 dollars, and what its pools make of prices.

mod adversary;
mod ordinary;

use alloy_primitives::{Address, B256, U256, keccak256};

use super::square_root::square_root;
use super::*;
use crate::chain::ExchangeKind;
use crate::facts::{Pool, PoolId, PoolState};

pub const E18: u128 = 1_000_000_000_000_000_000;
pub const E6: u128 = 1_000_000;

pub fn addr(name: &str) -> Address {
    Address::from_word(keccak256(name))
}

pub fn table() -> PricingTable {
    PricingTable {
        wrapped: addr("WETH"),
        native_decimals: 18,
        stables: vec![(addr("USDC"), 6), (addr("USDT"), 6), (addr("DAI"), 18)],
        factories: ["v2", "v3", "v4", "solidly", "camelot", "sushi"].map(addr).to_vec(),
    }
}

/// A pair, its tokens by name and how much it holds of each.
pub fn pair(factory: &str, first: (&str, u128), second: (&str, u128)) -> PoolAt {
    let id = keccak256(format!("{factory}{first:?}{second:?}"));
    let ((token0, reserve0), (token1, reserve1)) = match addr(first.0) < addr(second.0) {
        true => (first, second),
        false => (second, first),
    };
    let kind = match factory {
        "solidly" => ExchangeKind::SOLIDLY,
        "camelot" => ExchangeKind::CAMELOT,
        _ => ExchangeKind::V2,
    };
    PoolAt {
        pool: Pool {
            id: PoolId::Contract(Address::from_word(id)),
            factory: addr(factory),
            kind,
            token0: addr(token0),
            token1: addr(token1),
            fee: None,
            tick_spacing: None,
            hooks: Address::ZERO,
            stable: (factory == "solidly").then_some(false),
        },
        state: PoolState::Reserves {
            reserve0: U256::from(reserve0),
            reserve1: U256::from(reserve1),
        },
        before: None,
        block: 100,
    }
}

/// A v3 pool with as much in range as a pair of these reserves would have.
pub fn ranged(spacing: i32, first: (&str, u128), second: (&str, u128)) -> PoolAt {
    let mut at = pair("v3", first, second);
    at.pool.kind = ExchangeKind::V3;
    at.pool.tick_spacing = Some(spacing);
    at.pool.id =
        PoolId::Contract(Address::from_word(keccak256(format!("{spacing}{:?}", at.pool.id))));
    let PoolState::Reserves { reserve0, reserve1 } = at.state else {
        panic!("a pair has reserves")
    };
    let wide = |it: U256| alloy_primitives::U512::from(it);
    let root = square_root((wide(reserve1) << 192usize) / wide(reserve0));
    let liquidity = square_root(wide(reserve0) * wide(reserve1));
    at.state = PoolState::Ranged { sqrt_price: root.to(), liquidity: liquidity.to(), tick: 0 };
    at
}

/// The same in v4, with or without a hook.
pub fn v4(hooks: &str, first: (&str, u128), second: (&str, u128)) -> PoolAt {
    let mut at = ranged(60, first, second);
    at.pool.kind = ExchangeKind::V4;
    at.pool.factory = addr("v4");
    at.pool.id = PoolId::V4(B256::from(keccak256(format!("{hooks}{:?}", at.pool.id))));
    at.pool.hooks = if hooks.is_empty() { Address::ZERO } else { addr(hooks) };
    at
}

/// The native coin is worth 2000 dollars by all three stables.
pub fn native_pools() -> Vec<PoolAt> {
    vec![
        pair("v2", ("WETH", 10_000 * E18), ("USDC", 20_000_000 * E6)),
        ranged(10, ("WETH", 90_000 * E18), ("USDC", 180_090_000 * E6)),
        pair("v2", ("WETH", 8_000 * E18), ("USDT", 16_010_000 * E6)),
        pair("sushi", ("WETH", 5_000 * E18), ("DAI", 9_990_000 * E18)),
    ]
}

pub fn ask(token: &str, decimals: u8, pools: &[PoolAt]) -> Result<Price, NoPrice> {
    ask_with(token, decimals, pools, &native_pools())
}

pub fn ask_with(
    token: &str,
    decimals: u8,
    pools: &[PoolAt],
    native_pools: &[PoolAt],
) -> Result<Price, NoPrice> {
    let question =
        Question { token: addr(token), decimals, exchange: None, pools, native_pools, via: &[] };
    price(&table(), &question, &Settings::default())
}

/// Within a thousandth of what is expected.
pub fn assert_about(price: &Price, usd: f64) {
    assert!((price.usd_price() / usd - 1.0).abs() < 1e-3, "{} instead of {usd}", price.usd_price());
}
