//! Prices through a second token, asked of a server.

use alloy_primitives::Address;
use serde_json::Value;

use crate::token_market::*;

/// TKN trades against MID alone, and MID against money, which it has much of.
fn market() -> (TokenMarket, Address, Address) {
    let names = [("TKN", 6), ("MID", 18), ("FAR", 18)];
    let mut market = TokenMarket::with(Setup { list: Some(list(&names)), ..Setup::default() });
    let (tkn, mid, coin) = (addr("TKN"), addr("MID"), market.wrapped());
    let usdc = market.stable("USDC");
    market.block(market.coin());
    // 4 dollars by both.
    market.block(market.pair("Uniswap v2", (mid, 1_000_000 * E18), (coin, 2_000 * E18)));
    market.block(market.pair("SushiSwap v2", (mid, 1_000_000 * E18), (usdc, 4_000_000 * E6)));
    // 2 MID each.
    market.block(market.pair("Uniswap v2", (tkn, 100_000 * E6), (mid, 200_000 * E18)));
    (market, tkn, mid)
}

fn doubts(answer: &Value) -> Vec<&str> {
    answer["explain"]["doubts"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

#[test]
fn a_token_is_priced_through_one_that_has_a_price_and_says_so() {
    let (mut market, tkn, mid) = market();
    let answer = market.price(tkn, "explain=true");
    assert_eq!(answer["usdPriceFormatted"], "8", "{answer}");
    assert_eq!(answer["nativePrice"]["value"], "4000000000000000");
    let explain = &answer["explain"];
    assert_eq!(explain["partner"], format!("{mid:#x}"));
    assert_eq!(explain["basis"], "pool");
    assert_eq!(explain["via"]["token"], format!("{mid:#x}"));
    assert_eq!(explain["via"]["usdPriceFormatted"], "4");
    assert!(doubts(&answer).contains(&"twoHops"), "{answer}");
    assert_eq!(explain["confidence"], "medium");
    assert_eq!(explain["tokenSideLiquidityUsd"], "800000.00");

    // What is said of a price in one step says nothing of a way.
    let direct = market.price(mid, "explain=true");
    assert!(direct["explain"].get("via").is_none() && !doubts(&direct).contains(&"twoHops"));

    // It moves with both of its pools.
    let pair = pair_of("Uniswap v2", tkn, mid);
    market.block(vec![sync(pair, (tkn, 100_000 * E6), (mid, 300_000 * E18))]);
    assert_eq!(market.usd(tkn, ""), "12");
    let newest = market.price(tkn, "")["toBlock"].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(market.usd(tkn, &format!("to_block={}", newest - 1)), "8");
}

#[test]
fn a_deep_pool_with_another_token_outweighs_dust_in_money() {
    let (mut market, tkn, _) = market();
    let usdc = market.stable("USDC");
    // A hundred dollars, at eight dollars and a bit.
    market.block(market.pair("SushiSwap v2", (tkn, 12 * E6), (usdc, 100 * E6)));
    let answer = market.price(tkn, "explain=true");
    assert_eq!(answer["usdPriceFormatted"], "8", "{answer}");
    assert_eq!(answer["explain"]["poolsConsidered"], 2);
    // Where there is enough in money, nothing else is asked.
    market.block(market.pair("Fraxswap v2", (tkn, 1_000_000 * E6), (usdc, 8_100_000 * E6)));
    let answer = market.price(tkn, "explain=true");
    assert_eq!(answer["usdPriceFormatted"], "8.1");
    assert!(!doubts(&answer).contains(&"twoHops"));
}

#[test]
fn what_lies_in_a_pool_is_worth_no_more_than_the_step_lets_through() {
    let mut market = TokenMarket::with(Setup {
        list: Some(list(&[("TKN", 18), ("MINT", 18)])),
        ..Setup::default()
    });
    let (tkn, mint, usdc) = (addr("TKN"), addr("MINT"), market.stable("USDC"));
    market.block(market.coin());
    // Twenty thousand dollars stand behind a token of which anybody may make as much as he likes.
    market.block(market.pair("Uniswap v2", (mint, 20_000 * E18), (usdc, 20_000 * E6)));
    market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (mint, 90_000_000 * E18)));
    let answer = market.price(tkn, "explain=true");
    assert_eq!(answer["explain"]["partnerSideLiquidityUsd"], "20000.00", "{answer}");
    assert_eq!(answer["explain"]["tokenSideLiquidityUsd"], "20000.00");
    assert!(doubts(&answer).contains(&"singleSource"));
    // What little money there is says something else: then nobody is to be trusted.
    market.block(market.pair("SushiSwap v2", (tkn, 100 * E18), (usdc, 100 * E6)));
    let answer = market.price(tkn, "explain=true");
    assert_eq!(answer["explain"]["confidence"], "low", "{answer}");
    assert!(doubts(&answer).contains(&"contested"), "{answer}");
}

#[test]
fn nothing_is_built_upon_what_is_doubtful_itself() {
    let (mut market, _, mid) = market();
    // FAR trades against TKN alone: that would be three steps.
    let (far, tkn) = (addr("FAR"), addr("TKN"));
    market.block(market.pair("Uniswap v2", (far, 1_000 * E18), (tkn, 1_000 * E6)));
    let (status, message) = market.refused(far, "");
    assert_eq!((status, message.contains("No pools found")), (404, true), "{message}");
    // MID is pushed to ten times its price within a block: by one pool this, by the other that.
    let coin = market.wrapped();
    let pushed = sync(pair_of("Uniswap v2", mid, coin), (mid, 100_000 * E18), (coin, 20_000 * E18));
    market.block(vec![pushed]);
    let (status, message) = market.refused(tkn, "");
    assert_eq!((status, message.contains("No pools found")), (404, true), "{message}");
}

#[test]
fn the_day_before_is_priced_the_same_way() {
    let (mut market, tkn, mid) = market();
    market.block_after(86_400, Vec::new());
    let pair = pair_of("Uniswap v2", tkn, mid);
    market.block(vec![sync(pair, (tkn, 100_000 * E6), (mid, 300_000 * E18))]);
    let answer = market.ask(tkn, "include=percent_change");
    assert_eq!(answer.json()["24hrPercentChange"], "50");
    assert_eq!(answer.header("x-coverage"), None, "the block of the day before is stored");
}
