//! NFTs sold on marketplaces, for the native coin.

use super::{Plan, ScenarioContext};
use crate::chain::{
    frame::Frame,
    sale::{Sale, Venue},
    state::Move,
};
use alloy_primitives::{Address, U256};
use rand::Rng;

/// The sender buys one token or a few; the exchange keeps a fee of what it passes on.
pub fn sale(context: &mut ScenarioContext) -> Plan {
    let venue = match context.rng.random_range(0..10) {
        0..6 => Venue::Seaport,
        6..8 => Venue::Blur,
        _ => Venue::LooksRare,
    };
    let is_bundle = venue != Venue::Blur && context.rng.random_bool(0.2);
    let first = context.rng.random_range(0..10_000u32);
    let value = context.amount(context.sender);
    let sale = Sale {
        venue,
        contract: context.actors.contracts.nft,
        ids: (first..=first + u32::from(is_bundle) * 2).map(U256::from).collect(),
        seller: context.receiver(),
        buyer: context.sender,
        currency: Address::ZERO,
        price: U256::from(value),
    };
    let (exchange, seller) = (venue.exchange(), sale.seller);
    let proceeds = value - value / 40;
    let pay = Frame::call(exchange, seller, proceeds).gas(6_700);
    let give = Frame::call(exchange, sale.contract, 0).input(context.call_data(3)).gas(24_000);
    let root = Frame::call(context.sender, exchange, value).input(context.call_data(8)).gas(30_000);
    let mut plan = Plan::call(root.child(pay).child(give)).moves([Move {
        from: exchange,
        to: seller,
        value: proceeds,
    }]);
    plan.logs = sale.logs();
    plan.sale = Some(sale);
    plan
}
