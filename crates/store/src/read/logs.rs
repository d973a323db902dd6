//! Logs by address, topics and range.

use model::chain::ChainId;

use super::{EngineView, View};
use crate::Error;
use crate::query::{LogsPage, LogsQuery};

impl View {
    pub async fn logs(&self, query: &LogsQuery) -> Result<LogsPage, Error> {
        match self.of(query.chain).await? {
            EngineView::Embedded(view) => view.logs(query),
            EngineView::Postgres(view) => view.logs(query).await,
        }
    }

    /// The oldest block from `from` to `to` of which not all receipts, and so not all logs, are known.
    pub async fn first_receiptless(
        &self,
        chain: ChainId,
        from: u64,
        to: u64,
    ) -> Result<Option<u64>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.first_receiptless(chain, from, to),
            EngineView::Postgres(view) => view.first_receiptless(chain, from, to).await,
        }
    }
}
