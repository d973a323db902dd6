//! Sales of an NFT contract, a page at a time.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::facts::{Market, Trade};

use super::{Snapshot, View};
use crate::Error;

/// Block number, and place among the trades of that block.
pub type TradePlace = (u64, u32);

/// Newest first.
#[derive(Clone, Debug)]
pub struct TradesQuery {
    pub chain: ChainId,
    pub contract: Address,
    pub market: Option<Market>,
    pub from_block: u64,
    pub to_block: u64,
    /// Where the page before this one ended.
    pub after: Option<TradePlace>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TradesPage {
    pub trades: Vec<(TradePlace, Trade)>,
    /// Whether anything follows.
    pub more: bool,
}

impl View {
    pub async fn trades_page(&self, q: &TradesQuery) -> Result<TradesPage, Error> {
        match &self.snapshot {
            Snapshot::Embedded(view) => view.trades_page(q),
        }
    }
}
