//! A new reading of stored blocks: begun, written block by block, put in the place of the old one.

use model::chain::ChainId;

use crate::Error;
use crate::embedded::blocking::may_block;
use crate::generations::{Building, Decoded, Fingerprint, Generations, StopFn};
use crate::store::{Engine, Store};

/// A generation being built. It may be dropped at any time: what was written stays, and the next
/// `Store::rebuild_facts` with the same decoder goes on from there.
pub struct FactsRebuild {
    store: Store,
    chain: ChainId,
    building: Building,
}

impl FactsRebuild {
    /// Every stored block from this number on is done.
    pub fn reached(&self) -> Option<u64> {
        self.building.reached
    }

    /// Writes facts in the place of what the generation holds for these blocks, and notes that every
    /// stored block from `reached` on is now in it. Blocks that are no longer stored are passed over:
    /// what came in their place was written when it came. Says how many were not.
    pub async fn write(&self, blocks: Vec<Decoded>, reached: u64) -> Result<usize, Error> {
        let (chain, decoder) = (self.chain, self.building.decoded_with);
        match self.store.of(self.chain) {
            Engine::Embedded(store) => {
                let write = move |store: &crate::embedded::Store| {
                    store.write_generation(chain, decoder, &blocks, reached)
                };
                store.run(write).await
            }
            Engine::Postgres(store) => {
                store.write_generation(chain, decoder, &blocks, reached).await
            }
        }
    }

    /// From here on everybody reads the new generation; the old one's rows are removed, until `stop`
    /// says otherwise (the next rebuild removes the rest). Says how many rows went.
    pub async fn finish(self, stop: StopFn<'_>) -> Result<u64, Error> {
        match self.store.of(self.chain) {
            Engine::Embedded(store) => may_block(|| {
                store.finish_generation(self.chain, self.building.decoded_with)?;
                store.sweep_generations(self.chain, stop)
            }),
            Engine::Postgres(store) => {
                store.finish_generation(self.chain, self.building.decoded_with).await?;
                store.sweep_generations(self.chain, stop).await
            }
        }
    }
}

impl Store {
    /// Says who finds the facts that this process commits. A chain of which nothing was ever stored
    /// belongs to this decoder from the start.
    pub async fn decode_with(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
    ) -> Result<Generations, Error> {
        match self.of(chain) {
            Engine::Embedded(store) => may_block(|| store.decode_with(chain, decoder)),
            Engine::Postgres(store) => store.decode_with(chain, decoder).await,
        }
    }

    /// Begins a new reading of stored blocks, or goes on with this decoder's own. What is left of an
    /// earlier attempt goes first; none where `stop` said so before that was done.
    pub async fn rebuild_facts(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
        stop: StopFn<'_>,
    ) -> Result<Option<FactsRebuild>, Error> {
        let building = match self.of(chain) {
            Engine::Embedded(store) => may_block(|| store.begin_generation(chain, decoder, stop))?,
            Engine::Postgres(store) => store.begin_generation(chain, decoder, stop).await?,
        };
        Ok(building.map(|building| FactsRebuild { store: self.clone(), chain, building }))
    }

    /// Removes rows of generations that nobody reads or builds, until `stop` says so.
    pub async fn remove_unused_facts(
        &self,
        chain: ChainId,
        stop: StopFn<'_>,
    ) -> Result<u64, Error> {
        match self.of(chain) {
            Engine::Embedded(store) => may_block(|| store.sweep_generations(chain, stop)),
            Engine::Postgres(store) => store.sweep_generations(chain, stop).await,
        }
    }
}
