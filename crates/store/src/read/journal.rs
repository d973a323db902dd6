//! What was written of a chain, in the order of writing.

use model::chain::ChainId;

use super::{EngineView, View};
use crate::Error;
use crate::journal::{Entry, Version};

impl View {
    /// Answers made from this view hold until the chain has another version.
    pub async fn version(&self, chain: ChainId) -> Result<Version, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.version(chain),
            EngineView::Postgres(view) => Ok(view.version(chain)),
        }
    }

    /// Entries after `seq`, oldest first, at most `limit`. Old entries are pruned behind the slowest
    /// reader.
    pub async fn journal_after(
        &self,
        chain: ChainId,
        seq: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.journal_after(chain, seq, limit),
            EngineView::Postgres(view) => view.journal_after(chain, seq, limit).await,
        }
    }
}
