//! Operation 3, the lowest price of the last days: what counts, what does not, and since when.

use alloy_primitives::{Address, U256, address};
use testkit::{Sale, Venue};

use crate::nft_market::{APES, CATS, DAY, NftMarket, START, ape, ape_on};
use crate::test_server::Answer;

const WETH: Address = address!("c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2");
const USDC: Address = address!("a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48");

/// The token and the price, or the refusal's status.
fn found(answer: &Answer) -> Result<(String, String), u16> {
    if answer.status != 200 {
        return Err(answer.status);
    }
    let (row, text) = (answer.json(), |v: &serde_json::Value| v.as_str().unwrap().to_owned());
    Ok((text(&row["token_ids"][0]), text(&row["price"])))
}

fn sold(id: u64, price: u64) -> Result<(String, String), u16> {
    Ok((id.to_string(), price.to_string()))
}

#[test]
fn native_and_wrapped_coin_count_and_nothing_else_does() {
    let mut market = NftMarket::new();
    assert_eq!(found(&market.lowest(APES, "")), Err(503), "not a single block yet");
    market.mine(START, &[Sale { currency: USDC, ..ape(1, 10) }, ape(2, 0)]);
    assert_eq!(found(&market.lowest(APES, "")), Err(404), "dollars and gifts");
    market.mine(START + 12, &[ape(3, 300)]);
    assert_eq!(found(&market.lowest(APES, "")), sold(3, 300));
    market.mine(START + 24, &[Sale { currency: WETH, ..ape(4, 200) }]);
    assert_eq!(found(&market.lowest(APES, "")), sold(4, 200));
    market.mine(START + 36, &[Sale { contract: CATS, ..ape(5, 100) }]);
    assert_eq!(found(&market.lowest(APES, "")), sold(4, 200), "another contract's");
    assert_eq!(found(&market.lowest(CATS, "")), sold(5, 100));
    let bundle = vec![U256::from(6), U256::from(7)];
    market.mine(START + 48, &[Sale { ids: bundle, ..ape(6, 150) }]);
    assert_eq!(found(&market.lowest(APES, "")), sold(6, 150), "a bundle counts at its whole price");
}

#[test]
fn of_equal_prices_the_oldest_in_the_window_is_told() {
    let mut market = NftMarket::new();
    market.mine(START, &[ape(1, 100)]);
    market.mine(START + 4 * DAY, &[ape(2, 200), ape(3, 100), ape(4, 100)]);
    market.mine(START + 8 * DAY, &[ape(5, 100), ape_on(Venue::Blur, 6, 100)]);
    assert_eq!(found(&market.lowest(APES, "days=9")), sold(1, 100));
    assert_eq!(found(&market.lowest(APES, "")), sold(3, 100));
    assert_eq!(found(&market.lowest(APES, "days=1")), sold(5, 100));
    assert_eq!(found(&market.lowest(APES, "days=1&marketplace=blur")), sold(6, 100));
}

#[test]
fn days_count_back_from_the_newest_block_and_its_edge_is_inside() {
    let mut market = NftMarket::new();
    market.mine(START, &[ape(1, 1)]);
    market.mine(START + 1, &[ape(2, 2)]);
    market.mine(START + 300 * DAY, &[ape(3, 3)]);
    for (newest, days, expected) in [
        (START + 300 * DAY, "", sold(3, 3)),
        (START + 301 * DAY, "&days=301", sold(1, 1)),
        (START + 301 * DAY + 1, "&days=301", sold(2, 2)),
        (START + 301 * DAY + 2, "&days=301", sold(3, 3)),
        (START + 302 * DAY, "&days=365", sold(1, 1)),
        (START + 307 * DAY, "", sold(3, 3)),
        (START + 307 * DAY, "&days=7", sold(3, 3)),
        (START + 307 * DAY + 1, "", Err(404)),
        (START + 307 * DAY + 1, "&days=8", sold(3, 3)),
    ] {
        market.mine(newest, &[]);
        assert_eq!(
            found(&market.lowest(APES, &format!("chain=0x1{days}"))),
            expected,
            "{newest}{days}"
        );
    }
}

#[test]
fn what_a_reorg_takes_away_is_not_the_lowest_any_more() {
    let mut market = NftMarket::new();
    market.mine(START, &[ape(1, 100)]);
    market.mine(START + 12, &[ape(2, 50), ape_on(Venue::Blur, 3, 60)]);
    assert_eq!(found(&market.lowest(APES, "")), sold(2, 50));
    market.replace(START + 13, &[ape_on(Venue::Blur, 3, 60)]);
    assert_eq!(found(&market.lowest(APES, "")), sold(3, 60));
    assert_eq!(found(&market.lowest(APES, "marketplace=opensea")), sold(1, 100));
    market.replace(START + 14, &[]);
    assert_eq!(found(&market.lowest(APES, "")), sold(1, 100));
    assert_eq!(found(&market.lowest(APES, "marketplace=blur")), Err(404));
}

const SPEC: &str = r#"{"transaction_hash":"TX","transaction_index":"0","token_ids":["7"],"seller_address":"0x5151515151515151515151515151515151515151","buyer_address":"0xb1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1","marketplace_address":"0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5","price":"100","block_timestamp":"2021-06-04T16:00:15","block_number":"0","block_hash":"BLOCK"}"#;
const LIVE: &str = r#"{"transaction_hash":"TX","transaction_index":"0","token_ids":["7"],"seller_address":"0x5151515151515151515151515151515151515151","buyer_address":"0xb1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1","token_address":"0xa9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9","marketplace_address":"0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5","price_token_address":"0x0000000000000000000000000000000000000000","price":"100","block_timestamp":"2021-06-04T16:00:15.000Z","block_number":"0","block_hash":"BLOCK","verified_collection":false,"marketplace":"blur","token_quantities":["1"],"mixed_order":false,"reconciled":true}"#;

#[test]
fn the_interface_has_three_fields_less_and_the_sdks_get_them_all() {
    let mut market = NftMarket::new();
    market.mine(START, &[ape_on(Venue::Blur, 7, 100)]);
    let target = format!("/api/v2.2/nft/{APES:#x}/lowestprice");
    for (profile, expected) in [("spec", SPEC), ("live", LIVE)] {
        let answer = market.server.get_as(profile, &target);
        let row = answer.json();
        let [tx, block] =
            ["transaction_hash", "block_hash"].map(|name| row[name].as_str().unwrap());
        assert_eq!(answer.body.replace(tx, "TX").replace(block, "BLOCK"), expected);
        assert_eq!(answer.header("x-request-weight"), Some("40"));
        assert_eq!(answer.header("vary"), Some("x-wire-profile, x-moralis-platform"));
    }
}

#[test]
fn finding_nothing_is_a_404_that_says_which_blocks_it_rests_on() {
    let mut market = NftMarket::new();
    market.mine(START, &[]);
    for (query, says) in [
        ("", "no trade paid in ETH was found in the last 7 days"),
        ("days=1", "no trade paid in ETH was found in the last day"),
    ] {
        let answer = market.lowest(APES, query);
        assert_eq!((answer.status, answer.message()), (404, says.to_owned()));
        assert_eq!(answer.header("x-indexed-blocks"), Some("0-0"));
    }
    market.mine(START + 30 * DAY, &[]);
    assert_eq!(market.lowest(APES, "").header("x-coverage"), None);
}
