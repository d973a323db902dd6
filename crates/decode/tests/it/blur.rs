//! Blur v1 with whole orders, Blur v2 with packed ones.

use alloy_primitives::{Address, B256, U256};

use crate::build::*;
use crate::words;

/// An order as v1 writes it; a fee in basis points.
fn order(trader: Address, id: u64, many: u64, currency: Address, fee_bps: &[u64]) -> Vec<u8> {
    let mut head: Vec<_> = [trader.word(), 0u64.word(), FEES.word(), APES.word(), id.word()]
        .into_iter()
        .chain([many.word(), currency.word(), 100u64.word(), 1u64.word(), 2u64.word()])
        .map(Some)
        .collect();
    head.extend([None, Some(7u64.word()), None]);
    let fees: Vec<_> = fee_bps.iter().map(|bps| words![*bps, FEES]).collect();
    tuple(&head, &[list(&fees), words![0u64]])
}

fn matched(made: Made, sell: Vec<u8>, buy: Vec<u8>) -> Made {
    const ORDER: &str = "(address,uint8,address,address,uint256,uint256,address,uint256,uint256,uint256,\
                         (uint16,address)[],uint256,bytes)";
    let signature = format!("OrdersMatched(address,address,{ORDER},bytes32,{ORDER},bytes32)");
    let topics = [topic(&signature), SELLER.word(), BUYER.word()];
    let hash = Some(B256::ZERO);
    made.log(exchange("blur", "1"), &topics, tuple(&[None, hash, None, hash], &[sell, buy]))
}

#[test]
fn a_v1_listing_has_the_sellers_fees_in_its_price() {
    let sell = order(SELLER, 7, 1, NATIVE, &[500]);
    let made = matched(Made::by(BUYER), sell, order(BUYER, 7, 1, NATIVE, &[]));
    let trade = made.nft(APES, SELLER, BUYER, 7).trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
    assert!(trade.reconciled);
}

#[test]
fn a_v1_buyers_fees_come_on_top() {
    let buy = order(BUYER, 7, 1, NATIVE, &[300, 200]);
    let made = matched(Made::by(BUYER), order(SELLER, 7, 1, NATIVE, &[]), buy);
    assert_sold(&made.nft(APES, SELLER, BUYER, 7).trade(), SELLER, BUYER, NATIVE, 105);
}

#[test]
fn a_v1_collection_bid_from_the_pool_takes_the_token_of_the_sell_order() {
    let buy = order(BUYER, 0, 1, pool(), &[]);
    let made = matched(Made::by(SELLER), order(SELLER, 7, 1, pool(), &[]), buy);
    let trade = made.coin(pool(), BUYER, SELLER, 100).nft(APES, SELLER, BUYER, 7).trade();
    assert_sold(&trade, SELLER, BUYER, pool(), 100);
    assert_eq!(tokens(&trade), [(7, 1)]);
    assert!(trade.reconciled);
}

#[test]
fn a_v1_sale_of_several_of_a_token_has_its_quantity() {
    let sell = order(SELLER, 7, 4, NATIVE, &[]);
    let made = matched(Made::by(BUYER), sell, order(BUYER, 7, 4, NATIVE, &[]));
    let trade = made.multi(APES, SELLER, ROUTER, (7, 4)).multi(APES, ROUTER, BUYER, (7, 4)).trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
    assert_eq!(tokens(&trade), [(7, 4)]);
}

/// Side, price and collection; token and trader; rate and recipient of the fee.
fn packed(made: Made, name: &str, (side, trader): (u64, Address), fee_bps: Option<u64>) -> Made {
    let high = |value: u64, bits: usize| U256::from(value) << bits;
    let low = |address: Address| U256::from_be_bytes(address.into_word().0);
    let token = high(7, 168) | high(3, 160) | low(trader);
    let order = high(side, 248) | high(100, 160) | low(APES);
    let mut data = words![B256::ZERO, token, order];
    data.extend(fee_bps.map(|bps| words![high(bps, 160) | low(FEES)]).unwrap_or_default());
    let kinds = if fee_bps.is_some() {
        "(bytes32,uint256,uint256,uint256)"
    } else {
        "(bytes32,uint256,uint256)"
    };
    made.log(exchange("blur", "2"), &[topic(&format!("{name}{kinds}"))], data)
}

#[test]
fn a_v2_listing_finds_its_buyer_in_the_transfers() {
    for (name, fee, price) in [
        ("Execution721Packed", None, 100),
        ("Execution721MakerFeePacked", Some(500), 100),
        ("Execution721TakerFeePacked", Some(500), 105),
    ] {
        let made = Made::by(BUYER).nft(APES, SELLER, ROUTER, 7).nft(APES, ROUTER, BUYER, 7);
        let trade = packed(made, name, (0, SELLER), fee).trade();
        assert_sold(&trade, SELLER, BUYER, NATIVE, price);
        assert_eq!((trade.contract, tokens(&trade)), (APES, vec![(7, 1)]));
        assert!(trade.reconciled);
    }
}

#[test]
fn a_v2_bid_is_paid_from_the_pool_and_finds_its_seller_in_the_transfers() {
    for (name, fee, price) in [
        ("Execution721Packed", None, 100),
        ("Execution721TakerFeePacked", Some(500), 100),
        ("Execution721MakerFeePacked", Some(500), 105),
    ] {
        let made = Made::by(ROUTER).nft(APES, SELLER, BUYER, 7).coin(pool(), BUYER, SELLER, 100);
        let trade = packed(made, name, (1, BUYER), fee).trade();
        assert_sold(&trade, SELLER, BUYER, pool(), price);
        assert!(trade.reconciled);
    }
}

#[test]
fn a_v2_event_without_its_transfer_is_kept_and_marked() {
    let trade = packed(Made::by(BUYER), "Execution721Packed", (0, SELLER), None).trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
    assert!(!trade.reconciled);
    assert!(packed(Made::by(BUYER), "Execution721Packed", (2, SELLER), None).trades().is_empty());
}

#[test]
fn a_v2_sale_of_several_of_a_token_is_told_in_full() {
    let signature = "Execution((address,uint256,uint256,address,uint8),bytes32,uint256,uint256,\
                     (address,uint16),((address,uint16),(address,uint16)),uint8)";
    let data = words![
        SELLER, 7u64, 4u64, APES, 1u64, // what moves
        0u64, 0u64, 100u64, // order, listing, price
        FEES, 100u64, FEES, 0u64, FEES, 500u64, // fees of maker, protocol, taker
        0u64,
    ];
    let made = Made::by(BUYER).multi(APES, SELLER, BUYER, (7, 4));
    let trade = made.log(exchange("blur", "2"), &[topic(signature)], data).trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 105);
    assert_eq!(tokens(&trade), [(7, 4)]);
    assert!(trade.reconciled);
}
