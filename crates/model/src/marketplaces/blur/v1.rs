//! Blur v1: `OrdersMatched` holds both orders whole.
//!
//! For a collection bid only the sell order names the token. The seller's fees are part of the
//! price, the buyer's come on top of it.

use alloy_primitives::{B256, U256, b256};

use crate::abi::Words;
use crate::marketplaces::marketplace::Protocol;
use crate::marketplaces::sale::{BASIS_POINTS, Sale};
use crate::marketplaces::tx_context::SaleEvent;

const MATCHED: B256 = b256!("61cbb2a3dee0b6064c2e681aadd61677fb4ef319f0b547508d495626f5a62f64");

pub const PROTOCOL: Protocol = Protocol {
    name: "blur-v1",
    protocol: "blur",
    versions: &["1"],
    events: &[(
        MATCHED,
        "OrdersMatched(address,address,\
             (address,uint8,address,address,uint256,uint256,address,uint256,uint256,\
             uint256,(uint16,address)[],uint256,bytes),bytes32,\
             (address,uint8,address,address,uint256,uint256,address,uint256,uint256,\
             uint256,(uint16,address)[],uint256,bytes),bytes32)",
    )],
    claims_last: false,
    read: |context, sales| sales.extend(context.own_events().filter_map(sale)),
};

fn sale(event: &SaleEvent) -> Option<Sale> {
    let (sell, buy) = (event.data().inner(0)?, event.data().inner(2)?);
    let price = sell.uint(7)?;
    Some(Sale {
        log_index: event.log_index,
        market: event.market,
        marketplace: event.exchange,
        contract: sell.address(3)?,
        tokens: vec![(sell.uint(4)?, sell.uint(5)?)],
        seller: sell.address(0)?,
        buyer: buy.address(0)?,
        currency: sell.address(6)?,
        price: price.checked_add(fees(buy, price)?)?,
        mixed: false,
        certain: true,
    })
}

fn fees(order: Words, price: U256) -> Option<U256> {
    let mut sum = U256::ZERO;
    for fee in order.list(10, 2)? {
        sum = sum.checked_add(price.checked_mul(fee.uint(0)?)? / BASIS_POINTS)?;
    }
    Some(sum)
}
