//! What can be asked about sales of an NFT contract.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::facts::{Market, Trade};

use crate::block::StoredTx;

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

impl TradesQuery {
    /// Where the page begins; none where the one before ended at the first place of all.
    pub(crate) fn newest(&self) -> Option<TradePlace> {
        let last = (self.to_block, u32::MAX);
        let Some((number, place)) = self.after else { return Some(last) };
        let next = match place.checked_sub(1) {
            Some(place) => (number, place),
            None => (number.checked_sub(1)?, u32::MAX),
        };
        Some(next.min(last))
    }
}

/// A sale, and the transaction it was made in (without frames).
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTrade {
    pub place: TradePlace,
    pub trade: Trade,
    pub tx: StoredTx,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TradesPage {
    pub trades: Vec<StoredTrade>,
    /// Whether anything follows.
    pub more: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct LowestTradeQuery {
    pub chain: ChainId,
    pub contract: Address,
    pub market: Option<Market>,
    pub from_block: u64,
}
