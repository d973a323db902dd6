//! LooksRare v1 and v2, X2Y2, 0x v4.

use alloy_primitives::{Address, B256, address};

use crate::build::*;
use crate::words;

fn looks_v1(made: Made, name: &str, taker: Address, maker: Address) -> Made {
    let signature =
        "(bytes32,uint256,address,address,address,address,address,uint256,uint256,uint256)";
    let topics = [topic(&format!("{name}{signature}")), taker.word(), maker.word(), FEES.word()];
    let data = words![B256::ZERO, 1u64, weth(), APES, 7u64, 1u64, 100u64];
    made.log(exchange("looksrare", "1"), &topics, data)
}

#[test]
fn looksrare_v1_listing_is_in_weth_where_weth_moved_and_native_where_not() {
    let market = exchange("looksrare", "1");
    let made = Made::by(BUYER).calling(market, 100, vec![]).nft(APES, SELLER, BUYER, 7);
    let wrapped = made.clone().coin(weth(), market, SELLER, 98).coin(weth(), market, FEES, 2);
    let trade = looks_v1(wrapped, "TakerBid", BUYER, SELLER).trade();
    assert_sold(&trade, SELLER, BUYER, weth(), 100);
    assert!(trade.reconciled);
    assert_sold(&looks_v1(made, "TakerBid", BUYER, SELLER).trade(), SELLER, BUYER, NATIVE, 100);
}

#[test]
fn looksrare_v1_offer_is_sold_by_its_taker() {
    let made = Made::by(SELLER).nft(APES, SELLER, BUYER, 7).coin(weth(), BUYER, SELLER, 98);
    let trade = looks_v1(made, "TakerAsk", SELLER, BUYER).trade();
    assert_sold(&trade, SELLER, BUYER, weth(), 100);
    assert!(trade.reconciled);
}

fn looks_v2(made: Made, name: &str, users: [Address; 2], proceeds_to: Address) -> Made {
    let signature = "((bytes32,uint256,bool),address,address,uint256,address,address,uint256[],uint256[],\
                     address[2],uint256[3])";
    let mut head: Vec<_> = [0u64; 3].map(|zero| Some(zero.word())).to_vec();
    head.extend([Some(users[0].word()), Some(users[1].word()), Some(0u64.word())]);
    head.extend([Some(weth().word()), Some(APES.word()), None, None]);
    head.extend([Some(proceeds_to.word()), Some(FEES.word())]);
    head.extend([93u64, 5, 2].map(|amount| Some(amount.word())));
    let ids = list(&[words![7u64], words![8u64]]);
    let amounts = list(&[words![1u64], words![3u64]]);
    let topics = [topic(&format!("{name}{signature}"))];
    made.log(exchange("looksrare", "2"), &topics, tuple(&head, &[ids, amounts]))
}

#[test]
fn looksrare_v2_adds_up_what_all_got() {
    let made = Made::by(BUYER)
        .multi(APES, SELLER, BUYER, (7, 1))
        .multi(APES, SELLER, BUYER, (8, 3))
        .coin(weth(), BUYER, SELLER, 93);
    for (name, users) in [("TakerBid", [ROUTER, BUYER]), ("TakerAsk", [SELLER, BUYER])] {
        let trade = looks_v2(made.clone(), name, users, SELLER).trade();
        assert_sold(&trade, SELLER, BUYER, weth(), 100);
        assert_eq!(tokens(&trade), [(7, 1), (8, 3)]);
        assert!(trade.reconciled, "{name}");
    }
}

fn x2y2(made: Made, op: u64, [maker, taker]: [Address; 2], items: &[Vec<u8>]) -> Made {
    let signature = "EvInventory(bytes32,address,address,uint256,uint256,uint256,uint256,uint256,address,\
                     bytes,(uint256,bytes),(uint8,uint256,uint256,uint256,bytes32,address,bytes,\
                     uint256,uint256,uint256,(uint256,address)[]))";
    let kind = if items[0].len() == 64 { 1u64 } else { 2 };
    let content = tuple(&[None], &[list(items)]);
    let bytes = [words![content.len() as u64], content].concat();
    let item = tuple(&[Some(100u64.word()), None], &[bytes]);
    let detail =
        words![op, 0u64, 0u64, 100u64, B256::ZERO, FEES, 352u64, 0u64, 0u64, 0u64, 352u64, 0u64];
    let mut head: Vec<_> = [maker.word(), taker.word()].map(Some).to_vec();
    head.extend([0u64, 0, 1, kind, 0].map(|number| Some(number.word())));
    head.extend([Some(weth().word()), None, None, None]);
    let data = tuple(&head, &[words![0u64], item, detail]);
    made.log(exchange("x2y2", "1"), &[topic(signature), B256::ZERO], data)
}

#[test]
fn x2y2_sells_from_maker_or_taker_as_the_operation_says() {
    let made = Made::by(BUYER).nft(APES, SELLER, BUYER, 7).coin(weth(), BUYER, SELLER, 95);
    for (op, parties) in [(1, [SELLER, BUYER]), (2, [BUYER, SELLER])] {
        let trade = x2y2(made.clone(), op, parties, &[words![APES, 7u64]]).trade();
        assert_sold(&trade, SELLER, BUYER, weth(), 100);
        assert_eq!((trade.contract, tokens(&trade)), (APES, vec![(7, 1)]));
        assert!(trade.reconciled);
    }
    for op in [0, 3, 4, 5, 6, 7] {
        let trades = x2y2(made.clone(), op, [SELLER, BUYER], &[words![APES, 7u64]]).trades();
        assert!(trades.is_empty(), "{op} is no sale");
    }
}

#[test]
fn x2y2_bundles_quantities_and_routers() {
    let made = Made::by(BUYER)
        .multi(APES, SELLER, ROUTER, (7, 2))
        .multi(APES, SELLER, ROUTER, (8, 1))
        .multi(APES, ROUTER, BUYER, (7, 2))
        .multi(APES, ROUTER, BUYER, (8, 1))
        .coin(weth(), ROUTER, SELLER, 95);
    let items = [words![APES, 7u64, 2u64], words![APES, 8u64, 1u64]];
    let trade = x2y2(made, 1, [SELLER, ROUTER], &items).trade();
    assert_sold(&trade, SELLER, BUYER, weth(), 100);
    assert_eq!(tokens(&trade), [(7, 2), (8, 1)]);
    assert!(trade.reconciled);
}

const ZERO_EX_NATIVE: Address = address!("EeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE");

fn zero_ex(made: Made, direction: u64, [maker, taker]: [Address; 2], currency: Address) -> Made {
    let signature =
        "ERC721OrderFilled(uint8,address,address,uint256,address,uint256,address,uint256,address)";
    let data = words![direction, maker, taker, 9u64, currency, 100u64, APES, 7u64, NATIVE];
    made.log(exchange("0x", "4"), &[topic(signature)], data)
}

/// A call with one order, its fees and, for ERC1155, how many it is for.
fn zero_ex_call(maker: Address, fees: &[u64], many: Option<u64>) -> Vec<u8> {
    let fees: Vec<_> = fees
        .iter()
        .map(|fee| tuple(&[Some(FEES.word()), Some(fee.word()), None], &[words![0u64]]))
        .collect();
    let offsets = vec![None; fees.len()];
    let fees = [words![fees.len() as u64], tuple(&offsets, &fees)].concat();
    let mut head: Vec<_> = [0u64.word(), maker.word(), NATIVE.word(), 1u64.word(), 9u64.word()]
        .into_iter()
        .chain([ZERO_EX_NATIVE.word(), 100u64.word()])
        .map(Some)
        .collect();
    head.extend([None, Some(APES.word()), Some(7u64.word()), None]);
    head.extend(many.map(|many| Some(many.word())));
    let order = tuple(&head, &[fees, words![0u64]]);
    [vec![1, 2, 3, 4], tuple(&[None], &[order])].concat()
}

#[test]
fn zero_ex_fees_come_on_top_and_are_in_the_call() {
    let made = Made::by(BUYER).nft(APES, SELLER, BUYER, 7);
    let made = zero_ex(made, 0, [SELLER, BUYER], ZERO_EX_NATIVE);
    let market = exchange("0x", "4");
    let call = |maker| zero_ex_call(maker, &[4, 6], None);
    assert_sold(&made.clone().trade(), SELLER, BUYER, NATIVE, 100);
    let called = made.clone().calling(market, 110, call(SELLER)).trade();
    assert_sold(&called, SELLER, BUYER, NATIVE, 110);
    let other_order = made.calling(market, 110, call(FEES)).trade();
    assert_sold(&other_order, SELLER, BUYER, NATIVE, 100);
}

#[test]
fn zero_ex_bids_count_all_that_the_bidder_paid() {
    let made = Made::by(SELLER).nft(APES, SELLER, BUYER, 7).coin(weth(), BUYER, SELLER, 100).coin(
        weth(),
        BUYER,
        FEES,
        10,
    );
    let trade = zero_ex(made, 1, [BUYER, SELLER], weth()).trade();
    assert_sold(&trade, SELLER, BUYER, weth(), 110);
    assert!(trade.reconciled);
}

#[test]
fn zero_ex_sells_parts_of_a_quantity_for_parts_of_the_fees() {
    let signature = "ERC1155OrderFilled(uint8,address,address,uint256,address,uint256,address,uint256,\
                     uint128,address)";
    let data = words![0u64, SELLER, BUYER, 9u64, ZERO_EX_NATIVE, 50u64, APES, 7u64, 2u64, NATIVE];
    let market = exchange("0x", "4");
    let trade = Made::by(BUYER)
        .calling(market, 55, zero_ex_call(SELLER, &[10], Some(4)))
        .multi(APES, SELLER, BUYER, (7, 2))
        .log(market, &[topic(signature)], data)
        .trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 55);
    assert_eq!(tokens(&trade), [(7, 2)]);
    assert!(trade.reconciled);
}
