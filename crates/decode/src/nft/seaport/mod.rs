//! Seaport 1.1 to 1.6: one `OrderFulfilled` for each order, the same in all versions.
//!
//! An order that was filled by itself is a sale. Orders matched with each other are told of one by
//! one, too, and only together are they sales: that is the part of `matched`.

mod matched;
mod order;

use alloy_primitives::{Address, B256, U256, b256};

use super::registry::Protocol;
use super::sale::{Sale, add_token};
use super::scene::{Event, Scene};
use order::{Item, Order};

pub const FULFILLED: B256 =
    b256!("9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31");
pub const MATCHED: B256 = b256!("4b9f2d36e1b4c93de62cc077b00b1a91d84b6c31b4a14e012718dcca230689e7");

pub const PROTOCOL: Protocol = Protocol {
    name: "seaport",
    protocol: "seaport",
    versions: &["1.1", "1.2", "1.3", "1.4", "1.5", "1.6"],
    topics: &[FULFILLED, MATCHED],
    read,
};

fn read(scene: &Scene, sales: &mut Vec<Sale>) {
    let fulfilled = scene.own_events().filter(|event| event.topic == FULFILLED);
    let mut orders: Vec<Order> = fulfilled.filter_map(Order::read).collect();
    for group in matched::groups(scene, &mut orders) {
        matched::sales(&group, sales);
    }
    for order in &orders {
        single(order, sales);
    }
}

/// An order filled by one who gave what it asked for and took what it offered.
fn single(order: &Order, sales: &mut Vec<Sale>) {
    let (given, asked) = (order.nfts_given(), order.nfts_asked());
    if !given.is_empty() && asked.is_empty() {
        let paid = Payment::of(&order.consideration);
        let certain = paid.certain && order.offer.iter().all(Item::is_nft);
        let parties = Parties { seller: order.offerer, buyer: order.recipient };
        add(order.event, parties, &given, Payment { certain, ..paid }, sales);
    } else if given.is_empty() && !asked.is_empty() && !order.offer.is_empty() {
        // The seller pays fees out of what the bidder offered.
        let parties = Parties { seller: order.recipient, buyer: order.offerer };
        add(order.event, parties, &asked, Payment::of(&order.offer), sales);
    }
    // NFTs on both sides are a swap: nothing says what either is worth.
}

struct Parties {
    seller: Address,
    buyer: Address,
}

struct Payment {
    currency: Address,
    amount: U256,
    certain: bool,
}

impl Payment {
    /// All coins among the items. Of several currencies the first counts, and it is not certain.
    fn of(items: &[Item]) -> Payment {
        let mut coins = items.iter().filter(|item| !item.is_nft());
        let Some(first) = coins.next() else {
            return Payment { currency: Address::ZERO, amount: U256::ZERO, certain: true };
        };
        let mut payment = Payment { currency: first.token, amount: first.amount, certain: true };
        for coin in coins {
            if coin.token == payment.currency {
                payment.amount = payment.amount.saturating_add(coin.amount);
            } else {
                payment.certain = false;
            }
        }
        payment
    }
}

/// One trade for each contract; each carries the whole price.
fn add(event: &Event, parties: Parties, nfts: &[&Item], paid: Payment, sales: &mut Vec<Sale>) {
    let mut by_contract = Vec::new();
    for nft in nfts {
        add_token(&mut by_contract, nft.token, (nft.id, nft.amount));
    }
    let mixed = by_contract.len() > 1;
    sales.extend(by_contract.into_iter().map(|(contract, tokens)| Sale {
        log_index: event.log_index,
        market: event.market,
        marketplace: event.exchange,
        contract,
        tokens,
        seller: parties.seller,
        buyer: parties.buyer,
        currency: paid.currency,
        price: paid.amount,
        mixed,
        certain: paid.certain,
    }));
}
