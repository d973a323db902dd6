//! LooksRare v1: `TakerBid` is a listing bought, `TakerAsk` an offer accepted.

use alloy_primitives::{Address, B256, b256};

use crate::marketplaces::marketplace::Protocol;
use crate::marketplaces::sale::Sale;
use crate::marketplaces::tx_context::{SaleEvent, TxContext};

const TAKER_BID: B256 = b256!("95fb6205e23ff6bda16a2d1dba56b9ad7c783f67c96fa149785052f47696f2be");
const TAKER_ASK: B256 = b256!("68cd251d4d267c6e2034ff0088b990352b97b2002c0476587d0c4da889c11330");

pub const PROTOCOL: Protocol = Protocol {
    name: "looksrare-v1",
    protocol: "looksrare",
    versions: &["1"],
    events: &[
        (
            TAKER_BID,
            "TakerBid(bytes32,uint256,address,address,address,address,address,uint256,\
             uint256,uint256)",
        ),
        (
            TAKER_ASK,
            "TakerAsk(bytes32,uint256,address,address,address,address,address,uint256,\
             uint256,uint256)",
        ),
    ],
    claims_last: false,
    read: |context, sales| {
        sales.extend(context.own_events().filter_map(|event| sale(context, event)))
    },
};

fn sale(context: &TxContext, event: &SaleEvent) -> Option<Sale> {
    let data = event.data();
    let (taker, maker) = (event.indexed(1)?, event.indexed(2)?);
    let (seller, buyer) = if event.topic == TAKER_BID { (maker, taker) } else { (taker, maker) };
    let (currency, price) = (data.address(2)?, data.uint(6)?);
    // The event says WETH for a listing that was paid with the native coin, too. The exchange wraps
    // it, and then there is a transfer; without one, native coin is what moved.
    let sent = context.tx.and_then(|tx| tx.value).is_some_and(|value| !value.is_zero());
    let native = sent && context.transfers.coins.iter().all(|coin| coin.token != currency);
    Some(Sale {
        log_index: event.log_index,
        market: event.market,
        marketplace: event.exchange,
        contract: data.address(3)?,
        tokens: vec![(data.uint(4)?, data.uint(5)?)],
        seller,
        buyer,
        currency: if native { Address::ZERO } else { currency },
        price,
        mixed: false,
        certain: true,
    })
}
