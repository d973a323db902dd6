//! What a price question may be refused with.

use proptest::prelude::*;

use crate::token_market::*;

#[test]
fn refusals_name_the_parameter_and_the_value() {
    let mut market =
        TokenMarket::with(Setup { list: Some(list(&[("TKN", 18)])), ..Setup::default() });
    market.block(market.coin());
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    market.block(market.pair("Uniswap v2", (tkn, 1_000 * E18), (usdc, 1_000 * E6)));
    let past = format!("to_block={}", FIRST - 1);
    for (query, status, says) in [
        ("exchange=uniswapv9", 400, "exchange with value 'uniswapv9' is not a known exchange"),
        ("exchange=quickswap", 400, "exchange with value 'quickswap' is not on eth"),
        (
            "exchange=0x00000000000000000000000000000000000000aa",
            400,
            "is not the factory of an exchange known on eth",
        ),
        ("exchange=0x12", 400, "exchange with value '0x12' is not a valid hex address"),
        ("include=everything", 400, "include with value 'everything' is not percent_change"),
        ("explain=maybe", 400, "explain with value 'maybe' is neither true nor false"),
        ("to_block=latest", 400, "to_block with value 'latest' is not a block number"),
        ("to_block=-1", 400, "to_block with value '-1' is not a block number"),
        (
            &past,
            404,
            "is not indexed (indexed blocks of eth: 1000-1001), and this server has no node",
        ),
        ("min_pair_side_liquidity_usd=lots", 400, "min_pair_side_liquidity_usd with value 'lots'"),
        ("max_token_inactivity=soon", 400, "max_token_inactivity with value 'soon'"),
        (
            "exchange=sushiswapv2",
            404,
            "No pools found with enough liquidity, to calculate the price",
        ),
    ] {
        let (found, message) = market.refused(tkn, query);
        assert_eq!(found, status, "{query}: {message}");
        assert!(message.contains(says), "{query}: {message}");
    }
    for (path, status, says) in [
        ("erc20/0x12/price", 400, "address with value '0x12' is not a valid hex address"),
        ("erc20/vitalik.eth/price", 400, "is a name, and names are not resolved here"),
        ("erc20/0x00000000000000000000000000000000000000aa/price", 404, "No pools found"),
        (
            "erc20/0x00000000000000000000000000000000000000aa/price?chain=nowhere",
            400,
            "is not a known chain",
        ),
        (
            "erc20/0x00000000000000000000000000000000000000aa/price?chain=sepolia",
            400,
            "is not offered by this operation (token price)",
        ),
        (
            "erc20/0x00000000000000000000000000000000000000aa/price?chain=bsc",
            400,
            "is not served here",
        ),
        // For this operation the id of linea sepolia means linea, of which nothing is indexed here.
        (
            "erc20/0x00000000000000000000000000000000000000aa/price?chain=0xe705",
            503,
            "no block of linea is indexed yet",
        ),
    ] {
        let answer = market.server.get(&format!("/api/v2.2/{path}"));
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(answer.message().contains(says), "{path}: {}", answer.body);
    }
    let keyless =
        market.server.send(&format!("GET /api/v2.2/erc20/{tkn:#x}/price HTTP/1.1\r\n"), b"");
    assert_eq!(keyless.status, 401);
}

#[test]
fn a_token_whose_decimals_nobody_tells_is_refused_with_the_reason() {
    let mut market = TokenMarket::new();
    market.block(market.coin());
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    market.block(market.pair("Uniswap v2", (tkn, 1_000 * E18), (usdc, 1_000 * E6)));
    let (status, message) = market.refused(tkn, "");
    assert_eq!(status, 404, "asking again helps nobody");
    assert!(
        message.contains(&format!("the decimals of {tkn:#x} on eth are not known")),
        "{message}"
    );
}

#[test]
fn a_price_past_the_newest_block_is_the_newest_blocks_and_says_so() {
    let mut market =
        TokenMarket::with(Setup { list: Some(list(&[("TKN", 18)])), ..Setup::default() });
    market.block(market.coin());
    let (tkn, usdc) = (addr("TKN"), market.stable("USDC"));
    let block = market.block(market.pair("Uniswap v2", (tkn, 1_000 * E18), (usdc, 1_000 * E6)));
    for (query, coverage) in [
        (String::new(), None),
        (format!("to_block={block}"), None),
        (format!("to_block={}", block + 1), Some("partial")),
        (format!("to_block={}", u64::MAX), Some("partial")),
        // A day ago nothing was stored.
        ("include=percent_change".to_owned(), Some("partial")),
    ] {
        let answer = market.ask(tkn, &query);
        assert_eq!((answer.status, answer.header("x-coverage")), (200, coverage), "{query}");
        assert_eq!(answer.json()["toBlock"], block.to_string());
        assert_eq!(answer.header("x-indexed-blocks"), Some("1000-1001"));
    }
    let nothing = market.ask(addr("OTHER"), "to_block=99999999");
    assert_eq!((nothing.status, nothing.header("x-coverage")), (404, Some("partial")));
    assert_eq!(nothing.header("x-indexed-blocks"), Some("1000-1001"));
    assert_eq!(nothing.header("x-request-weight"), Some("50"));
    let nothing = market.ask(addr("OTHER"), "include=percent_change");
    assert_eq!((nothing.status, nothing.header("x-coverage")), (404, Some("partial")));
}

#[test]
fn money_has_one_reference_price_and_says_so() {
    let mut market = TokenMarket::new();
    let (coin, usdc) = (market.wrapped(), market.stable("USDC"));
    market.block(market.pair("Uniswap v2", (coin, 1_000 * E18), (usdc, 2_000_000 * E6)));
    let said = |token, query: &str| market.price(token, query);
    assert_eq!(said(coin, "")["usdPriceFormatted"], "2000");
    let stable = said(usdc, "explain=true");
    assert_eq!(stable["usdPriceFormatted"], "1");
    assert_eq!(stable["nativePrice"]["value"], "500000000000000");
    assert_eq!(stable["tokenName"], "USD Coin", "without a list or a node");
    assert_eq!(stable["explain"]["basis"], "reference");
    assert_eq!(stable["explain"]["confidence"], "low");
    let doubts = stable["explain"]["doubts"].as_array().unwrap();
    assert!(doubts.contains(&"moneyDoubtful".into()), "{doubts:?}");
}

#[test]
fn without_the_coin_in_dollars_only_dollars_count() {
    let mut market =
        TokenMarket::with(Setup { list: Some(list(&[("TKN", 18)])), ..Setup::default() });
    let (tkn, coin) = (addr("TKN"), market.wrapped());
    market.block(market.pair("Uniswap v2", (tkn, 1_000_000 * E18), (coin, 1_000 * E18)));
    let (status, message) = market.refused(tkn, "");
    assert_eq!((status, message.as_str()), (404, "Could not determine native-usd price"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_query_makes_it_fall_silent(exchange in "[!-~]{0,30}", block in "[0-9a-z.-]{0,22}", usd in "[0-9a-z.+-]{0,22}", days in any::<i64>()) {
        static MARKET: std::sync::LazyLock<TokenMarket> = std::sync::LazyLock::new(|| {
            let mut market = TokenMarket::new();
            market.block(market.coin());
            market
        });
        let plain = |text: &str| text.replace(['#', '&', '%', ' ', '+'], "");
        let query = format!("exchange={}&to_block={block}&min_pair_side_liquidity_usd={}&max_token_inactivity={days}", plain(&exchange), plain(&usd));
        let answer = MARKET.ask(MARKET.wrapped(), &query);
        prop_assert!((200..500).contains(&answer.status), "{answer:?}");
    }
}
