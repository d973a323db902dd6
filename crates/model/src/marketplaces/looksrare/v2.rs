//! LooksRare v2: `TakerBid` is a listing bought, `TakerAsk` an offer accepted; several tokens of one
//! collection can be in one order. The price is what the seller, the creator and the exchange got.

use alloy_primitives::{B256, U256, b256};

use crate::marketplaces::marketplace::Protocol;
use crate::marketplaces::sale::Sale;
use crate::marketplaces::tx_context::SaleEvent;

const TAKER_BID: B256 = b256!("3ee3de4684413690dee6fff1a0a4f92916a1b97d1c5a83cdf24671844306b2e3");
const TAKER_ASK: B256 = b256!("9aaa45d6db2ef74ead0751ea9113263d1dec1b50cea05f0ca2002cb8063564a4");

pub const PROTOCOL: Protocol = Protocol {
    name: "looksrare-v2",
    protocol: "looksrare",
    versions: &["2"],
    events: &[
        (
            TAKER_BID,
            "TakerBid((bytes32,uint256,bool),address,address,uint256,address,address,\
             uint256[],uint256[],address[2],uint256[3])",
        ),
        (
            TAKER_ASK,
            "TakerAsk((bytes32,uint256,bool),address,address,uint256,address,address,\
             uint256[],uint256[],address[2],uint256[3])",
        ),
    ],
    claims_last: false,
    read: |context, sales| sales.extend(context.own_events().filter_map(sale)),
};

/// Words 0–2 are about the order's nonce, 5 is the strategy.
fn sale(event: &SaleEvent) -> Option<Sale> {
    let data = event.data();
    let (ids, amounts) = (data.uints(8)?, data.uints(9)?);
    if ids.is_empty() || ids.len() != amounts.len() {
        return None;
    }
    let (seller, buyer) = if event.topic == TAKER_BID {
        // The proceeds go to the maker, who is not named otherwise.
        (data.address(10)?, data.address(4)?)
    } else {
        (data.address(3)?, data.address(4)?)
    };
    let mut price = U256::ZERO;
    for part in 12..15 {
        price = price.checked_add(data.uint(part)?)?;
    }
    Some(Sale {
        log_index: event.log_index,
        market: event.market,
        marketplace: event.exchange,
        contract: data.address(7)?,
        tokens: ids.into_iter().zip(amounts).collect(),
        seller,
        buyer,
        currency: data.address(6)?,
        price,
        mixed: false,
        certain: true,
    })
}
