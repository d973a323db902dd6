//! X2Y2: one `EvInventory` for each item of an order that is settled.
//!
//! The same event tells of bids in auctions, refunds and cancellations; only completed sell and buy
//! offers are sales here. Completed auctions are left out: the event does not hold the final bid.

use alloy_primitives::{B256, U256, b256};

use super::market::Market;
use super::marketplace::{Marketplace, Protocol};
use super::sale::{ByContract, Sale, add_token};
use super::tx_context::{SaleEvent, TxContext};
use crate::abi::Words;

const INVENTORY: B256 = b256!("3cbb63f144840e5b1b0a38a7c19211d2e89de4d7c5faf8b2d3c1776c302d1d33");

const COMPLETE_SELL_OFFER: U256 = U256::from_limbs([1, 0, 0, 0]);
const COMPLETE_BUY_OFFER: U256 = U256::from_limbs([2, 0, 0, 0]);
const ERC721: U256 = U256::from_limbs([1, 0, 0, 0]);
const ERC1155: U256 = U256::from_limbs([2, 0, 0, 0]);

pub static MARKETPLACE: Marketplace = Marketplace { market: Market::X2Y2, protocols: &[PROTOCOL] };

impl Market {
    pub const X2Y2: Market = Market::new(3, "x2y2");
}

const PROTOCOL: Protocol = Protocol {
    name: "x2y2",
    protocol: "x2y2",
    versions: &["1"],
    events: &[(
        INVENTORY,
        "EvInventory(bytes32,address,address,uint256,uint256,uint256,uint256,uint256,address,\
         bytes,(uint256,bytes),(uint8,uint256,uint256,uint256,bytes32,address,bytes,uint256,\
         uint256,uint256,(uint256,address)[]))",
    )],
    claims_last: false,
    read,
};

fn read(context: &TxContext, sales: &mut Vec<Sale>) {
    for event in context.own_events() {
        sales.extend(item_sales(event).unwrap_or_default());
    }
}

fn item_sales(event: &SaleEvent) -> Option<Vec<Sale>> {
    let data = event.data();
    let (maker, taker) = (data.address(0)?, data.address(1)?);
    let (item, detail) = (data.inner(9)?, data.inner(10)?);
    let (seller, buyer) = match detail.uint(0)? {
        COMPLETE_SELL_OFFER => (maker, taker),
        COMPLETE_BUY_OFFER => (taker, maker),
        _ => return None,
    };
    let (currency, price) = (data.address(7)?, detail.uint(3)?);
    let by_contract = tokens(item.bytes(1)?, data.uint(5)?)?;
    let mixed = by_contract.len() > 1;
    let sale = |(contract, tokens)| Sale {
        log_index: event.log_index,
        market: event.market,
        marketplace: event.exchange,
        contract,
        tokens,
        seller,
        buyer,
        currency,
        price,
        mixed,
        certain: true,
    };
    Some(by_contract.into_iter().map(sale).collect())
}

/// What the item sells, as the exchange's helper contract for that kind of token reads it.
fn tokens(item: Words, kind: U256) -> Option<ByContract> {
    let words = match kind {
        ERC721 => 2,
        ERC1155 => 3,
        _ => return None,
    };
    let mut by_contract = ByContract::new();
    for token in item.list(0, words)? {
        let (contract, id) = (token.address(0)?, token.uint(1)?);
        let many = if kind == ERC721 { U256::ONE } else { token.uint(2)? };
        add_token(&mut by_contract, contract, (id, many));
    }
    Some(by_contract)
}
