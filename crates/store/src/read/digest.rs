//! One hash over all that blocks wrote, to compare two stores of the same engine.

use alloy_primitives::B256;
use model::chain::ChainId;

use super::{EngineView, View};
use crate::Error;

impl View {
    /// Two stores that hold the same blocks with the same receipts, traces, unknown fields and proof
    /// agree on it, whatever reorgs, restarts and orders of writing lay between. The journal, readers,
    /// how many senders were checked and which pools and tokens are known are left out.
    pub async fn digest(&self, chain: ChainId) -> Result<B256, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.digest(chain),
            EngineView::Postgres(view) => view.digest(chain).await,
        }
    }
}
