//! Pools made to mislead, and tokens made to overflow: no wrong price is told with confidence.

use proptest::prelude::*;

use super::*;

fn honest() -> Vec<PoolAt> {
    vec![
        pair("v2", ("TKN", 1_000_000 * E18), ("WETH", 1_000 * E18)),
        pair("sushi", ("TKN", 300_000 * E18), ("WETH", 301 * E18)),
        ranged(60, ("TKN", 900_000 * E18), ("USDC", 1_800_000 * E6)),
    ]
}

/// The pair after a swap that multiplied its price.
fn pushed(at: &PoolAt, root_of_factor: u64) -> PoolAt {
    let mut after = at.clone();
    after.before = Some(at.state.clone());
    let (first, factor) = (at.pool.token0 == addr("TKN"), U256::from(root_of_factor));
    match &mut after.state {
        PoolState::Reserves { reserve0, reserve1 } => {
            let (mine, other) = if first { (reserve0, reserve1) } else { (reserve1, reserve0) };
            (*mine, *other) = (*mine / factor, *other * factor);
        }
        PoolState::Ranged { sqrt_price, .. } => {
            *sqrt_price = if first { *sqrt_price * factor } else { *sqrt_price / factor };
        }
    }
    after
}

#[test]
fn a_pool_of_one_wei_says_nothing() {
    for pool in [
        pair("v2", ("TKN", 1), ("WETH", 1)),
        pair("v2", ("TKN", 1), ("USDC", 1)),
        ranged(1, ("TKN", 1), ("WETH", 1)),
        v4("", ("TKN", 1), ("WETH", 1)),
        pair("v2", ("TKN", 0), ("WETH", 1_000 * E18)),
        // All on one side: its price is high, but nothing of the token can be had at it.
        pair("v2", ("TKN", 1), ("WETH", E18 / 100)),
    ] {
        let id = pool.pool.id;
        let alone = ask("TKN", 18, std::slice::from_ref(&pool)).unwrap_err();
        assert!(matches!(alone, NoPrice::NotEnoughLiquidity(why) if why.len() == 1), "{id:?}");
        let mut pools = honest();
        pools.push(pool);
        let price = ask("TKN", 18, &pools).unwrap();
        assert_about(&price, 2.0);
        assert_eq!((price.confidence, price.pools_considered), (Confidence::High, 3));
    }
}

#[test]
fn a_stable_that_only_looks_like_one_is_no_money() {
    let fake = pair("v2", ("TKN", 1_000 * E18), ("USDC ", 1_000_000_000 * E6));
    let id = fake.pool.id;
    let refused = NoPrice::NotEnoughLiquidity(vec![Dropped::UnknownPartner(id)]);
    assert_eq!(ask("TKN", 18, &[fake]).unwrap_err(), refused);
}

#[test]
fn a_pool_of_a_look_alike_factory_is_not_heard() {
    let mut fake = pair("v2", ("TKN", 1_000_000 * E18), ("WETH", 900_000 * E18));
    fake.pool.factory = addr("v2, but not really");
    let id = fake.pool.id;
    let refused = NoPrice::NotEnoughLiquidity(vec![Dropped::UnknownFactory(id)]);
    assert_eq!(ask("TKN", 18, &[fake.clone()]).unwrap_err(), refused);
    let mut pools = honest();
    pools.push(fake.clone());
    assert_about(&ask("TKN", 18, &pools).unwrap(), 2.0);
    // Nor when it speaks of the native coin.
    let mut native = native_pools();
    let mut liar = pair("v2", ("WETH", 1_000_000 * E18), ("USDC", 2_000_000 * E6));
    liar.pool.factory = fake.pool.factory;
    native.push(liar);
    assert_about(&ask_with("WETH", 18, &[], &native).unwrap(), 2001.0);
}

#[test]
fn a_pool_pushed_a_hundredfold_in_one_block_is_outvoted() {
    for pushed_one in 0..3 {
        let mut pools = honest();
        pools[pushed_one] = pushed(&pools[pushed_one], 10);
        // Without the memory of where the pool was, too.
        for remembers in [true, false] {
            if !remembers {
                pools[pushed_one].before = None;
            }
            let price = ask("TKN", 18, &pools).unwrap();
            let right = (price.usd_price() / 2.0 - 1.0).abs() < 0.02;
            assert!(right || price.confidence == Confidence::Low, "{price:?}");
            assert!(right, "two honest pools outweigh one: {price:?}");
            assert!(price.doubts.contains(&Doubt::Contested));
        }
    }
}

#[test]
fn a_lone_pool_pushed_a_hundredfold_is_not_trusted() {
    let pool = pushed(&honest()[0], 10);
    let price = ask("TKN", 18, &[pool]).unwrap();
    assert_eq!(price.confidence, Confidence::Low);
    assert!(price.doubts.contains(&Doubt::JustMoved));
}

#[test]
fn pushing_a_pool_gives_it_no_more_weight() {
    // Three like pools, one pushed: its dollars grew tenfold, its voice did not.
    let pools = [
        pushed(&pair("v2", ("TKN", 1_000_000 * E18), ("WETH", 1_000 * E18)), 10),
        pair("sushi", ("TKN", 900_000 * E18), ("WETH", 900 * E18)),
        pair("camelot", ("TKN", 800_000 * E18), ("WETH", 800 * E18)),
    ];
    let price = ask("TKN", 18, &pools).unwrap();
    assert_about(&price, 2.0);
    assert!(price.confidence < Confidence::High);
}

#[test]
fn a_narrow_position_that_looks_deep_has_little_weight() {
    // In one tick a few dollars look like millions; the honest pair still decides.
    let narrow = ranged(1, ("TKN", 1_000 * E18), ("WETH", 1_000 * E18));
    let honest = pair("v2", ("TKN", 1_000_000 * E18), ("WETH", 1_000 * E18));
    let price = ask("TKN", 18, &[narrow.clone(), honest]).unwrap();
    assert_about(&price, 2.0);
    let alone = ask("TKN", 18, &[narrow]).unwrap();
    assert!(alone.confidence < Confidence::High);
}

#[test]
fn a_hooked_v4_pool_is_heard_only_alone_and_never_trusted() {
    let hooked = v4("hook", ("TKN", 1_000 * E18), ("WETH", 100_000_000 * E18));
    let mut pools = honest();
    pools.push(hooked.clone());
    let price = ask("TKN", 18, &pools).unwrap();
    assert_about(&price, 2.0);
    let alone = ask(
        "TKN",
        18,
        &[hooked.clone(), v4("hook2", ("TKN", 1_000 * E18), ("WETH", 100_000_000 * E18))],
    );
    let alone = alone.unwrap();
    assert_eq!(alone.confidence, Confidence::Low);
    assert!(alone.doubts.contains(&Doubt::Hooked));
    assert!(alone.money().is_none(), "nothing is built upon it");
}

#[test]
fn a_stable_that_lost_its_peg_does_not_move_the_native_coin() {
    // USDC, the deepest by far, falls to 0.88: the coin costs 2273 of it.
    let native = vec![
        pair("v2", ("WETH", 50_000 * E18), ("USDC", 113_650_000 * E6)),
        ranged(10, ("WETH", 90_000 * E18), ("USDC", 204_570_000 * E6)),
        pair("v2", ("WETH", 8_000 * E18), ("USDT", 16_000_000 * E6)),
        pair("sushi", ("WETH", 5_000 * E18), ("DAI", 10_000_000 * E18)),
    ];
    let coin = ask_with("WETH", 18, &[], &native).unwrap();
    assert_about(&coin, 2000.0);
    assert_ne!(coin.partner, addr("USDC"));
    let stable = ask_with("USDC", 6, &native, &native).unwrap();
    assert_about(&stable, 0.88);
    // A token that trades against it alone is valued by what it is worth, without confidence.
    let pools = [pair("v2", ("TKN", 1_000_000 * E18), ("USDC", 1_000_000 * E6))];
    let token = ask_with("TKN", 18, &pools, &native).unwrap();
    assert_about(&token, 0.88);
    assert_eq!(token.confidence, Confidence::Low);
    assert!(token.doubts.contains(&Doubt::OffPeg));
}

#[test]
fn two_stables_that_contradict_each_other_are_not_trusted() {
    let native = vec![
        pair("v2", ("WETH", 50_000 * E18), ("USDC", 113_650_000 * E6)),
        pair("v2", ("WETH", 40_000 * E18), ("USDT", 80_000_000 * E6)),
    ];
    for (token, pools) in [
        ("WETH", vec![]),
        ("TKN", vec![pair("v2", ("TKN", 1_000_000 * E18), ("WETH", 1_000 * E18))]),
        ("TKN", vec![pair("v2", ("TKN", 1_000_000 * E18), ("USDC", 1_000_000 * E6))]),
    ] {
        let price = ask_with(token, 18, &pools, &native).unwrap();
        assert_eq!(price.confidence, Confidence::Low, "{token} {:?}", price.doubts);
    }
}

#[test]
fn a_stable_whose_backing_is_gone_is_no_dollar_after_that_time() {
    let table = crate::chain::ChainTable::builtin().unwrap();
    let fantom = table.find("fantom").unwrap();
    let count = |time| PricingTable::of(fantom, time).unwrap().stables.len();
    assert_eq!((count(1_680_000_000), count(1_700_000_000)), (4, 1));
}

#[test]
fn tokens_without_decimals_and_with_seventy_seven_have_prices() {
    // 500 pieces against 1000 coins: 4000 dollars each.
    let pieces = [
        pair("v2", ("FAN", 500), ("WETH", 1_000 * E18)),
        ranged(60, ("FAN", 50_000), ("USDC", 200_000_000 * E6)),
    ];
    let price = ask("FAN", 0, &pieces).unwrap();
    assert_about(&price, 4000.0);
    assert_eq!(price.confidence, Confidence::High);

    // A reserve has 112 bits, so of such a token a pair holds far less than one.
    let most = (1u128 << 112) - 1;
    let price = ask("FINE", 77, &[pair("v2", ("FINE", most), ("WETH", 1_000 * E18))]).unwrap();
    let expected = 2_000_000.0 * 1e77 / most as f64;
    assert_about(&price, expected);
    assert_eq!(price.native_value().unwrap().to_string().len(), 65);

    // And worth next to nothing: many of a token without decimals for a millionth of a dollar.
    let price = ask("DUST", 0, &[pair("v2", ("DUST", most), ("USDC", 1_000 * E6))]).unwrap();
    assert_about(&price, 1_000.0 / most as f64);
    assert_eq!(price.native_value().unwrap().to_string(), "0");
    assert!(price.usd_price_formatted().starts_with("0.0000000000000000000000000000001925"));
}

fn any_state() -> impl Strategy<Value = PoolState> {
    prop_oneof![
        (any::<[u8; 32]>(), any::<[u8; 32]>()).prop_map(|(a, b)| PoolState::Reserves {
            reserve0: U256::from_be_bytes(a),
            reserve1: U256::from_be_bytes(b),
        }),
        (any::<u128>(), any::<u128>()).prop_map(|(a, b)| PoolState::Reserves {
            reserve0: U256::from(a),
            reserve1: U256::from(b),
        }),
        (any::<[u8; 32]>(), any::<u128>(), any::<i32>()).prop_map(|(root, liquidity, tick)| {
            PoolState::Ranged { sqrt_price: U256::from_be_bytes(root), liquidity, tick }
        }),
        (any::<[u8; 20]>(), any::<u64>()).prop_map(|(root, liquidity)| PoolState::Ranged {
            sqrt_price: U256::from_be_slice(&root),
            liquidity: liquidity.into(),
            tick: 0,
        }),
    ]
}

proptest! {
    #[test]
    fn no_state_and_no_decimals_stop_us(
        states in proptest::collection::vec((any_state(), any::<bool>(), 0usize..4), 1..6),
        decimals in any::<u8>(),
        natives in proptest::collection::vec(any_state(), 1..4),
    ) {
        let partners = ["WETH", "USDC", "DAI", "OTHER"];
        let pools: Vec<PoolAt> = states.into_iter().map(|(state, stable, partner)| {
            let mut pool = pair("solidly", ("TKN", 1), (partners[partner], 1));
            pool.pool.stable = Some(stable);
            PoolAt { before: Some(state.clone()), state, ..pool }
        }).collect();
        let native: Vec<PoolAt> = natives.into_iter().zip(partners.iter().skip(1)).map(|(state, stable)| {
            PoolAt { state, ..pair("v2", ("WETH", 1), (stable, 1)) }
        }).collect();
        for native in [native, native_pools()] {
            if let Ok(price) = ask_with("TKN", decimals, &pools, &native) {
                let _ = (price.usd_price(), price.usd_price_formatted(), price.native_value());
                let _ = percent_change(price.usd, Ratio::ONE);
            }
        }
    }
}
