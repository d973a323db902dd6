//! The pools that an explained price rests on: what each held, what each says, in which order.

use alloy_primitives::{Address, U256};
use serde_json::{Value, json};

use crate::token_market::*;

const TICK: &str = "Swap(address,address,int256,int256,uint160,uint128,int24)";

fn market() -> TokenMarket {
    let setup = Setup { list: Some(list(&[("TKN", 18), ("FAN", 18)])), ..Setup::default() };
    let mut market = TokenMarket::with(setup);
    market.block(market.coin());
    market
}

fn pools(market: &TokenMarket, token: Address, query: &str) -> Vec<Value> {
    let answer = market.price(token, &format!("explain=true&{query}"));
    answer["explain"]["pools"].as_array().unwrap().clone()
}

#[test]
fn every_pool_that_was_heard_shows_what_it_held_and_what_it_says() {
    let mut market = market();
    let (tkn, coin, usdc) = (addr("TKN"), market.wrapped(), market.stable("USDC"));
    let first =
        market.block(market.pair("Uniswap v2", (tkn, 3_000_000 * E18), (coin, 1_000 * E18)));
    // As much of the one as of the other: two thousand coins for two thousand dollars each.
    let root = U256::from(1) << 96usize;
    market.block(ranged(market.factory("Uniswap v3"), (tkn, coin), (root, E18)));
    let pool = addr(&format!("v3 {} {}", tkn.min(coin), tkn.max(coin)));
    // Half a tick below one to one, and the pool says that it stands below zero.
    let below = root - U256::from(1);
    let ends = [addr("sender").into_word(), addr("receiver").into_word()];
    let data = [signed(5), signed(-5), below.into(), word(7 * E18), signed(-1)];
    let last = market.block(vec![log(pool, TICK, &ends, &data)]);
    let all = pools(&market, tkn, "min_pair_side_liquidity_usd=0");
    let pair = pair_of("Uniswap v2", tkn, coin);
    let reserves = match tkn < coin {
        true => {
            json!({"reserve0": (3_000_000 * E18).to_string(), "reserve1": (1_000 * E18).to_string()})
        }
        false => {
            json!({"reserve0": (1_000 * E18).to_string(), "reserve1": (3_000_000 * E18).to_string()})
        }
    };
    let of = |id: Address| {
        let name = format!("{id:#x}");
        all.iter().find(|it| it["pool"] == name.as_str()).unwrap_or_else(|| panic!("{all:?}"))
    };
    assert_eq!(all.len(), 2);
    assert_eq!(
        of(pair),
        &json!({
            "pool": format!("{pair:#x}"),
            "exchangeAddress": format!("{:#x}", market.factory("Uniswap v2")),
            "exchangeName": "Uniswap v2",
            "partner": format!("{coin:#x}"),
            "nativeValue": "333333333333333",
            "usdPriceFormatted": of(pair)["usdPriceFormatted"],
            "tokenSideLiquidityUsd": "2000000.00",
            "partnerSideLiquidityUsd": "2000000.00",
            "changedAtBlock": first,
            "state": reserves,
        })
    );
    assert!(of(pair)["usdPriceFormatted"].as_str().unwrap().starts_with("0.6666666666666666666"));
    let state =
        json!({"sqrtPriceX96": below.to_string(), "tick": -1, "liquidity": (7 * E18).to_string()});
    assert_eq!((&of(pool)["state"], &of(pool)["changedAtBlock"]), (&state, &last.into()));
    // An older block has the state of its time.
    let older =
        pools(&market, tkn, &format!("to_block={}&min_pair_side_liquidity_usd=0", last - 1));
    let older = older.iter().find(|it| it["pool"] == format!("{pool:#x}")).unwrap();
    assert_eq!(older["state"]["sqrtPriceX96"], root.to_string());
    assert_eq!(
        (&older["state"]["tick"], &older["changedAtBlock"]),
        (&0.into(), &(last - 1).into())
    );
    // The coin is one coin in all of its pools.
    for pool in pools(&market, coin, "") {
        assert_eq!(pool["nativeValue"], E18.to_string());
    }
    // A pool with dollars has its price in coins by what the coin is worth: 1 of 2000 dollars.
    let fan = addr("FAN");
    market.block(market.pair("Uniswap v2", (fan, 1_000_000 * E18), (usdc, 1_000_000 * E6)));
    assert_eq!(pools(&market, fan, "")[0]["nativeValue"], "500000000000000");
}

#[test]
fn pools_are_told_only_with_the_explanation_and_alike_in_both_profiles() {
    let mut market = market();
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (usdc, 2_000_000 * E6)));
    assert!(market.price(tkn, "").get("explain").is_none());
    let path = format!("/api/v2.2/erc20/{tkn:#x}/price?chain=eth");
    let live = market.server.get_as("live", &path);
    let live: Value = serde_json::from_str(&live.body).unwrap();
    let spec = pools(&market, tkn, "");
    let of_live = &live["explain"]["pools"][0];
    for (name, value) in spec[0].as_object().unwrap() {
        match name.as_str() {
            // Numbers stand in quotes there.
            "changedAtBlock" => assert_eq!(of_live[name], value.to_string()),
            _ => assert_eq!(&of_live[name], value, "{name}"),
        }
    }
}

#[test]
fn the_chosen_pool_comes_first_then_the_deepest_and_not_more_than_ten() {
    let mut market = market();
    let (tkn, coin) = (addr("TKN"), market.wrapped());
    market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (coin, 1_000 * E18)));
    market.block(market.pair("SushiSwap v2", (tkn, 2_000_000 * E18), (coin, 2_000 * E18)));
    let manager = market.factory("Uniswap v4");
    let root = (U256::from(1) << 96usize) * U256::from(if tkn < coin { 1 } else { 1_000 })
        / U256::from(if tkn < coin { 1_000 } else { 1 });
    for n in 0..12u128 {
        // Each with a hook that does nothing here, so that there may be twelve of the same tokens.
        let (_, logs) =
            v4(manager, (tkn, coin), addr(&format!("hook {n}")), (root, (n + 1) * 10_000 * E18));
        market.block(logs);
    }
    let explain = market.price(tkn, "explain=true")["explain"].clone();
    assert_eq!(explain["poolsConsidered"], 2, "hooked pools are not heard where others are");
    let of_v4 = market.price(tkn, "explain=true&exchange=uniswapv4")["explain"].clone();
    assert_eq!(of_v4["poolsConsidered"], 12);
    let list = of_v4["pools"].as_array().unwrap();
    assert_eq!((list.len(), &list[0]["pool"]), (10, &of_v4["pool"]));
    let depths: Vec<f64> = list
        .iter()
        .map(|it| it["tokenSideLiquidityUsd"].as_str().unwrap().parse().unwrap())
        .collect();
    assert!(depths.windows(2).all(|two| two[0] >= two[1]), "{depths:?}");
    assert!(list.iter().all(|it| it["pool"].as_str().unwrap().len() == 66));
}
