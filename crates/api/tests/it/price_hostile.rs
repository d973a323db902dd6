//! Pools made to mislead, from their logs to the answer: no wrong price is told with confidence.

use alloy_primitives::{Address, U256};
use serde_json::Value;

use crate::token_market::*;

const TOKENS: [(&str, u8); 4] = [("TKN", 18), ("FAN", 0), ("TINY", 77), ("USDC ", 6)];

/// Three honest pools that say two dollars.
fn market() -> TokenMarket {
    let list = list(&TOKENS);
    let mut market = TokenMarket::with(Setup { list: Some(list), ..Setup::default() });
    market.block(market.coin());
    let (tkn, coin, usdc) = (addr("TKN"), market.wrapped(), market.stable("USDC"));
    let honest = [
        market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (coin, 1_000 * E18)),
        market.pair("SushiSwap v2", (tkn, 300_000 * E18), (coin, 301 * E18)),
        market.pair("Uniswap v2", (tkn, 400_000 * E18), (usdc, 800_000 * E6)),
    ];
    market.block(honest.concat());
    for _ in 0..10 {
        market.block(Vec::new());
    }
    market
}

fn explained(market: &TokenMarket, token: Address) -> (f64, Value) {
    let answer = market.price(token, "explain=true");
    (answer["usdPrice"].as_f64().unwrap(), answer["explain"].clone())
}

fn is_about(found: f64, wanted: f64) -> bool {
    (found / wanted - 1.0).abs() < 0.02
}

#[test]
fn a_pool_of_one_wei_is_not_heard() {
    let mut market = market();
    let (tkn, dai) = (addr("TKN"), market.stable("DAI"));
    market.block(market.pair("Uniswap v2", (tkn, 1), (dai, 1_000_000)));
    let (usd, why) = explained(&market, tkn);
    assert!(is_about(usd, 2.0), "{usd}");
    assert_eq!(why["confidence"], "high");
    assert_eq!(why["dropped"][0]["why"], "tooThin");
}

#[test]
fn a_token_that_calls_itself_a_stable_is_no_money() {
    let mut market = market();
    let (fan, fake) = (addr("FAN"), addr("USDC "));
    market.block(market.pair("Uniswap v2", (fan, 1_000), (fake, 1_000_000_000 * E6)));
    assert_eq!(market.refused(fan, "").0, 404);
    let tkn = addr("TKN");
    market.block(market.pair("Uniswap v2", (tkn, 1_000 * E18), (fake, 1_000_000_000 * E6)));
    assert!(is_about(explained(&market, tkn).0, 2.0));
}

#[test]
fn a_factory_that_only_looks_like_one_makes_no_pools() {
    let mut market = market();
    let (tkn, fan, coin) = (addr("TKN"), addr("FAN"), market.wrapped());
    let fake = addr("a factory like any other");
    market.block(created(fake, addr("fake 1"), (tkn, 1_000 * E18), (coin, 1_000_000 * E18)));
    market.block(created(fake, addr("fake 2"), (fan, 1_000), (coin, 1_000_000 * E18)));
    assert!(is_about(explained(&market, tkn).0, 2.0));
    assert_eq!(market.refused(fan, "").0, 404);
}

#[test]
fn a_pool_pushed_a_hundredfold_within_a_block_is_outvoted_and_alone_not_trusted() {
    let mut market = market();
    let (tkn, coin) = (addr("TKN"), market.wrapped());
    market.block(vec![sync(
        pair_of("Uniswap v2", tkn, coin),
        (tkn, 100_000 * E18),
        (coin, 10_000 * E18),
    )]);
    let (usd, why) = explained(&market, tkn);
    assert!(is_about(usd, 2.0), "{usd} {why}");
    assert!(why["doubts"].as_array().unwrap().contains(&"contested".into()), "{why}");
    // Asked for that one exchange alone, the lone pool was elsewhere a minute ago.
    let fan = addr("FAN");
    market.block(market.pair("Uniswap v2", (fan, 10_000), (coin, 10_000 * E18)));
    for _ in 0..10 {
        market.block(Vec::new());
    }
    assert_eq!(market.usd(fan, ""), "2000");
    market.block(vec![sync(pair_of("Uniswap v2", fan, coin), (fan, 1_000), (coin, 100_000 * E18))]);
    let (_, why) = explained(&market, fan);
    assert_eq!(why["confidence"], "low", "{why}");
    assert!(why["doubts"].as_array().unwrap().contains(&"justMoved".into()), "{why}");
}

#[test]
fn tokens_without_decimals_and_with_seventy_seven_are_priced() {
    let mut market = market();
    let (fan, tiny, coin) = (addr("FAN"), addr("TINY"), market.wrapped());
    market.block(market.pair("Uniswap v2", (fan, 500), (coin, 1_000 * E18)));
    let answer = market.price(fan, "");
    assert_eq!(
        (&answer["usdPriceFormatted"], &answer["tokenDecimals"]),
        (&"4000".into(), &"0".into())
    );
    assert_eq!(answer["nativePrice"]["value"], "2000000000000000000");
    market.block(market.pair("Uniswap v2", (tiny, 10u128.pow(33)), (coin, 1_000 * E18)));
    let answer = market.price(tiny, "");
    // A whole token is 10^77 units; the pool holds 10^33 of them for 1000 coins.
    let usd = answer["usdPrice"].as_f64().unwrap();
    assert!((usd / 2e50 - 1.0).abs() < 1e-12, "{usd}");
    assert_eq!(answer["nativePrice"]["value"], format!("1{}", "0".repeat(65)));
}

#[test]
fn a_stable_that_lost_its_peg_does_not_move_the_coin() {
    let mut market = market();
    let (coin, usdc, usdt) = (market.wrapped(), market.stable("USDC"), market.stable("USDT"));
    market.block(market.pair("Uniswap v2", (coin, 3_000 * E18), (usdt, 6_000_000 * E6)));
    // 2273 of it for a coin.
    market.block(vec![sync(
        pair_of("Uniswap v2", coin, usdc),
        (coin, 10_000 * E18),
        (usdc, 22_730_000 * E6),
    )]);
    assert!(is_about(explained(&market, coin).0, 2000.0));
    let (usd, why) = explained(&market, usdc);
    assert!(is_about(usd, 0.88), "{usd} {why}");
}

#[test]
fn a_v4_pool_with_hooks_is_heard_only_alone_and_never_trusted() {
    let mut market = market();
    let (tkn, fan, coin) = (addr("TKN"), addr("FAN"), market.wrapped());
    let manager = market.factory("Uniswap v4");
    // The native coin itself goes by the zero address.
    let (_, logs) =
        v4(manager, (tkn, Address::ZERO), addr("hook"), (U256::from(1) << 90usize, u128::MAX >> 8));
    market.block(logs);
    assert!(is_about(explained(&market, tkn).0, 2.0));
    let root = if fan < coin {
        U256::from(1_000_000_000u64) << 96usize
    } else {
        (U256::from(1) << 96usize) / U256::from(1_000_000_000u64)
    };
    let (id, logs) = v4(manager, (fan, coin), addr("hook"), (root, 10u128.pow(14)));
    market.block(logs);
    let (usd, why) = explained(&market, fan);
    assert!(is_about(usd, 2000.0), "{usd}");
    assert_eq!(why["confidence"], "low");
    assert!(why["doubts"].as_array().unwrap().contains(&"hooked".into()), "{why}");
    assert_eq!(why["pool"], format!("{id:#x}"));
}
