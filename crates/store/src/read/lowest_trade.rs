//! The cheapest sale of an NFT contract.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::facts::{Market, Trade};

use super::{Snapshot, TradePlace, View};
use crate::Error;

#[derive(Clone, Copy, Debug)]
pub struct LowestTradeQuery {
    pub chain: ChainId,
    pub contract: Address,
    pub market: Option<Market>,
    pub from_block: u64,
}

impl View {
    /// The sale with the lowest price paid in the native coin from `from_block` on; of equal ones the
    /// oldest.
    pub async fn lowest_trade(
        &self,
        q: &LowestTradeQuery,
    ) -> Result<Option<(TradePlace, Trade)>, Error> {
        match &self.snapshot {
            Snapshot::Embedded(view) => view.lowest_trade(q),
        }
    }
}
