//! 0x v4: orders for NFTs, ERC721 and ERC1155.
//!
//! The event holds what the maker of a listing gets; fees are paid by the buyer on top of it and
//! are in no event. They are in the order that the exchange was called with, and, for a payment in
//! a token, among the transfers.

use alloy_primitives::{Address, B256, U256, address, b256};

use super::market::Market;
use super::marketplace::{Marketplace, Protocol};
use super::sale::Sale;
use super::tx_context::{SaleEvent, TxContext};
use crate::abi::Words;

const ERC721_FILLED: B256 =
    b256!("50273fa02273cceea9cf085b42de5c8af60624140168bd71357db833535877af");
const ERC1155_FILLED: B256 =
    b256!("20cca81b0e269b265b3229d6b537da91ef475ca0ef55caed7dd30731700ba98d");

/// How 0x writes the native coin.
const NATIVE: Address = address!("EeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE");

pub static MARKETPLACE: Marketplace = Marketplace { market: Market::ZEROX, protocols: &[PROTOCOL] };

impl Market {
    pub const ZEROX: Market = Market::new(4, "0xprotocol");
}

const PROTOCOL: Protocol = Protocol {
    name: "0x-v4",
    protocol: "0x",
    versions: &["4"],
    events: &[
        (
            ERC721_FILLED,
            "ERC721OrderFilled(uint8,address,address,uint256,address,uint256,address,uint256,\
             address)",
        ),
        (
            ERC1155_FILLED,
            "ERC1155OrderFilled(uint8,address,address,uint256,address,uint256,address,uint256,\
             uint128,address)",
        ),
    ],
    claims_last: false,
    read: |context, sales| {
        sales.extend(context.own_events().filter_map(|event| sale(context, event)))
    },
};

fn sale(context: &TxContext, event: &SaleEvent) -> Option<Sale> {
    let data = event.data();
    let (maker, taker) = (data.address(1)?, data.address(2)?);
    let (seller, buyer) = match data.uint(0)?.try_into() {
        Ok(0u8) => (maker, taker),
        Ok(1u8) => (taker, maker),
        _ => return None,
    };
    let many = if event.topic == ERC1155_FILLED { data.uint(8)? } else { U256::ONE };
    let (token, amount) = (data.address(4)?, data.uint(5)?);
    let currency = if token == NATIVE { Address::ZERO } else { token };
    let called = context.calldata(event.exchange).and_then(|input| order_fees(input, event, many));
    let price = match called {
        Some(fees) => amount.checked_add(fees)?,
        None => paid_since_last_sale(context, event, currency, buyer).max(amount),
    };
    Some(Sale {
        log_index: event.log_index,
        market: event.market,
        marketplace: event.exchange,
        contract: data.address(6)?,
        tokens: vec![(data.uint(7)?, many)],
        seller,
        buyer,
        currency,
        price,
        mixed: false,
        certain: true,
    })
}

/// Fees of the order in the calldata, if it is the one that was filled: all functions for a single
/// order have it as their first parameter.
fn order_fees(input: &[u8], event: &SaleEvent, many: U256) -> Option<U256> {
    let (order, data) = (Words(input.get(4..)?).inner(0)?, event.data());
    // Direction, maker; nonce, currency; token contract.
    let same = [(0, 0), (1, 1), (4, 3), (5, 4), (8, 6)];
    if same.iter().any(|(ours, told)| order.hash(*ours) != data.hash(*told)) {
        return None;
    }
    // ERC1155 orders can be filled in part; then so much of each fee is due.
    let of = if event.topic == ERC1155_FILLED { order.uint(11)? } else { U256::ONE };
    let fees = order.inner(7)?;
    let count: usize = fees.uint(0)?.try_into().ok()?;
    let fees = Words(fees.0.get(32..)?);
    let mut sum = U256::ZERO;
    for fee in 0..count {
        let amount = fees.inner(fee)?.uint(1)?;
        sum = sum.checked_add(amount.checked_mul(many)?.checked_div(of)?)?;
    }
    Some(sum)
}

/// What the buyer gave in that token since the sale before; the exchange's event comes last.
fn paid_since_last_sale(
    context: &TxContext,
    event: &SaleEvent,
    currency: Address,
    buyer: Address,
) -> U256 {
    let before =
        context.events.iter().filter(|other| other.at < event.at).map(|other| other.at).max();
    let coins = context.transfers.coins.iter().filter(|coin| {
        coin.at < event.at
            && before.is_none_or(|before| coin.at > before)
            && (coin.token, coin.from) == (currency, buyer)
    });
    coins.fold(U256::ZERO, |sum, coin| sum.saturating_add(coin.amount))
}
