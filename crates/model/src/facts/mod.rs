//! What a block means: the facts that decoders find in it and the store keeps.

mod market;
mod pool;
mod pool_change;
mod trade;

pub use market::Market;
pub use pool::{Pool, PoolFacts, PoolId};
pub use pool_change::{Change, PoolChange, PoolState, RangeDelta};
pub use trade::Trade;

/// Everything found in one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// In the order of their logs.
    pub trades: Vec<Trade>,
    pub pools: PoolFacts,
}
