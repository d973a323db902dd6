//! What the token price says, against quotients worked out by hand.

use alloy_primitives::{Address, U256};
use serde_json::Value;

use crate::token_market::*;

fn market() -> TokenMarket {
    let list = list(&[("TKN", 18), ("FAN", 0), ("ODD", 9)]);
    let mut market = TokenMarket::with(Setup { list: Some(list), ..Setup::default() });
    market.block(market.coin());
    market
}

#[test]
fn a_price_is_the_exact_quotient_of_what_the_pool_holds() {
    let mut market = market();
    let (tkn, coin, usdc) = (addr("TKN"), market.wrapped(), market.stable("USDC"));
    market.block(market.pair("Uniswap v2", (tkn, 3_000_000 * E18), (coin, 1_000 * E18)));
    let answer = market.price(tkn, "");
    // A third of a thousandth of a coin at 2000 dollars.
    assert!(answer["usdPriceFormatted"].as_str().unwrap().starts_with("0.6666666666666666666"));
    assert_eq!(answer["usdPrice"].as_f64(), Some(2.0 / 3.0));
    assert_eq!(answer["nativePrice"]["value"], "333333333333333");
    assert_eq!(answer["nativePrice"]["decimals"], 18);
    assert_eq!(answer["nativePrice"]["symbol"], "ETH");
    assert_eq!(answer["nativePrice"]["address"], format!("{coin:#x}"));
    // The deeper pool decides, to its last digit, whichever token comes first.
    market.block(market.pair("SushiSwap v2", (tkn, 9_000_000 * E18), (usdc, 6_300_000 * E6)));
    let answer = market.price(tkn, "");
    assert_eq!(answer["usdPriceFormatted"], "0.7");
    assert_eq!(answer["exchangeName"], "SushiSwap v2");
    assert_eq!(answer["nativePrice"]["value"], "350000000000000");
}

#[test]
fn a_v3_pool_is_priced_by_the_square_of_its_root() {
    let mut market = market();
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    let first = tkn < usdc;
    // 4 dollars each: 4·10^6 units against 10^18, either way round.
    let root = match first {
        true => (U256::from(2_000_000u64) << 96usize) / U256::from(10).pow(U256::from(12)),
        false => (U256::from(500_000_000_000_000u64) << 96usize) / U256::from(1_000_000_000u64),
    };
    market.block(ranged(market.factory("Uniswap v3"), (tkn, usdc), (root, 10u128.pow(18))));
    let usd: f64 = market.usd(tkn, "").parse().unwrap();
    assert!((usd / 4.0 - 1.0).abs() < 1e-9, "{usd}");
    assert_eq!(market.price(tkn, "exchange=uniswapv3")["exchangeName"], "Uniswap v3");
    let (status, message) = market.refused(tkn, "exchange=uniswapv2");
    assert_eq!(
        (status, message.as_str()),
        (404, "No pools found with enough liquidity, to calculate the price")
    );
}

#[test]
fn an_older_block_has_the_price_of_its_time_and_the_change_is_told_to_the_last_digit() {
    let mut market = market();
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    let old =
        market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (usdc, 2_000_000 * E6)));
    let pair = pair_of("Uniswap v2", tkn, usdc);
    let new =
        market.block_after(90_000, vec![sync(pair, (tkn, 800_000 * E18), (usdc, 2_500_000 * E6))]);
    for n in 0..3 {
        assert_eq!(market.usd(tkn, &format!("to_block={}", new - 1 - n.min(new - 1 - old))), "2");
    }
    let answer = market.price(tkn, "include=percent_change");
    assert_eq!(answer["usdPriceFormatted"], "3.125");
    assert_eq!(answer["24hrPercentChange"], "56.25");
    assert_eq!(answer["toBlock"], new.to_string());
    let before = market.price(tkn, &format!("to_block={old}&include=percent_change"));
    assert_eq!(before["24hrPercentChange"], Value::Null, "nothing is known of the day before");
    assert_eq!(before["toBlock"], old.to_string());
    assert!(!market.ask(tkn, "").body.contains("24hrPercentChange"));
    assert_eq!(market.refused(tkn, &format!("to_block={}", old - 1)).0, 404, "not yet there");
}

#[test]
fn one_exchange_can_be_asked_by_name_and_by_factory() {
    let mut market = market();
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (usdc, 2_000_000 * E6)));
    market.block(market.pair("SushiSwap v2", (tkn, 500_000 * E18), (usdc, 1_010_000 * E6)));
    let sushi = format!("exchange={:#x}", market.factory("SushiSwap v2"));
    for (query, usd) in [
        ("", "2"),
        ("exchange=uniswapv2", "2"),
        ("exchange=Uniswap-v2", "2"),
        ("exchange=sushiswapv2", "2.02"),
        (&sushi, "2.02"),
    ] {
        assert_eq!(market.usd(tkn, query), usd, "{query}");
    }
    let coin = market.price(market.wrapped(), "exchange=sushiswapv2");
    assert_eq!(
        (coin["usdPriceFormatted"].as_str(), coin["exchangeName"].as_str()),
        (Some("2000"), Some("SushiSwap v2"))
    );
}

#[test]
fn the_coin_and_stables_have_prices_without_any_node() {
    let market = market();
    let coin = market.price(market.wrapped(), "");
    assert_eq!(coin["usdPriceFormatted"], "2000");
    assert_eq!(
        (&coin["tokenSymbol"], &coin["tokenName"]),
        (&"WETH".into(), &"Wrapped Ether".into())
    );
    assert_eq!(coin["nativePrice"]["value"], "1000000000000000000");
    for symbol in ["USDC", "DAI"] {
        let stable = market.price(market.stable(symbol), "");
        assert_eq!(stable["usdPriceFormatted"], "1", "{symbol}");
        assert_eq!(stable["tokenSymbol"], symbol);
        assert_eq!(stable["nativePrice"]["value"], "500000000000000");
    }
    assert_eq!(market.refused(market.stable("USDT"), "").0, 404, "nobody trades it");
}

#[test]
fn both_profiles_say_the_same_and_the_live_one_more() {
    let mut market = market();
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    let block =
        market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (usdc, 2_000_000 * E6)));
    market.block(Vec::new());
    let path = format!("/api/v2.2/erc20/{tkn:#X}/price?include=percent_change");
    let ask = |headers: &str, more: &str| {
        let head = format!(
            "GET {}{more} HTTP/1.1\r\nx-api-key: key\r\n{headers}",
            path.replace("0X", "0x")
        );
        market.server.send(&head, b"")
    };
    let spec: Value = serde_json::from_str(&ask("", "").body).unwrap();
    let names: Vec<&String> = spec.as_object().unwrap().keys().collect();
    for name in [
        "tokenName",
        "tokenSymbol",
        "tokenLogo",
        "tokenDecimals",
        "nativePrice",
        "usdPrice",
        "usdPriceFormatted",
        "24hrPercentChange",
        "exchangeAddress",
        "exchangeName",
        "tokenAddress",
        "toBlock",
    ] {
        assert!(names.iter().any(|it| *it == name), "{name} in {names:?}");
    }
    assert_eq!(names.len(), 12, "{names:?}");
    assert_eq!(spec["tokenDecimals"], "18");
    assert_eq!(spec["tokenLogo"], "https://logos.example/TKN.png");
    assert_eq!(spec["tokenAddress"], format!("{tkn:#x}"));
    assert_eq!(spec["exchangeAddress"], format!("{:#x}", market.factory("Uniswap v2")));
    for headers in ["x-wire-profile: live\r\n", "x-moralis-platform: NodeJS SDK\r\n"] {
        let answer = ask(headers, "");
        assert!(
            answer.head.contains("vary: x-wire-profile, x-moralis-platform"),
            "{}",
            answer.head
        );
        assert!(answer.head.contains("x-request-weight: 55"), "{}", answer.head);
        assert!(
            answer.head.contains(&format!("x-indexed-blocks: {FIRST}-{}", block + 1)),
            "{}",
            answer.head
        );
        // What the price was a day ago is not stored.
        assert!(answer.head.contains("x-coverage: partial"), "{}", answer.head);
        let live: Value = serde_json::from_str(&answer.body).unwrap();
        for (name, value) in spec.as_object().unwrap() {
            assert_eq!(&live[name], value, "{name}");
        }
        assert_eq!(live["priceLastChangedAtBlock"], block.to_string());
        assert_eq!(live["blockTimestamp"], format!("{}000", START + (block - FIRST) * BLOCK_S));
        assert_eq!(live["pairAddress"], format!("{:#x}", pair_of("Uniswap v2", tkn, usdc)));
        assert_eq!(live["pairTotalLiquidityUsd"], "4000000.00");
        for unknown in ["possibleSpam", "verifiedContract", "securityScore", "usdPrice24h"] {
            assert_eq!(live.get(unknown), Some(&Value::Null), "{unknown}");
        }
    }
}

#[test]
fn an_explained_price_names_its_pool_its_depth_and_its_doubts() {
    let mut market = market();
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    let block =
        market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (usdc, 2_000_000 * E6)));
    market.block(market.pair("SushiSwap v2", (tkn, E18), (usdc, 2 * E6)));
    let explained = market.price(tkn, "explain=true")["explain"].clone();
    assert_eq!(explained["pool"], format!("{:#x}", pair_of("Uniswap v2", tkn, usdc)));
    assert_eq!(explained["partner"], format!("{usdc:#x}"));
    assert_eq!(
        (&explained["source"], &explained["changedAtBlock"]),
        (&"store".into(), &block.into())
    );
    assert_eq!(explained["tokenSideLiquidityUsd"], "2000000.00");
    assert_eq!(explained["partnerSideLiquidityUsd"], "2000000.00");
    // √1.01 − 1 of two millions.
    assert_eq!(explained["onePercentMoveUsd"], "9975.12");
    assert_eq!(
        (&explained["poolsConsidered"], &explained["poolsAgreeing"]),
        (&1.into(), &1.into())
    );
    assert_eq!(explained["confidence"], "medium");
    assert_eq!(explained["doubts"], serde_json::json!(["singleSource"]));
    assert_eq!(explained["dropped"][0]["why"], "tooThin");
    assert!(market.price(tkn, "explain=false").get("explain").is_none());
    // A caller that wants less liquidity hears the thin pool, too.
    let all = market.price(tkn, "explain=true&min_pair_side_liquidity_usd=0.5")["explain"].clone();
    assert_eq!((&all["poolsConsidered"], &all["poolsAgreeing"]), (&2.into(), &2.into()));
    assert_eq!(market.refused(tkn, "min_pair_side_liquidity_usd=2000001").0, 404);
}

#[test]
fn a_block_that_is_taken_back_takes_its_price_along() {
    let mut market = market();
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (usdc, 2_000_000 * E6)));
    let pair = pair_of("Uniswap v2", tkn, usdc);
    for usd in [3u128, 5, 7] {
        market.block(vec![sync(pair, (tkn, 1_000_000 * E18), (usdc, usd * 1_000_000 * E6))]);
        assert_eq!(market.usd(tkn, ""), usd.to_string());
        market.revert();
        assert_eq!(market.usd(tkn, ""), "2");
    }
    let block = market.block(vec![sync(pair, (tkn, 1_000_000 * E18), (usdc, 11_000_000 * E6))]);
    assert_eq!(market.usd(tkn, &format!("to_block={block}")), "11");
}

#[test]
fn a_token_nobody_trades_any_more_is_refused_when_that_is_wanted() {
    let mut market = market();
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (usdc, 2_000_000 * E6)));
    market.block_after(3 * 86_400 + 60, Vec::new());
    assert_eq!(market.usd(tkn, "max_token_inactivity=4"), "2");
    let (status, message) = market.refused(tkn, "max_token_inactivity=3");
    assert_eq!(status, 400);
    assert!(message.contains("inactive") && message.contains("3 days"), "{message}");
}

#[test]
fn what_was_before_a_gap_says_nothing_about_blocks_behind_it() {
    let mut market = market();
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    let known =
        market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (usdc, 2_000_000 * E6)));
    market.skip(50);
    market.block(market.coin());
    assert_eq!(market.usd(tkn, &format!("to_block={known}")), "2");
    assert_eq!(market.refused(tkn, "").0, 404, "the pool may have changed unseen");
    let (status, message) = market.refused(tkn, &format!("to_block={}", known + 7));
    assert_eq!(status, 404);
    assert!(
        message.contains("is not indexed") && message.contains(&format!("{FIRST}-{known}")),
        "{message}"
    );
}

#[test]
fn of_a_thousand_pools_the_deepest_decide_now_and_in_the_past() {
    let mut market = market();
    let (tkn, coin) = (addr("TKN"), market.wrapped());
    let manager = market.factory("Uniswap v4");
    // One dollar and a bit more in each of them, and the price is as if a token were two coins.
    let crowd: Vec<_> = (0..1_000u32)
        .flat_map(|n| {
            let hooks = Address::left_padding_from(&n.to_be_bytes());
            v4(
                manager,
                (tkn, coin),
                hooks,
                (U256::from(1u64) << 96usize, 1_000_000 + u128::from(n)),
            )
            .1
        })
        .collect();
    market.block(crowd);
    let then = market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (coin, 1_000 * E18)));
    for n in 0..70 {
        market.block(Vec::new());
        if n % 23 == 0 {
            assert_eq!(market.usd(tkn, ""), "2");
            assert_eq!(market.usd(tkn, &format!("to_block={then}")), "2");
        }
    }
    assert_eq!(market.refused(tkn, "exchange=uniswapv4").0, 404, "too thin");
}
