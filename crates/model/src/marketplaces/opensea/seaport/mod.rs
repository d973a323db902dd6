//! Seaport 1.1 to 1.6: one `OrderFulfilled` for each order, the same in all versions.
//!
//! An order that was filled by itself is a sale. Orders matched with each other are told of one by
//! one, too, and only together are they sales: that is the part of `matched`.

mod matched;
mod order;
mod payment;

use crate::marketplaces::marketplace::Protocol;
use crate::marketplaces::sale::Sale;
use crate::marketplaces::tx_context::TxContext;
use order::{FULFILLED, Item, MATCHED, Order};
use payment::{OrderParties, Payment, add};

pub const PROTOCOL: Protocol = Protocol {
    name: "seaport",
    protocol: "seaport",
    versions: &["1.1", "1.2", "1.3", "1.4", "1.5", "1.6"],
    events: &[
        (
            FULFILLED,
            "OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],\
             (uint8,address,uint256,uint256,address)[])",
        ),
        (MATCHED, "OrdersMatched(bytes32[])"),
    ],
    claims_last: false,
    read,
};

fn read(context: &TxContext, sales: &mut Vec<Sale>) {
    let fulfilled = context.own_events().filter(|event| event.topic == FULFILLED);
    let mut orders: Vec<Order> = fulfilled.filter_map(Order::read).collect();
    for group in matched::groups(context, &mut orders) {
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
        let parties = OrderParties { seller: order.offerer, buyer: order.recipient };
        add(order.event, parties, &given, Payment { certain, ..paid }, sales);
    } else if given.is_empty() && !asked.is_empty() && !order.offer.is_empty() {
        // The seller pays fees out of what the bidder offered.
        let parties = OrderParties { seller: order.recipient, buyer: order.offerer };
        add(order.event, parties, &asked, Payment::of(&order.offer), sales);
    }
    // NFTs on both sides are a swap: nothing says what either is worth.
}
