//! What decoders found in a block.

use model::chain::ChainId;
use model::facts::Facts;

use super::{EngineView, View};
use crate::Error;

impl View {
    /// Of a stored block, in the generation in use: all that is kept of it, so that another store can be given the same.
    pub async fn facts(&self, chain: ChainId, number: u64) -> Result<Facts, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.facts(chain, number),
            EngineView::Postgres(view) => view.facts(chain, number).await,
        }
    }
}
