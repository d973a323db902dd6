//! Prices of honest pools.

use super::*;

#[test]
fn a_token_is_priced_by_its_deepest_pool_through_the_native_coin() {
    let pools = [
        pair("v2", ("TKN", 1_000_000 * E18), ("WETH", 1_000 * E18)),
        pair("sushi", ("TKN", 100_000 * E18), ("WETH", 101 * E18)),
        ranged(60, ("TKN", 500_000 * E18), ("USDC", 1_001_000 * E6)),
    ];
    let price = ask("TKN", 18, &pools).unwrap();
    assert_about(&price, 2.0);
    assert_eq!(price.pool, pools[0].pool.id);
    assert_eq!((price.pools_considered, price.pools_agreeing), (3, 3));
    assert_eq!((price.confidence, price.doubts.as_slice()), (Confidence::High, [].as_slice()));
    assert_eq!(price.native_value().unwrap().to_string(), "1000000000000000");
    // Half of the pair on either side; 1 % of price is half a percent of one side.
    assert!((price.partner_side_micro_usd as f64 / 2e12 - 1.0).abs() < 1e-3);
    assert!((price.one_percent_micro_usd as f64 / (2e12 * 0.004_987_56) - 1.0).abs() < 1e-3);
}

#[test]
fn the_wrapped_coin_is_priced_by_its_stable_pools() {
    let price = ask("WETH", 18, &[]).unwrap();
    assert_about(&price, 2001.0);
    assert_eq!(price.native_value().unwrap().to_string(), E18.to_string());
    assert_eq!(price.confidence, Confidence::High);
    assert_eq!(price.pools_considered, 4);
}

#[test]
fn a_stable_is_priced_by_its_pools_and_does_not_vouch_for_itself() {
    let pools = [
        pair("v2", ("USDC", 2_000_000 * E6), ("WETH", 970 * E18)),
        pair("sushi", ("USDC", 1_000_000 * E6), ("USDT", 970_000 * E6)),
    ];
    let price = ask("USDC", 6, &pools).unwrap();
    assert_about(&price, 0.97);
    assert_eq!(price.confidence, Confidence::High);
}

#[test]
fn one_reference_price_serves_coin_and_stables_alike() {
    // All that there is: the coin against one stable.
    let native = [pair("v2", ("WETH", 10_000 * E18), ("USDC", 20_000_000 * E6))];
    let coin = ask_with("WETH", 18, &[], &native).unwrap();
    let stable = ask_with("USDC", 6, &native, &native).unwrap();
    assert_about(&coin, 2000.0);
    assert_about(&stable, 1.0);
    assert!(coin.is_reference && stable.is_reference);
    assert_eq!(stable.native_value().unwrap().to_string(), (E18 / 2000).to_string());
    // Nobody else bears it out.
    assert!(stable.doubts.contains(&Doubt::MoneyDoubtful));
    assert_eq!(stable.confidence, Confidence::Low);
    // A stable that has a price by another one tells it in coins, too, though only itself trades against the coin.
    let pools = [pair("v2", ("USDC", 1_000_000 * E6), ("USDT", 1_000_000 * E6)), native[0].clone()];
    let stable = ask_with("USDC", 6, &pools, &native).unwrap();
    assert!(!stable.doubts.contains(&Doubt::MoneyDoubtful));
    assert!(stable.native_value().is_some());
    assert!(!ask("TKN", 18, &[pair("v2", ("TKN", E18), ("USDC", 900 * E6))]).unwrap().is_reference);
}

#[test]
fn the_price_of_a_stable_is_the_mean_of_all_pools_that_agree() {
    let pools = [
        pair("v2", ("USDC", 2_000_000 * E6), ("USDT", 2_000_000 * E6)),
        pair("sushi", ("USDC", 2_000_000 * E6), ("DAI", 2_010_000 * E18)),
    ];
    let price = ask("USDC", 6, &pools).unwrap();
    assert!(price.usd_price() > 1.002 && price.usd_price() < 1.003, "{}", price.usd_price());
}

#[test]
fn a_native_coin_inside_v4_is_the_wrapped_one() {
    let mut pool = v4("", ("TKN", 1_000_000 * E18), ("WETH", 1_000 * E18));
    let swap = |token: Address| if token == addr("WETH") { Address::ZERO } else { token };
    // Zero sorts first; the state has to turn with the tokens.
    if pool.pool.token1 == addr("WETH") {
        std::mem::swap(&mut pool.pool.token0, &mut pool.pool.token1);
        let PoolState::Ranged { sqrt_price, .. } = &mut pool.state else { panic!("ranged") };
        *sqrt_price = (U256::from(1) << 192usize) / *sqrt_price;
    }
    pool.pool.token0 = swap(pool.pool.token0);
    assert_about(&ask("TKN", 18, &[pool]).unwrap(), 2.0);
}

#[test]
fn an_exchange_can_be_asked_for_alone() {
    let pools = [
        pair("v2", ("TKN", 1_000_000 * E18), ("WETH", 1_000 * E18)),
        pair("sushi", ("TKN", 100_000 * E18), ("WETH", 103 * E18)),
    ];
    let question = Question {
        token: addr("TKN"),
        decimals: 18,
        exchange: Some(addr("sushi")),
        pools: &pools,
        native_pools: &native_pools(),
        via: &[],
    };
    let price = super::price(&table(), &question, &Settings::default()).unwrap();
    assert_eq!(price.factory, addr("sushi"));
    assert_about(&price, 2.0602);
}

#[test]
fn a_token_against_another_token_is_priced_in_two_steps() {
    let middle = ask("MID", 9, &[pair("v2", ("MID", 1_000_000_000_000_000), ("WETH", 500 * E18))]);
    let via = [middle.unwrap().money().unwrap()];
    let pools = [pair("v2", ("TKN", 1_000 * E6), ("MID", 500_000_000_000_000))];
    let native_pools = native_pools();
    let question = Question {
        token: addr("TKN"),
        decimals: 6,
        exchange: None,
        pools: &pools,
        native_pools: &native_pools,
        via: &via,
    };
    let price = super::price(&table(), &question, &Settings::default()).unwrap();
    assert_about(&price, 500.0);
    assert!(price.doubts.contains(&Doubt::TwoHops));
    assert!(price.confidence < Confidence::High);
}

#[test]
fn the_stable_curve_is_flat_around_the_middle_and_steep_at_the_ends() {
    let on_curve = |mine: u128, other: u128| {
        let mut pool = pair("solidly", ("TKN", mine * E18), ("USDC", other * E6));
        pool.pool.stable = Some(true);
        ask("TKN", 18, &[pool]).unwrap().usd_price()
    };
    assert!((on_curve(1_000_000, 1_000_000) - 1.0).abs() < 1e-12);
    // x = 2, y = 1: (3·4·1 + 1) / (8 + 3·2·1) = 13/14.
    assert!((on_curve(2_000_000, 1_000_000) - 13.0 / 14.0).abs() < 1e-12);
    assert!((on_curve(1_000_000, 2_000_000) - 14.0 / 13.0).abs() < 1e-12);
}

#[test]
fn prices_are_written_exactly_and_changes_with_their_sign() {
    let price = ask("TKN", 18, &[pair("v2", ("TKN", 3_000_000 * E18), ("USDC", 1_000_000 * E6))]);
    let text = price.unwrap().usd_price_formatted();
    assert!(text.starts_with("0.333333333333333333"), "{text}");
    let ratio = |top: u64| Ratio::new(U256::from(top), U256::from(100)).unwrap();
    for (now, then, expected) in [
        (150, 100, "50"),
        (100, 150, "-33.333333333334"),
        (100, 100, "0"),
        (101, 100, "1"),
        (1, 1000, "-99.9"),
    ] {
        assert_eq!(percent_change(ratio(now), ratio(then)).unwrap(), expected, "{now} {then}");
    }
}

#[test]
fn without_stable_pools_nothing_says_what_the_native_coin_is_worth() {
    let pools = [pair("v2", ("TKN", 1_000_000 * E18), ("WETH", 1_000 * E18))];
    assert!(matches!(ask_with("TKN", 18, &pools, &[]), Err(NoPrice::NoNativeUsd(_))));
    assert_eq!(ask("TKN", 18, &[]).unwrap_err(), NoPrice::NotEnoughLiquidity(vec![]));
}

#[test]
fn all_that_were_heard_are_told_the_chosen_one_first() {
    let mut pools = vec![
        // Deeper than any other and far from all of them, so it is heard and not believed.
        pair("v2", ("TKN", 1_000_000 * E18), ("WETH", 5_000 * E18)),
        pair("sushi", ("TKN", 1_000_000 * E18), ("WETH", 1_000 * E18)),
        pair("solidly", ("TKN", 900_000 * E18), ("WETH", 900 * E18)),
    ];
    pools.push(pair("camelot", ("TKN", 800_000 * E18), ("USDC", 1_600_000 * E6)));
    let price = ask("TKN", 18, &pools).unwrap();
    let said: Vec<PoolId> = price.pool_quotes(10).iter().map(|it| it.pool).collect();
    let [far, chosen, second, third] = [0, 1, 2, 3].map(|n: usize| pools[n].pool.id);
    assert_eq!(price.pool, chosen);
    assert_eq!(said, [chosen, far, second, third]);
    assert_eq!(price.pool_quotes(2).len(), 2);
    let values: Vec<String> =
        price.pool_quotes(10).iter().map(|it| it.native_value.unwrap().to_string()).collect();
    assert_eq!(values[..3], ["1000000000000000", "5000000000000000", "1000000000000000"]);
    assert!(values[3].starts_with("999") || values[3].starts_with("100"), "{values:?}");
    let coin = ask("WETH", 18, &[]).unwrap();
    assert!(coin.pool_quotes(9).iter().all(|it| it.native_value == coin.native_value()));
}
