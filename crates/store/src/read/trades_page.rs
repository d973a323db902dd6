//! Sales of an NFT contract, a page at a time.

use super::{EngineView, View};
use crate::Error;
use crate::query::{TradesPage, TradesQuery};

impl View {
    pub async fn trades_page(&self, q: &TradesQuery) -> Result<TradesPage, Error> {
        match self.of(q.chain).await? {
            EngineView::Embedded(view) => view.trades_page(q),
            EngineView::Postgres(view) => view.trades_page(q).await,
        }
    }
}
