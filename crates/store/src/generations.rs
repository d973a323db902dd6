//! Which reading of the blocks is in use, and how a new one takes its place.
//!
//! Facts are kept by generation. A new decoder fills the next one beside the one that answers; when it
//! is complete, everybody reads the new one from one moment to the next. Blocks that come or go
//! meanwhile do so in both.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::facts::Facts;

use crate::Error;
use crate::embedded::blocking::may_block;
use crate::store::{Engine, Store};

/// What facts were decoded with: the decoders' version and what they know of the chain.
pub type Fingerprint = B256;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generations {
    pub current: u8,
    /// Zero where nobody said, or where more than one decoder had a part in it.
    pub decoded_with: Fingerprint,
    pub building: Option<Building>,
}

/// The generation that is being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Building {
    pub generation: u8,
    pub decoded_with: Fingerprint,
    /// Every stored block from this number on is in it; none while nothing was decoded yet.
    pub reached: Option<u64>,
}

impl Generations {
    pub(crate) fn next(&self) -> u8 {
        self.current.wrapping_add(1)
    }

    /// Those that blocks are written to.
    pub(crate) fn written(&self) -> impl Iterator<Item = u8> + use<> {
        let building = self.building.map(|building| building.generation);
        [Some(self.current), building].into_iter().flatten()
    }

    /// Whether facts in use, or being built, are other than this decoder would find them.
    pub fn is_behind(&self, decoder: Fingerprint) -> bool {
        self.decoded_with != decoder || self.building.is_some()
    }

    /// Facts by this decoder are about to be added. What is in use becomes a mixture if they are
    /// another's, which whoever comes next must know; what is being built would, so it ends.
    pub(crate) fn add_from(&mut self, decoder: Fingerprint) {
        if self.decoded_with != decoder {
            self.decoded_with = Fingerprint::ZERO;
        }
        self.building = self.building.filter(|building| building.decoded_with == decoder);
    }
}

/// A stored block as a decoder reads it.
pub struct Decoded {
    pub number: u64,
    pub hash: B256,
    pub facts: Facts,
}

/// True once the work is no longer wanted.
pub type StopFn<'a> = &'a (dyn Fn() -> bool + Send + Sync);

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
        match &self.store.engine {
            Engine::Embedded(store) => {
                let write = move |store: &crate::embedded::Store| {
                    store.write_generation(chain, decoder, &blocks, reached)
                };
                store.run(write).await
            }
        }
    }

    /// From here on everybody reads the new generation; the old one's rows are removed, until `stop`
    /// says otherwise (the next rebuild removes the rest). Says how many rows went.
    pub async fn finish(self, stop: StopFn<'_>) -> Result<u64, Error> {
        match &self.store.engine {
            Engine::Embedded(store) => may_block(|| {
                store.finish_generation(self.chain, self.building.decoded_with)?;
                store.sweep_generations(self.chain, stop)
            }),
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
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.decode_with(chain, decoder)),
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
        let building = match &self.engine {
            Engine::Embedded(store) => may_block(|| store.begin_generation(chain, decoder, stop))?,
        };
        Ok(building.map(|building| FactsRebuild { store: self.clone(), chain, building }))
    }

    /// Removes rows of generations that nobody reads or builds, until `stop` says so.
    pub async fn remove_unused_facts(
        &self,
        chain: ChainId,
        stop: StopFn<'_>,
    ) -> Result<u64, Error> {
        match &self.engine {
            Engine::Embedded(store) => may_block(|| store.sweep_generations(chain, stop)),
        }
    }
}
