//! A sale as an exchange's event tells it, and how transfers make it a trade.
//!
//! In: what the event says, and the transaction's transfers. Out: a trade whose buyer is who has the
//! tokens in the end. What the transfers do not bear out stays as the event told it and is marked.

use alloy_primitives::{Address, U256};
use model::facts::{Market, Trade};

use super::moves::{Form, Moves, Wanted};

pub struct Sale {
    pub log_index: u32,
    pub market: Market,
    pub marketplace: Address,
    pub contract: Address,
    pub tokens: Vec<(U256, U256)>,
    pub seller: Address,
    /// As the event has it: often a router.
    pub buyer: Address,
    pub currency: Address,
    pub price: U256,
    pub mixed: bool,
    /// False where the events leave open who paid how much.
    pub certain: bool,
}

/// The tokens of an order: one trade is of one contract's tokens.
pub type ByContract = Vec<(Address, Vec<(U256, U256)>)>;

pub fn add_token(by_contract: &mut ByContract, contract: Address, token: (U256, U256)) {
    match by_contract.iter_mut().find(|(known, _)| *known == contract) {
        Some((_, tokens)) => tokens.push(token),
        None => by_contract.push((contract, vec![token])),
    }
}

/// Whose transaction it is, and which token stands for the native coin there.
pub struct Payer {
    pub sender: Address,
    pub wrapped: Option<Address>,
}

/// A sale with the transfers that it claimed, one for each token.
pub struct Claimed {
    sale: Sale,
    places: Vec<Option<usize>>,
}

impl Sale {
    pub fn claim(mut self, moves: &mut Moves) -> Claimed {
        let mut places = Vec::with_capacity(self.tokens.len());
        for (id, many) in &mut self.tokens {
            let wanted = Wanted {
                contract: self.contract,
                id: *id,
                many: *many,
                seller: self.seller,
                buyer: self.buyer,
            };
            let place = moves.claim(&wanted);
            // There is one of an ERC721 token, whatever the order says.
            if place.and_then(|place| moves.list.get(place)).is_some_and(|m| m.form == Form::Nft) {
                *many = U256::ONE;
            }
            places.push(place);
        }
        let adapted = places.first().copied().flatten().and_then(|place| moves.list.get(place));
        if let Some(moved) = adapted {
            self.contract = moved.contract;
        }
        Claimed { sale: self, places }
    }
}

impl Claimed {
    /// Only after all sales of the transaction have claimed their transfers: a token that is sold on
    /// is not passed on.
    pub fn settle(self, moves: &Moves, tx_index: u32, payer: &Payer) -> Trade {
        let Claimed { sale, places } = self;
        let mut holders = places.iter().map(|place| moves.holder((*place)?, payer.sender));
        let first = holders.next().flatten();
        let together = first.is_some() && holders.all(|holder| holder == first);
        // The native coin leaves no log: there the event's word has to do, with traces or without.
        let paid = sale.currency.is_zero()
            || sale.price.is_zero()
            || moves.paid(sale.currency, sale.buyer, sale.seller);
        Trade {
            tx_index,
            log_index: sale.log_index,
            market: sale.market,
            marketplace: sale.marketplace,
            contract: sale.contract,
            tokens: sale.tokens,
            seller: sale.seller,
            buyer: first.filter(|_| together).unwrap_or(sale.buyer),
            currency: sale.currency,
            price: sale.price,
            mixed: sale.mixed,
            in_native: sale.currency.is_zero() || Some(sale.currency) == payer.wrapped,
            reconciled: together && paid && sale.certain,
        }
    }
}
