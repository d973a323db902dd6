//! A sale as an exchange's event tells it, before anyone looks at the transfers.

use alloy_primitives::{Address, U256};

use super::market::Market;

/// Fees are told in parts of this.
pub const BASIS_POINTS: U256 = U256::from_limbs([10_000, 0, 0, 0]);

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
