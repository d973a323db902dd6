//! Dates as blocks.

use model::chain::ChainId;

use super::{EngineView, View};
use crate::Error;

impl View {
    /// The first stored block whose time is `timestamp` or later.
    pub async fn first_block_from(
        &self,
        chain: ChainId,
        timestamp: u64,
    ) -> Result<Option<u64>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.first_block_from(chain, timestamp),
            EngineView::Postgres(view) => view.first_block_from(chain, timestamp).await,
        }
    }

    /// The last stored block whose time is `timestamp` or earlier.
    pub async fn last_block_until(
        &self,
        chain: ChainId,
        timestamp: u64,
    ) -> Result<Option<u64>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.last_block_until(chain, timestamp),
            EngineView::Postgres(view) => view.last_block_until(chain, timestamp).await,
        }
    }
}
