//! What a block means: the facts that decoders find in it and the store keeps.

mod pool;
mod trade;

pub use pool::PoolFacts;
pub use trade::{Market, Trade};

/// Everything found in one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// In the order of their logs.
    pub trades: Vec<Trade>,
    pub pools: PoolFacts,
}
