//! Operation 2, the trades of an NFT contract: pages, filters, ranges, and both ways of writing a row.

use alloy_primitives::{Address, U256};
use testkit::{Sale, Venue};

use crate::nft_market::{APES, CATS, DAY, NftMarket, START, ape, ape_on};

/// Thirty blocks, from none to several sales in each; ids count up.
fn busy() -> NftMarket {
    let mut market = NftMarket::new();
    let mut id = 0;
    for number in 0..30u64 {
        let mut sales = Vec::new();
        for i in 0..(number * 7) % 5 {
            let venue = [Venue::Seaport, Venue::Blur, Venue::LooksRare][(id % 3) as usize];
            sales.push(ape_on(venue, id, 100 + id));
            id += 1;
            // Somebody else's sale between ours.
            sales.extend((i == 1).then(|| Sale { contract: CATS, ..ape(900 + id, 5) }));
        }
        market.mine(START + number * 12, &sales);
    }
    market
}

/// All ids from the newest, which is the largest, down.
fn newest_first(market: &NftMarket) -> Vec<u64> {
    let all = market.ids(APES, "limit=500");
    assert!(all.len() > 50 && all.is_sorted_by(|a, b| a == &(b + 1)), "{all:?}");
    all
}

#[test]
fn pages_of_any_size_neither_repeat_nor_skip_a_trade() {
    let market = busy();
    let all = newest_first(&market);
    for limit in [1, 2, 3, 7, 50, 59, 60, 61] {
        assert_eq!(market.ids(APES, &format!("limit={limit}")), all, "{limit}");
    }
}

#[test]
fn pages_hold_while_new_blocks_arrive_and_go_on_with_the_new_chain_after_a_reorg() {
    let mut market = busy();
    let all = newest_first(&market);
    let page = market.trades(APES, "limit=5").json();
    market.mine(START + 1000, &[ape(500, 1), ape(501, 1)]);
    let cursor = page["cursor"].as_str().unwrap();
    let next = market.trades(APES, &format!("limit=5&cursor={cursor}")).json();
    assert_eq!(next["result"][0]["token_ids"][0], all[5].to_string());
    assert_eq!((&next["page"], &next["page_size"]), (&"1".into(), &"5".into()));
    // The limit of the first page holds.
    let same = market.trades(APES, &format!("cursor={cursor}")).json();
    assert_eq!(same["result"], next["result"]);

    market.replace(START + 1001, &[ape(502, 1)]);
    let mut now = vec![502];
    now.extend(&all);
    assert_eq!(market.ids(APES, "limit=4"), now);
    let after = market.trades(APES, &format!("cursor={cursor}")).json();
    assert_eq!(after["result"], next["result"]);
}

#[test]
fn a_marketplace_is_chosen_by_name_in_any_case() {
    let market = busy();
    let all = newest_first(&market);
    for (at, name) in ["opensea", "blur", "looksrare"].into_iter().enumerate() {
        let own: Vec<u64> = all.iter().copied().filter(|id| id % 3 == at as u64).collect();
        for spelling in [name.to_owned(), name.to_uppercase()] {
            assert_eq!(market.ids(APES, &format!("limit=4&marketplace={spelling}")), own);
        }
    }
    for silent in ["x2y2", "0xprotocol"] {
        assert_eq!(market.ids(APES, &format!("marketplace={silent}")), [0u64; 0]);
    }
}

#[test]
fn ranges_are_inclusive_and_a_block_beats_a_date() {
    let market = busy();
    let in_blocks = |from: u64, to: u64| -> Vec<u64> {
        let rows = market.trades(APES, "limit=500").json();
        let rows = rows["result"].as_array().unwrap().clone();
        let block =
            |row: &serde_json::Value| row["block_number"].as_str().unwrap().parse().unwrap();
        let inside = rows.iter().filter(|row| (from..=to).contains(&block(row)));
        inside.map(|row| row["token_ids"][0].as_str().unwrap().parse().unwrap()).collect()
    };
    let (six, twelve) = (START + 6 * 12, START + 12 * 12);
    let far = START + 9999 * 12;
    for (query, from, to) in [
        ("from_block=6&to_block=12".to_owned(), 6, 12),
        ("from_block=6".to_owned(), 6, 29),
        ("to_block=12".to_owned(), 0, 12),
        (format!("from_date={six}&to_date={twelve}"), 6, 12),
        (format!("from_date={}&to_date={}", six - 11, twelve + 11), 6, 12),
        (format!("from_block=6&from_date={far}&to_block=12&to_date=1999-01-01"), 6, 12),
        (format!("from_block=6&to_date={twelve}"), 6, 12),
        (format!("from_date={six}&to_block=12"), 6, 12),
        ("from_block=13&to_block=13".to_owned(), 13, 13),
        ("from_date=2021-06-04T16:01:27Z&to_date=2021-06-04%2016:02:39".to_owned(), 6, 12),
    ] {
        let expected = in_blocks(from, to);
        assert!(!expected.is_empty());
        assert_eq!(market.ids(APES, &format!("limit=3&{query}")), expected, "{query}");
    }
    for empty in
        ["from_block=12&to_block=6", "from_block=30", "to_date=1999-01-01", "from_date=2031-01-01"]
    {
        let answer = market.trades(APES, empty);
        assert_eq!((answer.status, market.ids(APES, empty)), (200, vec![]), "{empty}");
    }
}

#[test]
fn a_bundle_is_one_row_with_all_its_tokens() {
    let mut market = NftMarket::new();
    let ids: Vec<U256> = vec![U256::from(7), U256::MAX, U256::from(9)];
    market.mine(START, &[Sale { ids: ids.clone(), ..ape(0, 100) }]);
    let rows = market.trades(APES, "").json();
    let expected: Vec<String> = ids.iter().map(U256::to_string).collect();
    assert_eq!(rows["result"][0]["token_ids"], serde_json::json!(expected));
    assert_eq!(rows["result"].as_array().unwrap().len(), 1);
}

const SPEC: &str = r#"{"page":"0","page_size":"100","cursor":"","result":[{"transaction_hash":"TX","transaction_index":"1","token_ids":["7"],"seller_address":"0x5151515151515151515151515151515151515151","buyer_address":"0xb1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1","token_address":"0xcacacacacacacacacacacacacacacacacacacaca","marketplace_address":"0x00000000000000adc04c56bf30ac9d3c0aaf14dc","price_token_address":"0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2","price":"115792089237316195423570985008687907853269984665640564039457584007913129639935","block_timestamp":"2021-06-04T16:00:15","block_number":"0","block_hash":"BLOCK","verified_collection":"true"}]}"#;
const LIVE: &str = r#"{"page":0,"page_size":100,"cursor":null,"result":[{"transaction_hash":"TX","transaction_index":"1","token_ids":["7"],"seller_address":"0x5151515151515151515151515151515151515151","buyer_address":"0xb1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1","token_address":"0xcacacacacacacacacacacacacacacacacacacaca","marketplace_address":"0x00000000000000adc04c56bf30ac9d3c0aaf14dc","price_token_address":"0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2","price":"115792089237316195423570985008687907853269984665640564039457584007913129639935","block_timestamp":"2021-06-04T16:00:15.000Z","block_number":"0","block_hash":"BLOCK","verified_collection":true,"marketplace":"opensea","token_quantities":["1"],"mixed_order":false,"reconciled":true}]}"#;

#[test]
fn both_profiles_write_a_row_to_the_byte() {
    let mut market = NftMarket::new();
    let weth = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2".parse::<Address>().unwrap();
    let cat = Sale { contract: CATS, currency: weth, price: U256::MAX, ..ape(7, 0) };
    market.mine(START, &[ape(1, 1), cat]);
    let target = format!("/api/v2.2/nft/{CATS:#x}/trades?chain=eth&nft_metadata=true");
    for (profile, expected) in [("spec", SPEC), ("live", LIVE)] {
        let answer = market.server.get_as(profile, &target);
        let row = &answer.json()["result"][0];
        let [tx, block] =
            ["transaction_hash", "block_hash"].map(|name| row[name].as_str().unwrap());
        assert!(tx.len() == 66 && block.len() == 66 && tx != block);
        assert_eq!(answer.body.replace(tx, "TX").replace(block, "BLOCK"), expected);
    }
    let sdk = format!(
        "GET {target} HTTP/1.1\r\nauthorization: Bearer key\r\nx-moralis-platform: NodeJS SDK\r\n"
    );
    assert_eq!(market.server.send(&sdk, b"").body, market.server.get_as("live", &target).body);
    let other = market.trades(APES, "").json();
    assert_eq!(other["result"][0]["verified_collection"], "false", "not on the operator's list");
}

#[test]
fn an_answer_says_what_it_costs_and_which_blocks_it_rests_on() {
    let mut market = NftMarket::new();
    let nothing = market.trades(APES, "");
    assert_eq!((nothing.status, nothing.header("retry-after")), (503, Some("1")));
    market.mine(START, &[]);
    market.mine(START + DAY, &[ape(1, 1)]);
    let answer = market.trades(APES, "");
    assert_eq!(answer.header("x-indexed-blocks"), Some("0-1"));
    assert_eq!(answer.header("x-coverage"), None);
    assert_eq!(answer.header("x-request-weight"), Some("40"));
    assert_eq!(answer.header("vary"), Some("x-wire-profile, x-moralis-platform"));
}
