//! Which pools are the deepest is remembered between questions; that must not outlive the blocks and the
//! decoder it follows from.

use std::ops::Range;

use alloy_primitives::{B256, U256};
use model::raw::Log;

use crate::token_market::*;

/// More than are looked at for one price.
const POOLS: u32 = 20;

/// Pools of one price, each deeper than the one before, but for one that is deeper than all.
fn crowd(market: &TokenMarket, numbers: Range<u32>, deepest: Option<u32>) -> Vec<Log> {
    let depth = |n: u32| if deepest == Some(n) { 1_000_000 } else { u128::from(n + 1) * 1_000 };
    numbers.flat_map(|n| pool(market, n, depth(n)).1).collect()
}

fn pool(market: &TokenMarket, n: u32, depth: u128) -> (B256, Vec<Log>) {
    let tokens = (addr("TKN"), market.wrapped());
    let state = (U256::from(1) << 96usize, depth * E18);
    v4(market.factory("Uniswap v4"), tokens, addr(&format!("hook {n}")), state)
}

fn chosen(market: &TokenMarket) -> String {
    let answer = market.price(addr("TKN"), "explain=true&exchange=uniswapv4");
    answer["explain"]["pool"].as_str().unwrap().to_owned()
}

/// A market whose first block has the coin and the crowd, and of which a price was asked.
fn market(numbers: Range<u32>) -> TokenMarket {
    let setup = Setup { list: Some(list(&[("TKN", 18)])), ..Setup::default() };
    let mut market = TokenMarket::with(setup);
    let logs = [market.coin(), crowd(&market, numbers, None)].concat();
    market.block(logs);
    assert_eq!(chosen(&market), id(&market, POOLS - 1));
    market
}

fn id(market: &TokenMarket, n: u32) -> String {
    pool(market, n, 0).0.to_string()
}

#[test]
fn a_reorg_makes_another_pool_the_deepest() {
    let mut market = market(0..POOLS);
    market.revert();
    let logs = [market.coin(), crowd(&market, 0..POOLS, Some(0))].concat();
    market.block(logs);
    assert_eq!(chosen(&market), id(&market, 0));
}

#[test]
fn another_decoder_finds_another_pool_to_be_the_deepest() {
    let market = market(0..POOLS);
    market.redecode([market.coin(), crowd(&market, 0..POOLS, Some(0))].concat());
    assert_eq!(chosen(&market), id(&market, 0));
}

#[test]
fn history_brings_a_pool_that_is_the_deepest() {
    let mut market = market(1..POOLS);
    market.block_below(pool(&market, 0, 1_000_000).1);
    assert_eq!(chosen(&market), id(&market, 0));
}

#[test]
fn a_new_block_leaves_the_deepest_what_they_are() {
    let mut market = market(0..POOLS);
    for _ in 0..3 {
        market.block(Vec::new());
        assert_eq!(chosen(&market), id(&market, POOLS - 1));
    }
}
