//! Blur v2: one `Execution…` for each token sold; the common ones are packed into words.
//!
//! An event names the order's maker only: the seller of a listing, the buyer of a bid. The other
//! side is in the transfers. Listings are paid with the native coin, bids from Blur's pool. A fee of
//! the seller's side is part of the price, one of the buyer's side comes on top: that is a taker's
//! fee for listings and a maker's fee for bids.

use alloy_primitives::{Address, B256, U256, address, b256};

use crate::marketplaces::marketplace::Protocol;
use crate::marketplaces::sale::{BASIS_POINTS, Sale};
use crate::marketplaces::tx_context::{SaleEvent, TxContext};

const EXECUTION: B256 = b256!("f2f66294df6fae7ac681cbe2f6d91c6904485929679dce263e8f6539b7d5c559");
const PACKED: B256 = b256!("1d5e12b51dee5e4d34434576c3fb99714a85f57b0fd546ada4b0bddd736d12b2");
const PACKED_TAKER_FEE: B256 =
    b256!("0fcf17fac114131b10f37b183c6a60f905911e52802caeeb3e6ea210398b81ab");
const PACKED_MAKER_FEE: B256 =
    b256!("7dc5c0699ac8dd5250cbe368a2fc3b4a2daadb120ad07f6cccea29f83482686e");

/// Where the chain's table names none.
const POOL: Address = address!("0000000000A39bb272e79075ade125fd351887Ac");

pub const PROTOCOL: Protocol = Protocol {
    name: "blur-v2",
    protocol: "blur",
    versions: &["2"],
    events: &[
        (
            EXECUTION,
            "Execution((address,uint256,uint256,address,uint8),bytes32,uint256,uint256,\
             (address,uint16),((address,uint16),(address,uint16)),uint8)",
        ),
        (PACKED, "Execution721Packed(bytes32,uint256,uint256)"),
        (PACKED_TAKER_FEE, "Execution721TakerFeePacked(bytes32,uint256,uint256,uint256)"),
        (PACKED_MAKER_FEE, "Execution721MakerFeePacked(bytes32,uint256,uint256,uint256)"),
    ],
    claims_last: false,
    read: |context, sales| {
        sales.extend(context.own_events().filter_map(|event| sale(context, event)))
    },
};

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Ask,
    Bid,
}

impl Side {
    fn read(number: U256) -> Option<Side> {
        match number.try_into() {
            Ok(0u8) => Some(Side::Ask),
            Ok(1u8) => Some(Side::Bid),
            _ => None,
        }
    }
}

/// What all forms of the event tell.
struct Execution {
    side: Side,
    maker: Address,
    contract: Address,
    id: U256,
    many: U256,
    price: U256,
    maker_fee_bps: U256,
    taker_fee_bps: U256,
}

fn sale(context: &TxContext, event: &SaleEvent) -> Option<Sale> {
    let it = if event.topic == EXECUTION { whole(event) } else { packed(event) }?;
    let (on_top, currency) = match it.side {
        Side::Ask => (it.taker_fee_bps, Address::ZERO),
        Side::Bid => (it.maker_fee_bps, context.native_pool.unwrap_or(POOL)),
    };
    let price = it.price.checked_add(it.price.checked_mul(on_top)? / BASIS_POINTS)?;
    let (seller, buyer, certain) = parties(context, &it);
    Some(Sale {
        log_index: event.log_index,
        market: event.market,
        marketplace: event.exchange,
        contract: it.contract,
        tokens: vec![(it.id, it.many)],
        seller,
        buyer,
        currency,
        price,
        mixed: false,
        certain,
    })
}

/// Seller, buyer, and whether a transfer tells so. The sender stands for a side nothing tells of.
fn parties(context: &TxContext, it: &Execution) -> (Address, Address, bool) {
    let own = context.transfers.of(it.contract, it.id);
    let mut transfers = own.iter().filter_map(|place| context.transfers.list.get(*place));
    match it.side {
        Side::Ask => {
            let sold = transfers.find(|moved| moved.from == it.maker);
            (it.maker, sold.map_or(context.sender, |moved| moved.to), sold.is_some())
        }
        Side::Bid => {
            let sold = transfers.find(|moved| moved.to == it.maker);
            (sold.map_or(context.sender, |moved| moved.from), it.maker, sold.is_some())
        }
    }
}

/// Token (11 bytes), listing (1), trader (20); side (1), price (11), collection (20); with a fee:
/// rate (12), recipient (20).
fn packed(event: &SaleEvent) -> Option<Execution> {
    let data = event.data();
    let (token, order) = (data.hash(1)?, data.hash(2)?);
    let fee_bps = match event.topic {
        PACKED => U256::ZERO,
        _ => data.uint(3)? >> 160,
    };
    let fee_of = |topic| if event.topic == topic { fee_bps } else { U256::ZERO };
    Some(Execution {
        side: Side::read(U256::from_be_bytes(order.0) >> 248)?,
        maker: Address::from_word(token),
        contract: Address::from_word(order),
        id: U256::from_be_bytes(token.0) >> 168,
        many: U256::ONE,
        price: (U256::from_be_bytes(order.0) >> 160) & (U256::MAX >> 168),
        maker_fee_bps: fee_of(PACKED_MAKER_FEE),
        taker_fee_bps: fee_of(PACKED_TAKER_FEE),
    })
}

/// Transfer (trader, id, amount, collection, kind), order hash, listing, price, maker's fee
/// (recipient, rate), protocol's fee, taker's fee, side: all in place.
fn whole(event: &SaleEvent) -> Option<Execution> {
    let data = event.data();
    // ERC721 transfers leave the amount at zero.
    let many = data.uint(2)?.max(U256::ONE);
    Some(Execution {
        side: Side::read(data.uint(14)?)?,
        maker: data.address(0)?,
        contract: data.address(3)?,
        id: data.uint(1)?,
        many,
        price: data.uint(7)?,
        maker_fee_bps: data.uint(9)?,
        taker_fee_bps: data.uint(13)?,
    })
}
