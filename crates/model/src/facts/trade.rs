//! One sale: one seller gave tokens of one contract in one order, one buyer paid.

use alloy_primitives::{Address, U256};

/// The marketplaces that a request can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Market {
    OpenSea,
    Blur,
    LooksRare,
    X2Y2,
    ZeroX,
}

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
    /// Zero is the native coin.
    pub currency: Address,
    /// All that the buyer paid, fees included.
    pub price: U256,
    /// Whether transfers of the same transaction bear the sale out.
    pub reconciled: bool,
}
