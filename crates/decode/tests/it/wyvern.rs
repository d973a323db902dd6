//! Wyvern: token, side and currency come from the transfers.

use alloy_primitives::{Address, B256};

use crate::build::*;
use crate::words;

fn wyvern() -> Address {
    exchange("wyvern", "2")
}

pub trait Wyvern {
    fn matched_at(self, maker: Address, taker: Address, price: u64) -> Self;
}

impl Wyvern for Made {
    fn matched_at(self, maker: Address, taker: Address, price: u64) -> Self {
        let signature = "OrdersMatched(bytes32,bytes32,address,address,uint256,bytes32)";
        let topics = [topic(signature), maker.word(), taker.word(), B256::ZERO];
        self.log(wyvern(), &topics, words![0u64, 0u64, price])
    }
}

#[test]
fn a_listing_is_sold_by_its_maker() {
    for version in ["1", "2"] {
        let made = Made::by(BUYER).nft(APES, SELLER, BUYER, 7).matched_at(SELLER, BUYER, 100);
        let mut made = made;
        made.logs[1].address = Some(exchange("wyvern", version));
        let trade = made.trade();
        assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
        assert_eq!((trade.contract, tokens(&trade)), (APES, vec![(7, 1)]));
        assert!(trade.reconciled);
    }
}

#[test]
fn an_offer_is_sold_to_its_maker_and_its_currency_is_what_was_paid_with() {
    let trade = Made::by(SELLER)
        .coin(weth(), BUYER, SELLER, 100)
        .coin(weth(), SELLER, FEES, 8)
        .nft(APES, SELLER, BUYER, 7)
        .matched_at(BUYER, SELLER, 100)
        .trade();
    assert_sold(&trade, SELLER, BUYER, weth(), 100);
    assert!(trade.reconciled);
}

#[test]
fn a_bundle_is_all_that_moved_since_the_sale_before() {
    let trades = Made::by(BUYER)
        .nft(APES, SELLER, BUYER, 6)
        .matched_at(SELLER, BUYER, 50)
        .nft(APES, SELLER, BUYER, 7)
        .multi(APES, SELLER, BUYER, (8, 3))
        .matched_at(SELLER, BUYER, 100)
        .trades();
    assert_eq!(trades.iter().map(tokens).collect::<Vec<_>>(), [vec![(6, 1)], vec![(7, 1), (8, 3)]]);
    assert!(trades.iter().all(|trade| trade.reconciled));
}

#[test]
fn a_router_is_not_the_buyer() {
    let direct = Made::by(BUYER).nft(APES, SELLER, BUYER, 7).matched_at(SELLER, ROUTER, 100);
    let passed_on = Made::by(BUYER)
        .nft(APES, SELLER, ROUTER, 7)
        .matched_at(SELLER, ROUTER, 100)
        .nft(APES, ROUTER, BUYER, 7);
    for made in [direct, passed_on] {
        assert_sold(&made.trade(), SELLER, BUYER, NATIVE, 100);
    }
}

#[test]
fn a_token_made_for_the_sale_is_the_makers() {
    let trade =
        Made::by(BUYER).nft(APES, Address::ZERO, BUYER, 7).matched_at(SELLER, BUYER, 100).trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
    assert!(trade.reconciled);
}

#[test]
fn tokens_from_before_the_standard_are_sold_too() {
    let old = topic("Transfer(address,address,uint256)");
    let made = |from: Address, to: Address| {
        Made::by(BUYER).log(CATS, &[old], words![from, to, 7u64]).matched_at(SELLER, BUYER, 100)
    };
    let trade = made(SELLER, BUYER).trade();
    assert_eq!((trade.contract, tokens(&trade)), (CATS, vec![(7, 1)]));
    assert!(made(SELLER, FEES).trades().is_empty(), "it may be a coin");
}

#[test]
fn without_a_token_there_is_no_trade() {
    assert!(Made::by(BUYER).matched_at(SELLER, BUYER, 100).trades().is_empty());
    let other = Made::by(BUYER).nft(APES, FEES, ROUTER, 7).matched_at(SELLER, BUYER, 100);
    assert!(other.trades().is_empty());
}

#[test]
fn the_call_tells_currency_and_the_buyers_fee() {
    let call = |currency: Address, taker_fee: u64| {
        let mut words = vec![B256::ZERO; 40];
        words[10] = FEES.word();
        words[13] = currency.word();
        words[24] = taker_fee.word();
        words[36] = 1u64.word();
        [vec![0xab, 0x83, 0x4b, 0xab], words.concat()].concat()
    };
    let made = Made::by(BUYER).nft(APES, SELLER, BUYER, 7).matched_at(SELLER, BUYER, 100);
    let fee = made.clone().calling(wyvern(), 110, call(NATIVE, 1_000)).trade();
    assert_sold(&fee, SELLER, BUYER, NATIVE, 110);
    let token = made.clone().calling(wyvern(), 0, call(FEES, 0)).trade();
    assert_sold(&token, SELLER, BUYER, FEES, 100);
    assert!(!token.reconciled, "nobody paid with that token");
    let elsewhere = made.calling(ROUTER, 110, call(FEES, 1_000)).trade();
    assert_sold(&elsewhere, SELLER, BUYER, NATIVE, 100);
}
