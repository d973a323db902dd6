//! Wyvern v1 and v2, OpenSea's exchange until Seaport.
//!
//! `OrdersMatched` names maker, taker and price, but neither token, currency nor side. The exchange
//! moves the money, then the tokens, then tells: so all that belongs to a sale stands between the
//! event before and this one.

use alloy_primitives::{Address, B256, U256, b256};

use crate::abi::Words;
use crate::marketplaces::marketplace::Protocol;
use crate::marketplaces::sale::{BASIS_POINTS, Sale, add_token};
use crate::marketplaces::transfers::{CoinTransfer, TokenForm, Transfer};
use crate::marketplaces::tx_context::{SaleEvent, TxContext};

const MATCHED: B256 = b256!("c4109843e0b7d514e4c093114b863f8e7d8d9a458c372cd51bfe526b588006c9");

/// `atomicMatch_`: both orders as rows of words.
const ATOMIC_MATCH: [u8; 4] = [0xab, 0x83, 0x4b, 0xab];

pub const PROTOCOL: Protocol = Protocol {
    name: "wyvern",
    protocol: "wyvern",
    versions: &["1", "2"],
    events: &[(MATCHED, "OrdersMatched(bytes32,bytes32,address,address,uint256,bytes32)")],
    claims_last: true,
    read,
};

fn read(context: &TxContext, sales: &mut Vec<Sale>) {
    let mut since = 0;
    for event in context.own_events() {
        sales.extend(sales_of(context, event, since).unwrap_or_default());
        since = event.at;
    }
}

fn sales_of(context: &TxContext, event: &SaleEvent, since: usize) -> Option<Vec<Sale>> {
    let (maker, taker) = (event.indexed(1)?, event.indexed(2)?);
    let price = event.data().uint(2)?;
    let here = |at: usize| since <= at && at < event.at;
    let free = |m: &&Transfer| here(m.at) && m.form != TokenForm::Erc20 && !m.left.is_zero();
    let transfers: Vec<&Transfer> = context.transfers.list.iter().filter(free).collect();
    let coins: Vec<&CoinTransfer> =
        context.transfers.coins.iter().filter(|coin| here(coin.at)).collect();

    let (seller, moved) = sold(&transfers, maker, taker)?;
    let buyer = if seller == maker { taker } else { maker };
    let call = context.calldata(event.exchange).and_then(AtomicMatch::read);
    let currency = match &call {
        Some(call) => call.currency,
        None => {
            let payment =
                |coin: &&&CoinTransfer| (coin.from, coin.to, coin.amount) == (buyer, seller, price);
            coins.iter().find(payment).map_or(Address::ZERO, |coin| coin.token)
        }
    };
    let on_top = call.map_or(U256::ZERO, |call| call.fee_on_top(price));
    let mut by_contract = Vec::new();
    for token in moved {
        add_token(&mut by_contract, token.contract, (token.id, token.left));
    }
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
        price: price.saturating_add(on_top),
        mixed,
        certain: true,
    };
    Some(by_contract.into_iter().map(sale).collect())
}

/// Who sold, and what. Mostly the maker; the taker where an offer was accepted; and either may sell
/// a token that is made in the moment of sale. Transfers of the old form count where none of
/// today's fits and both sides agree.
fn sold<'a>(
    transfers: &[&'a Transfer],
    maker: Address,
    taker: Address,
) -> Option<(Address, Vec<&'a Transfer>)> {
    let pick = |seller: Address, test: &dyn Fn(&Transfer) -> bool| {
        let found: Vec<&Transfer> = transfers.iter().copied().filter(|m| test(m)).collect();
        (!found.is_empty()).then_some((seller, found))
    };
    let today = |m: &Transfer| m.form != TokenForm::Unindexed;
    pick(maker, &|m| today(m) && m.from == maker)
        .or_else(|| pick(taker, &|m| today(m) && m.from == taker && m.to == maker))
        .or_else(|| pick(maker, &|m| today(m) && m.from.is_zero() && m.to == taker))
        .or_else(|| pick(taker, &|m| today(m) && m.from.is_zero() && m.to == maker))
        .or_else(|| pick(taker, &|m| today(m) && m.from == taker))
        .or_else(|| pick(maker, &|m| m.from == maker && m.to == taker))
        .or_else(|| pick(taker, &|m| m.from == taker && m.to == maker))
}

/// What the events leave out and the call holds.
struct AtomicMatch {
    currency: Address,
    fee_on_top_bps: U256,
}

impl AtomicMatch {
    fn read(input: &[u8]) -> Option<AtomicMatch> {
        let words = Words(input.strip_prefix(&ATOMIC_MATCH)?);
        // Seven addresses for each order, then nine numbers for each, then four small ones for each.
        const SELL_FEE_RECIPIENT: usize = 10;
        const SELL_CURRENCY: usize = 13;
        const BUY_MAKER_FEE: usize = 14;
        const SELL_TAKER_FEE: usize = 14 + 9 + 1;
        const SELL_FEE_METHOD: usize = 14 + 18 + 4;
        // The order with a fee recipient is the maker's and sets the fees. Otherwise than split,
        // they are paid in the exchange's own token.
        let split = words.uint(SELL_FEE_METHOD)? == U256::ONE;
        let listed = !words.address(SELL_FEE_RECIPIENT)?.is_zero();
        let fee = words.uint(if listed { SELL_TAKER_FEE } else { BUY_MAKER_FEE })?;
        let fee_on_top_bps = if split { fee } else { U256::ZERO };
        Some(AtomicMatch { currency: words.address(SELL_CURRENCY)?, fee_on_top_bps })
    }

    fn fee_on_top(&self, price: U256) -> U256 {
        price.saturating_mul(self.fee_on_top_bps) / BASIS_POINTS
    }
}
