//! What a block means: the facts that decoders find in it and the store keeps.

mod market;
mod pool;
mod trade;

pub use market::Market;
pub use pool::PoolFacts;
pub use trade::{Trade, pack_trades, unpack_trades};

/// Everything found in one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// In the order of their logs.
    pub trades: Vec<Trade>,
    pub pools: PoolFacts,
}
