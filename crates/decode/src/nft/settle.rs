//! How the transfers of a transaction make a sale that an event tells of a trade.
//!
//! In: what the event says, and the transaction's transfers. Out: a trade whose buyer is who has the
//! tokens in the end. What the transfers do not bear out stays as the event told it and is marked.

use alloy_primitives::{Address, U256};
use model::facts::Trade;
use model::marketplaces::{Sale, SoldToken, TokenForm, Transfers};

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

impl Claimed {
    pub fn new(mut sale: Sale, transfers: &mut Transfers) -> Claimed {
        let mut places = Vec::with_capacity(sale.tokens.len());
        for (id, many) in &mut sale.tokens {
            let wanted = SoldToken {
                contract: sale.contract,
                id: *id,
                many: *many,
                seller: sale.seller,
                buyer: sale.buyer,
            };
            let place = transfers.claim(&wanted);
            // There is one of an ERC721 token, whatever the order says.
            if place
                .and_then(|place| transfers.list.get(place))
                .is_some_and(|m| m.form == TokenForm::Erc721)
            {
                *many = U256::ONE;
            }
            places.push(place);
        }
        let adapted = places.first().copied().flatten().and_then(|place| transfers.list.get(place));
        if let Some(moved) = adapted {
            sale.contract = moved.contract;
        }
        Claimed { sale, places }
    }

    /// Only after all sales of the transaction have claimed their transfers: a token that is sold on
    /// is not passed on.
    pub fn settle(self, transfers: &Transfers, tx_index: u32, payer: &Payer) -> Trade {
        let Claimed { sale, places } = self;
        let mut holders = places.iter().map(|place| transfers.holder((*place)?, payer.sender));
        let first = holders.next().flatten();
        let together = first.is_some() && holders.all(|holder| holder == first);
        // The native coin leaves no log: there the event's word has to do, with traces or without.
        let paid = sale.currency.is_zero()
            || sale.price.is_zero()
            || transfers.paid(sale.currency, sale.buyer, sale.seller);
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
