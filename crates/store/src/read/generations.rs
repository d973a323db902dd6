//! Which reading of the blocks is in use.

use model::chain::ChainId;

use super::{Snapshot, View};
use crate::Error;
use crate::generations::Generations;

impl View {
    pub async fn generations(&self, chain: ChainId) -> Result<Generations, Error> {
        match &self.snapshot {
            Snapshot::Embedded(view) => view.generations(chain),
        }
    }
}
