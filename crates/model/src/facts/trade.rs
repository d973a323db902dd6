//! One sale: one seller gave tokens of one contract in one order, one buyer paid.

use alloy_primitives::{Address, U256};

use super::Market;

#[derive(Clone, Debug, PartialEq)]
pub struct Trade {
    pub tx_index: u32,
    /// The log that tells of the sale, counted within the block.
    pub log_index: u32,
    pub market: Market,
    /// The exchange's contract.
    pub marketplace: Address,
    pub contract: Address,
    /// Token and how many of it; more than one entry is a bundle.
    pub tokens: Vec<(U256, U256)>,
    pub seller: Address,
    pub buyer: Address,
    /// Zero is the native coin; its wrapped and pooled forms keep their own address.
    pub currency: Address,
    /// All that the buyer paid, fees included.
    pub price: U256,
    /// The order also sold tokens of other contracts. They are trades of their own and each carries
    /// the whole price, because nothing says how it divides.
    pub mixed: bool,
    /// Paid in the native coin, or in the token that stands for it at 1:1.
    pub in_native: bool,
    /// Whether transfers of the same transaction bear the sale out.
    pub reconciled: bool,
}

impl Trade {
    /// How many tokens changed hands.
    pub fn quantity(&self) -> U256 {
        self.tokens.iter().fold(U256::ZERO, |sum, (_, many)| sum.saturating_add(*many))
    }
}
