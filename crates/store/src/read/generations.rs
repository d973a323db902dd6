//! Which reading of the blocks is in use.

use model::chain::ChainId;

use super::{EngineView, View};
use crate::Error;
use crate::generations::Generations;

impl View {
    pub async fn generations(&self, chain: ChainId) -> Result<Generations, Error> {
        match self.of(chain).await? {
            EngineView::Embedded(view) => view.generations(chain),
            EngineView::Postgres(view) => Ok(view.generations(chain)),
        }
    }
}
