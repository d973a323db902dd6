//! Orders that were matched with each other: one gives the NFT, another the coins.
//!
//! From 1.2 on `OrdersMatched` lists the orders of one match; before it they have no recipient.

use super::order::{Item, MATCHED, Order};
use super::payment::{OrderParties, Payment, add};
use crate::marketplaces::sale::Sale;
use crate::marketplaces::tx_context::TxContext;

/// Takes the matched orders out of `orders`, match by match.
pub fn groups<'a>(context: &TxContext, orders: &mut Vec<Order<'a>>) -> Vec<Vec<Order<'a>>> {
    let mut groups = Vec::new();
    for event in context.own_events().filter(|event| event.topic == MATCHED) {
        let mut group = Vec::new();
        for item in event.data().list(0, 1).into_iter().flatten() {
            // The same order can be filled in part by several matches: each takes the next.
            let listed = |order: &Order| {
                order.event.exchange == event.exchange && Some(order.hash) == item.hash(0)
            };
            if let Some(place) = orders.iter().position(listed) {
                group.push(orders.remove(place));
            }
        }
        groups.push(group);
    }
    while let Some(exchange) =
        orders.iter().find(|order| order.recipient.is_zero()).map(|order| order.event.exchange)
    {
        let same =
            |order: &mut Order| order.recipient.is_zero() && order.event.exchange == exchange;
        groups.push(orders.extract_if(.., same).collect());
    }
    groups
}

/// One sale for each order that gives NFTs and gets coins for them.
pub fn sales(group: &[Order], sales: &mut Vec<Sale>) {
    for order in group {
        let given = order.nfts_given();
        let Some(first) = given.first() else { continue };
        let bid = group.iter().find(|other| {
            other.hash != order.hash
                && other.nfts_asked().iter().any(|nft| nft.is_same_token(first))
        });
        let is_swap = bid.is_some_and(|bid| !bid.nfts_given().is_empty());
        if is_swap || !order.nfts_asked().is_empty() {
            continue;
        }
        let parties = OrderParties {
            seller: order.offerer,
            buyer: bid.map(|bid| bid.offerer).or(order.meant_for()).unwrap_or(order.recipient),
        };
        add(order.event, parties, &given, payment(order, &given, bid), sales);
    }
}

/// All that the bid offered, where it was for these tokens and no others: fees may be asked for by
/// either order. Else what the seller's order asked for, which leaves out fees of the bid.
fn payment(order: &Order, given: &[&Item], bid: Option<&Order>) -> Payment {
    let asked = Payment::of(&order.consideration);
    let Some(bid) = bid else { return asked };
    let offered = Payment::of(&bid.offer);
    let wanted = bid.nfts_asked();
    let same = wanted.len() == given.len()
        && wanted
            .iter()
            .all(|nft| given.iter().any(|own| own.is_same_token(nft) && own.amount == nft.amount));
    if same && !offered.amount.is_zero() {
        return offered;
    }
    let has_fees = bid.consideration.iter().any(|item| !item.is_nft());
    let certain = asked.certain && !asked.amount.is_zero() && !has_fees;
    Payment { certain, ..asked }
}
