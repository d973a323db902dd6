//! Stored blocks whose traces nobody could give yet.

use model::chain::ChainId;

use super::{EngineView, View};
use crate::Error;

impl View {
    /// Blocks with transactions and without traces below `below`, newest first, at most `limit`.
    pub async fn untraced_blocks(
        &self,
        chain: ChainId,
        below: u64,
        limit: usize,
    ) -> Result<Vec<u64>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.untraced_blocks(chain, below, limit),
            EngineView::Postgres(view) => view.untraced_blocks(chain, below, limit).await,
        }
    }
}
