//! What was paid for an order's tokens, and the sales that follow from it.

use alloy_primitives::{Address, U256};

use super::order::Item;
use crate::marketplaces::sale::{Sale, add_token};
use crate::marketplaces::tx_context::SaleEvent;

pub struct OrderParties {
    pub seller: Address,
    pub buyer: Address,
}

pub struct Payment {
    pub currency: Address,
    pub amount: U256,
    pub certain: bool,
}

impl Payment {
    /// All coins among the items. Of several currencies the first counts, and it is not certain.
    pub fn of(items: &[Item]) -> Payment {
        let mut coins = items.iter().filter(|item| !item.is_nft());
        let Some(first) = coins.next() else {
            return Payment { currency: Address::ZERO, amount: U256::ZERO, certain: true };
        };
        let mut payment = Payment { currency: first.token, amount: first.amount, certain: true };
        for coin in coins {
            if coin.token == payment.currency {
                payment.amount = payment.amount.saturating_add(coin.amount);
            } else {
                payment.certain = false;
            }
        }
        payment
    }
}

/// One trade for each contract; each carries the whole price.
pub fn add(
    event: &SaleEvent,
    parties: OrderParties,
    nfts: &[&Item],
    paid: Payment,
    sales: &mut Vec<Sale>,
) {
    let mut by_contract = Vec::new();
    for nft in nfts {
        add_token(&mut by_contract, nft.token, (nft.id, nft.amount));
    }
    let mixed = by_contract.len() > 1;
    sales.extend(by_contract.into_iter().map(|(contract, tokens)| Sale {
        log_index: event.log_index,
        market: event.market,
        marketplace: event.exchange,
        contract,
        tokens,
        seller: parties.seller,
        buyer: parties.buyer,
        currency: paid.currency,
        price: paid.amount,
        mixed,
        certain: paid.certain,
    }));
}
