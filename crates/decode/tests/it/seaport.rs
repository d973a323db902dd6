//! Seaport: listings, bids, bundles and orders matched with each other.

use alloy_primitives::{Address, B256};

use crate::build::*;
use crate::words;

const COIN: u64 = 0;
const ERC20: u64 = 1;
const NFT: u64 = 2;
const MULTI: u64 = 3;

type Item = (u64, Address, u64, u64);

/// What an order gave, and what it asked for and for whom.
#[derive(Default)]
pub struct Order {
    pub hash: u8,
    pub offerer: Address,
    pub recipient: Address,
    pub offer: Vec<Item>,
    pub asks: Vec<(Item, Address)>,
}

fn seaport() -> Address {
    exchange("seaport", "1.5")
}

impl Order {
    pub fn data(&self) -> Vec<u8> {
        let spent = |item: &Item| words![item.0, item.1, item.2, item.3];
        let offer: Vec<_> = self.offer.iter().map(spent).collect();
        let asks: Vec<_> =
            self.asks.iter().map(|(item, to)| [spent(item), words![*to]].concat()).collect();
        let head = [Some(B256::repeat_byte(self.hash)), Some(self.recipient.word()), None, None];
        tuple(&head, &[list(&offer), list(&asks)])
    }
}

pub trait Seaport {
    fn fulfilled(self, order: &Order) -> Self;
    fn matched(self, orders: &[&Order]) -> Self;
}

impl Seaport for Made {
    fn fulfilled(self, order: &Order) -> Self {
        self.fulfilled_on(seaport(), order)
    }

    fn matched(self, orders: &[&Order]) -> Self {
        let hashes: Vec<_> = orders.iter().map(|it| words![B256::repeat_byte(it.hash)]).collect();
        let made = orders.iter().fold(self, |made, order| made.fulfilled(order));
        made.log(seaport(), &[topic("OrdersMatched(bytes32[])")], tuple(&[None], &[list(&hashes)]))
    }
}

impl Made {
    fn fulfilled_on(self, exchange: Address, order: &Order) -> Self {
        let signature = "OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],\
                         (uint8,address,uint256,uint256,address)[])";
        self.log(exchange, &[topic(signature), order.offerer.word(), B256::ZERO], order.data())
    }
}

pub fn listing(items: &[Item]) -> Order {
    Order {
        hash: 1,
        offerer: SELLER,
        recipient: BUYER,
        offer: items.to_vec(),
        asks: vec![((COIN, NATIVE, 0, 90), SELLER), ((COIN, NATIVE, 0, 10), FEES)],
    }
}

fn bid(item: Item) -> Order {
    let asks = vec![(item, BUYER), ((ERC20, weth(), 0, 5), FEES)];
    Order { hash: 2, offerer: BUYER, recipient: SELLER, offer: vec![(ERC20, weth(), 0, 100)], asks }
}

#[test]
fn the_price_of_a_listing_has_fees_in_it_once() {
    let trade = Made::by(BUYER)
        .fulfilled(&listing(&[(NFT, APES, 7, 1)]))
        .nft(APES, SELLER, BUYER, 7)
        .trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
    assert_eq!((trade.contract, tokens(&trade)), (APES, vec![(7, 1)]));
    assert!(trade.reconciled && !trade.mixed);
}

#[test]
fn an_accepted_offer_is_paid_in_weth_and_its_fees_are_the_sellers() {
    let trade = Made::by(SELLER)
        .fulfilled(&bid((NFT, APES, 7, 1)))
        .coin(weth(), BUYER, SELLER, 100)
        .nft(APES, SELLER, BUYER, 7)
        .coin(weth(), SELLER, FEES, 5)
        .trade();
    assert_sold(&trade, SELLER, BUYER, weth(), 100);
    assert!(trade.reconciled);
}

#[test]
fn a_bundle_is_one_trade_with_all_its_tokens() {
    let trade = Made::by(BUYER)
        .fulfilled(&listing(&[(NFT, APES, 7, 1), (NFT, APES, 8, 1)]))
        .nft(APES, SELLER, BUYER, 7)
        .nft(APES, SELLER, BUYER, 8)
        .trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
    assert_eq!(tokens(&trade), [(7, 1), (8, 1)]);
    assert!(trade.reconciled);
}

#[test]
fn an_order_with_two_contracts_is_a_trade_for_each_with_the_whole_price() {
    let trades = Made::by(BUYER)
        .fulfilled(&listing(&[(NFT, APES, 7, 1), (NFT, CATS, 8, 1)]))
        .nft(APES, SELLER, BUYER, 7)
        .nft(CATS, SELLER, BUYER, 8)
        .trades();
    assert_eq!(trades.iter().map(|it| it.contract).collect::<Vec<_>>(), [APES, CATS]);
    for trade in &trades {
        assert_sold(trade, SELLER, BUYER, NATIVE, 100);
        assert!(trade.mixed && trade.reconciled);
    }
}

#[test]
fn an_erc1155_listing_sells_a_quantity() {
    let trade = Made::by(BUYER)
        .fulfilled(&listing(&[(MULTI, APES, 7, 5)]))
        .multi(APES, SELLER, BUYER, (7, 5))
        .trade();
    assert_eq!(tokens(&trade), [(7, 5)]);
    assert_eq!(trade.quantity().to::<u64>(), 5);
    assert!(trade.reconciled);
}

#[test]
fn two_orders_for_one_token_share_a_transfer_of_both() {
    let other = Order { hash: 3, ..listing(&[(MULTI, APES, 7, 2)]) };
    let trades = Made::by(BUYER)
        .fulfilled(&listing(&[(MULTI, APES, 7, 5)]))
        .fulfilled(&other)
        .multi(APES, SELLER, BUYER, (7, 7))
        .trades();
    assert_eq!(trades.iter().map(tokens).collect::<Vec<_>>(), [[(7, 5)], [(7, 2)]]);
    assert!(trades.iter().all(|trade| trade.reconciled));
}

#[test]
fn orders_matched_with_each_other_are_one_sale_at_all_the_bidder_gave() {
    let ask = Order {
        recipient: ROUTER,
        asks: vec![((ERC20, weth(), 0, 95), SELLER)],
        ..listing(&[(NFT, APES, 7, 1)])
    };
    let bid = Order { recipient: ROUTER, ..bid((NFT, APES, 7, 1)) };
    let trade = Made::by(ROUTER)
        .matched(&[&bid, &ask])
        .nft(APES, SELLER, BUYER, 7)
        .coin(weth(), BUYER, SELLER, 95)
        .coin(weth(), BUYER, FEES, 5)
        .trade();
    assert_sold(&trade, SELLER, BUYER, weth(), 100);
    assert!(trade.reconciled);
}

#[test]
fn orders_without_recipient_are_matched_even_where_nothing_lists_them() {
    let ask = Order {
        recipient: Address::ZERO,
        asks: vec![((ERC20, weth(), 0, 95), SELLER)],
        ..listing(&[(NFT, APES, 7, 1)])
    };
    let bid = Order { recipient: Address::ZERO, ..bid((NFT, APES, 7, 1)) };
    let first = exchange("seaport", "1.1");
    let trade = Made::by(ROUTER)
        .fulfilled_on(first, &ask)
        .fulfilled_on(first, &bid)
        .nft(APES, SELLER, BUYER, 7)
        .coin(weth(), BUYER, SELLER, 100)
        .trade();
    assert_sold(&trade, SELLER, BUYER, weth(), 100);
    assert_eq!(trade.marketplace, first);
}

#[test]
fn a_bid_filled_by_two_sellers_is_two_sales_at_what_each_asked_for() {
    let second = Address::repeat_byte(0x52);
    let ask = |hash, offerer, many, coins| Order {
        hash,
        offerer,
        recipient: ROUTER,
        offer: vec![(MULTI, APES, 7, many)],
        asks: vec![((ERC20, weth(), 0, coins), offerer)],
    };
    let (one, two) = (ask(1, SELLER, 2, 40), ask(3, second, 3, 60));
    let bid = Order {
        recipient: ROUTER,
        asks: vec![((MULTI, APES, 7, 5), BUYER)],
        ..bid((MULTI, APES, 7, 5))
    };
    let trades = Made::by(ROUTER)
        .matched(&[&one, &two, &bid])
        .multi(APES, SELLER, BUYER, (7, 2))
        .multi(APES, second, BUYER, (7, 3))
        .coin(weth(), BUYER, SELLER, 40)
        .coin(weth(), BUYER, second, 60)
        .trades();
    assert_eq!(trades.len(), 2);
    assert_sold(&trades[0], SELLER, BUYER, weth(), 40);
    assert_sold(&trades[1], second, BUYER, weth(), 60);
    assert!(trades.iter().all(|trade| trade.reconciled));
}

#[test]
fn a_private_sale_is_matched_with_an_order_that_only_pays() {
    let mut ask = Order { recipient: Address::ZERO, ..listing(&[(NFT, APES, 7, 1)]) };
    ask.asks.push(((NFT, APES, 7, 1), BUYER));
    let pays =
        Order { hash: 2, offerer: BUYER, offer: vec![(COIN, NATIVE, 0, 100)], ..Order::default() };
    let trade = Made::by(BUYER).matched(&[&ask, &pays]).nft(APES, SELLER, BUYER, 7).trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
    assert!(trade.reconciled);
}

#[test]
fn nfts_for_nfts_are_no_sale() {
    let mut swap = listing(&[(NFT, APES, 7, 1)]);
    swap.asks = vec![((NFT, CATS, 8, 1), SELLER), ((COIN, NATIVE, 0, 1), FEES)];
    let made = Made::by(BUYER).nft(APES, SELLER, BUYER, 7).nft(CATS, BUYER, SELLER, 8);
    assert!(made.clone().fulfilled(&swap).trades().is_empty());

    let there = Order { asks: vec![((NFT, CATS, 8, 1), SELLER)], ..listing(&[(NFT, APES, 7, 1)]) };
    let back = Order {
        hash: 2,
        offerer: BUYER,
        offer: vec![(NFT, CATS, 8, 1)],
        asks: vec![((NFT, APES, 7, 1), BUYER)],
        ..Order::default()
    };
    assert!(made.matched(&[&there, &back]).trades().is_empty());
}

#[test]
fn an_order_that_asks_for_nothing_is_a_sale_for_nothing() {
    let order = Order { asks: vec![], ..listing(&[(NFT, APES, 7, 1)]) };
    let trade = Made::by(BUYER).fulfilled(&order).nft(APES, SELLER, BUYER, 7).trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 0);
    assert!(trade.reconciled);
}

#[test]
fn a_payment_in_two_currencies_is_kept_and_marked() {
    let mut order = listing(&[(NFT, APES, 7, 1)]);
    order.asks.push(((ERC20, weth(), 0, 3), FEES));
    let trade = Made::by(BUYER).fulfilled(&order).nft(APES, SELLER, BUYER, 7).trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
    assert!(!trade.reconciled);
}

#[test]
fn the_buyer_is_who_the_router_bought_for() {
    let order = Order { recipient: ROUTER, ..listing(&[(NFT, APES, 7, 1)]) };
    let trade = Made::by(BUYER)
        .fulfilled(&order)
        .nft(APES, SELLER, ROUTER, 7)
        .nft(APES, ROUTER, BUYER, 7)
        .trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
}

#[test]
fn who_sells_on_at_once_was_the_buyer_and_is_the_seller_then() {
    let bought = Order { recipient: ROUTER, ..listing(&[(NFT, APES, 7, 1)]) };
    let sold = Order { recipient: ROUTER, ..bid((NFT, APES, 7, 1)) };
    let trades = Made::by(FEES)
        .fulfilled(&bought)
        .nft(APES, SELLER, ROUTER, 7)
        .fulfilled(&sold)
        .coin(weth(), BUYER, ROUTER, 100)
        .nft(APES, ROUTER, BUYER, 7)
        .trades();
    assert_eq!(trades.len(), 2);
    assert_sold(&trades[0], SELLER, ROUTER, NATIVE, 100);
    assert_sold(&trades[1], ROUTER, BUYER, weth(), 100);
}

#[test]
fn a_token_made_for_the_sale_comes_from_nobody() {
    let trade = Made::by(BUYER)
        .fulfilled(&listing(&[(MULTI, APES, 7, 1)]))
        .multi(APES, Address::ZERO, BUYER, (7, 1))
        .trade();
    assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
    assert!(trade.reconciled);
}

#[test]
fn an_adapter_stands_for_the_contract_whose_tokens_it_moves() {
    let trade = Made::by(BUYER)
        .fulfilled(&listing(&[(MULTI, ROUTER, 7, 1)]))
        .multi(APES, SELLER, BUYER, (7, 1))
        .trade();
    assert_eq!(trade.contract, APES);
    assert!(trade.reconciled);
}

#[test]
fn a_sale_without_its_transfer_is_kept_and_marked() {
    let made = Made::by(BUYER).fulfilled(&listing(&[(NFT, APES, 7, 1)]));
    for made in [made.clone(), made.nft(APES, FEES, BUYER, 7)] {
        let trade = made.trade();
        assert_sold(&trade, SELLER, BUYER, NATIVE, 100);
        assert!(!trade.reconciled);
    }
    let unpaid = Made::by(SELLER).fulfilled(&bid((NFT, APES, 7, 1))).nft(APES, SELLER, BUYER, 7);
    assert!(!unpaid.trade().reconciled, "nobody paid in WETH");
}
