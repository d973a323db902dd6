//! The cheapest sale of an NFT contract.

use super::{EngineView, View};
use crate::Error;
use crate::query::{LowestTradeQuery, StoredTrade};

impl View {
    /// The sale with the lowest price paid in the native coin from `from_block` on; of equal ones the
    /// oldest.
    pub async fn lowest_trade(&self, q: &LowestTradeQuery) -> Result<Option<StoredTrade>, Error> {
        match self.of(q.chain).await? {
            EngineView::Embedded(view) => view.lowest_trade(q),
            EngineView::Postgres(view) => view.lowest_trade(q).await,
        }
    }
}
