//! How the token price is put together: what was asked, pools from the store or from a node, and the
//! answer in both profiles. Which pool to believe is decided in `model::price`.

pub mod asked;
pub mod at_node;
pub mod explain;
pub mod gather;
pub mod quoted_pools;
pub mod write;

use alloy_primitives::Address;
use bytes::Bytes;
use model::chain::Chain;
use model::price::PricingTable;

use crate::kept::Kept;

/// What is remembered between price questions.
pub struct Prices {
    /// As long as the journal stands still: any block may change a price.
    pub answers: Kept<asked::Asked, store::Version, Bytes>,
    pub memory: gather::Memory,
    pub at_node: at_node::NodePools,
}

impl Prices {
    pub fn new(bytes_max: u64) -> Self {
        Prices {
            answers: Kept::new(bytes_max, 2048),
            memory: gather::Memory::default(),
            at_node: at_node::NodePools::default(),
        }
    }
}

/// The tokens that a token is priced against.
pub fn partners(book: &PricingTable, token: Address) -> Vec<Address> {
    let stables = book.stables.iter().map(|(stable, _)| *stable);
    std::iter::once(book.wrapped).chain(stables).filter(|it| *it != token).collect()
}

/// A pool is compared with itself about a minute ago: long enough that a push would have been traded
/// back, short enough that a market's own moves are not taken for one.
pub fn minute_of_blocks(chain: &Chain) -> u64 {
    (60_000 / chain.block_time_ms.max(1)).clamp(2, 300)
}
