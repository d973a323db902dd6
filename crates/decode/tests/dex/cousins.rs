//! Pools that speak like those of another family: told apart by who made them and how.

use alloy_primitives::{Address, B256, U256, keccak256};
use decode::dex::Dex;
use model::chain::{Chain, Exchange, ExchangeKind};
use model::facts::{PoolId, PoolState};
use model::raw::Log;

use crate::attribution::address_of;
use crate::encode::*;

fn named<'a>(chain: &'a Chain, name: &str) -> &'a Exchange {
    chain.exchanges.iter().find(|it| it.name == name).expect("an exchange of the table")
}

#[test]
fn a_slipstream_pool_is_created_with_a_spacing_and_swaps_as_v3_does() {
    let base = chain("base");
    let factory = named(&base, "Aerodrome Slipstream").factory;
    let (token0, token1, pool) = (addr(1), addr(2), addr(3));
    let created = log(
        factory,
        "PoolCreated(address,address,int24,address)",
        &[token0.into_word(), token1.into_word(), signed(100)],
        &[pool.into_word()],
    );
    let root = U256::from(1) << 96usize;
    let block = block(vec![vec![created, swap_v3(pool, [7, -6], (root, 50, 0))]]);
    let swaps = Dex::new(&base).swaps(&block);
    let known = swaps[0].known.as_ref().unwrap();
    assert_eq!((known.kind, known.factory), (ExchangeKind::SLIPSTREAM, factory));
    assert_eq!((known.token0, known.token1), (token0, token1));
    assert_eq!((known.fee, known.tick_spacing), (None, Some(100)));
    assert_eq!(swaps[0].flow.amount0_in, U256::from(7));
    let state = PoolState::Ranged { sqrt_price: root, liquidity: 50, tick: 0 };
    assert_eq!(swaps[0].flow.state, Some(state));
}

#[test]
fn solidly_v3_tells_of_a_new_pool_in_the_words_of_v3() {
    let eth = chain("eth");
    let factory = named(&eth, "Solidly v3").factory;
    let pool = addr(3);
    let created = log(
        factory,
        "PoolCreated(address,address,uint24,int24,address)",
        &[addr(1).into_word(), addr(2).into_word(), word(500)],
        &[signed(10), pool.into_word()],
    );
    let facts = Dex::new(&eth).pools(&block(vec![vec![created]]));
    assert_eq!(
        (facts.seen[0].kind, facts.seen[0].tick_spacing),
        (ExchangeKind::SLIPSTREAM, Some(10))
    );
    assert_eq!(facts.seen[0].factory, factory);
}

#[test]
fn a_velodrome_pair_of_the_first_version_swaps_as_v2_does_and_is_proven_by_its_address() {
    let optimism = chain("optimism");
    let exchange = named(&optimism, "Velodrome v1");
    let (token0, token1) = (addr(1).min(addr(2)), addr(1).max(addr(2)));
    let pair = address_of(exchange, token0, token1, 0);
    let logs = vec![
        transfer(token0, addr(9), pair),
        transfer(token1, pair, addr(9)),
        log(pair, "Sync(uint256,uint256)", &[], &[word(50), word(60)]),
        swap_v2(pair, [5, 0, 0, 6]),
    ];
    let swaps = Dex::new(&optimism).swaps(&block(vec![logs]));
    let known = swaps[0].known.as_ref().unwrap();
    assert_eq!((known.factory, known.stable), (exchange.factory, Some(false)));
    let state = PoolState::Reserves { reserve0: U256::from(50), reserve1: U256::from(60) };
    assert_eq!(swaps[0].flow.state, Some(state));
}

/// A swap that this contract made in the v4 pool.
fn v4_swap(manager: Address, id: B256, sender: Address, fee: u32) -> Log {
    log(
        manager,
        "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
        &[id, sender.into_word()],
        &[signed(-5), signed(6), (U256::from(1) << 96usize).into(), word(9), signed(-1), word(fee)],
    )
}

#[test]
fn a_hook_that_trades_in_its_own_v4_pool_proves_the_pool() {
    let base = chain("base");
    let manager = base.exchange_named("uniswapv4").unwrap().factory;
    let (token0, token1) = (addr(1).min(addr(2)), addr(1).max(addr(2)));
    let (hook, router) = (addr(66), addr(901));
    let dex = Dex::new(&base);
    for (fee, spacing) in [(3000, 60), (30_000, 200), (30_000, 600)] {
        let key =
            [token0.into_word(), token1.into_word(), word(fee), signed(spacing), hook.into_word()];
        let id = keccak256(key.iter().flat_map(|it| it.0).collect::<Vec<u8>>());
        let moved = [transfer(token0, router, manager), transfer(token1, manager, router)];
        let of = |senders: &[Address]| {
            let swaps = senders.iter().map(|it| v4_swap(manager, id, *it, fee));
            dex.pools(&block(vec![moved.iter().cloned().chain(swaps).collect()]))
        };
        assert!(of(&[router]).seen.is_empty(), "a hook cannot be guessed");
        for facts in [of(&[router, hook]), of(&[hook, router])] {
            assert_eq!(facts.seen.len(), 1, "{fee} {spacing}");
            let pool = &facts.seen[0];
            assert_eq!((pool.id, pool.hooks), (PoolId::V4(id), hook));
            assert_eq!((pool.fee, pool.tick_spacing), (Some(fee), i32::try_from(spacing).ok()));
        }
    }
}
