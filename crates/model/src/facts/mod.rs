//! What a block means: the facts that decoders find in it and the store keeps.

mod pool;
mod pool_change;
mod pool_id;
mod trade;

pub use crate::marketplaces::Market;
pub use pool::{Pool, PoolFacts};
pub use pool_change::{Change, PoolChange, PoolState, RangeDelta};
pub use pool_id::PoolId;
pub use trade::Trade;

/// Everything found in one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// In the order of their logs.
    pub trades: Vec<Trade>,
    pub pools: PoolFacts,
}
