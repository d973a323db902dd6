//! Dates as blocks: the closest stored one, and what is said where it may be another.

use alloy_primitives::B256;
use serde_json::{Value, json};

use crate::test_server::Answer;
use crate::token_market::*;

fn ask(market: &TokenMarket, query: &str) -> Answer {
    market.server.get(&format!("/api/v2.2/dateToBlock?chain=eth&{query}"))
}

fn closest(market: &TokenMarket, time: u64) -> Value {
    let answer = ask(market, &format!("date={time}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["block"].clone()
}

#[test]
fn the_closest_block_is_told_with_its_hash_and_time_alike_in_both_profiles() {
    let mut market = TokenMarket::new();
    for _ in 0..3 {
        market.block(Vec::new());
    }
    let time = START + BLOCK_S;
    let expected = json!({
        "date": "2023-11-14T22:13:35+00:00",
        "block": FIRST + 1,
        "timestamp": time,
        "block_timestamp": "2023-11-14T22:13:32.000Z",
        "hash": hash_of(&market, FIRST + 1),
        "parent_hash": hash_of(&market, FIRST),
    });
    for query in [format!("date={}", time + 3), "date=2023-11-14T22:13:35.900Z".to_owned()] {
        let answer = ask(&market, &query);
        assert_eq!(answer.json(), expected, "{query}");
        assert_eq!(answer.header("x-indexed-blocks"), Some("1000-1002"));
        assert_eq!(answer.header("x-request-weight"), Some("1"));
        assert_eq!(answer.header("x-coverage"), None);
    }
    let target = format!("/api/v2.2/dateToBlock?chain=0x1&date={}000", time + 3);
    assert_eq!(market.server.get_as("live", &target).json(), expected);
}

fn hash_of(market: &TokenMarket, number: u64) -> String {
    let view = crate::test_server::block_on(market.store.view()).unwrap();
    let block = crate::test_server::block_on(view.block_summary(ETH, number)).unwrap();
    block.map_or(B256::ZERO, |block| block.hash).to_string()
}

#[test]
fn between_two_blocks_the_closer_one_counts_and_the_earlier_of_equal_ones() {
    let mut market = TokenMarket::new();
    let first = market.block(Vec::new());
    market.block(Vec::new());
    for (after_s, block) in
        [(0, first), (5, first), (6, first), (7, first + 1), (12, first + 1), (99, first + 1)]
    {
        assert_eq!(closest(&market, START + after_s), block, "{after_s} s after the first");
    }
    assert_eq!(closest(&market, 0), first, "nothing is older");
    market.block_after(0, Vec::new());
    assert_eq!(closest(&market, START + 12), first + 1, "made in the same second");
    market.revert();
    assert_eq!(ask(&market, "").json()["block"], first + 1, "without a date the newest");
    market.revert();
    assert_eq!(closest(&market, START + 12), first, "the other one is gone");
}

#[test]
fn a_date_in_a_gap_is_answered_and_marked() {
    let mut market = TokenMarket::new();
    let last = market.block(Vec::new());
    market.skip(50);
    let next = market.block(Vec::new());
    for (time, block, coverage) in [
        (START, last, None),
        (START + 10 * BLOCK_S, last, Some("partial")),
        (START + 45 * BLOCK_S, next, Some("partial")),
        (START + 51 * BLOCK_S, next, None),
        (START - 600, last, Some("partial")),
    ] {
        let answer = ask(&market, &format!("date={time}"));
        assert_eq!(
            (&answer.json()["block"], answer.header("x-coverage")),
            (&block.into(), coverage)
        );
    }
}

#[test]
fn what_cannot_be_answered_says_why() {
    let market = TokenMarket::new();
    let answer = ask(&market, "date=2024-01-01");
    assert_eq!(answer.status, 503);
    assert!(answer.message().starts_with("no block of eth is indexed yet"), "{answer:?}");
    for (query, says) in [
        ("date=yesterday", "date: 'yesterday' is not a date"),
        ("date=1969-12-31", "date with value '1969-12-31' is before 1970"),
    ] {
        let answer = ask(&market, query);
        assert_eq!(answer.status, 400);
        assert!(answer.message().starts_with(says), "{}", answer.message());
    }
    let elsewhere = market.server.get("/api/v2.2/dateToBlock?chain=nowhere");
    assert_eq!(elsewhere.status, 400);
    let keyless = market.server.send("GET /api/v2.2/dateToBlock HTTP/1.1\r\n", b"");
    assert_eq!(keyless.status, 401);
}
