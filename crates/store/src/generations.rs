//! Which reading of the blocks is in use, and how a new one takes its place.
//!
//! Facts are kept by generation. A new decoder fills the next one beside the one that answers; when it
//! is complete, everybody reads the new one from one moment to the next. Blocks that come or go
//! meanwhile do so in both.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::facts::Facts;

use crate::Error;

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
    /// The one that this decoder fills.
    pub(crate) fn building_with(
        &self,
        chain: ChainId,
        decoder: Fingerprint,
    ) -> Result<Building, Error> {
        let found = self.building.filter(|building| building.decoded_with == decoder);
        found.ok_or(Error::NotBuilding { chain: chain.0 })
    }

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
