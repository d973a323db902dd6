//! Which reading of the blocks is in use.
//!
//! Facts are kept by generation. A new decoder fills the next one beside the one that answers; when it
//! is complete, one row changes and everybody reads the new one. Blocks that come or go meanwhile do so
//! in both.

use alloy_primitives::B256;
use fjall::Readable;
use model::chain::ChainId;
use model::raw::wire::take_bytes;

use crate::read::View;
use crate::{Error, keys};

/// What facts were decoded with: the decoders' version and what they know of the chain.
pub type Fingerprint = B256;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generations {
    pub current: u8,
    /// Zero where nobody said.
    pub decoded_with: Fingerprint,
    pub building: Option<(u8, Fingerprint)>,
}

impl Generations {
    pub fn next(&self) -> u8 {
        self.current.wrapping_add(1)
    }

    /// Those that blocks are written to.
    pub fn written(&self) -> impl Iterator<Item = u8> + use<> {
        [Some(self.current), self.building.map(|(next, _)| next)].into_iter().flatten()
    }

    pub fn pack(&self) -> Vec<u8> {
        let mut out = vec![self.current];
        out.extend_from_slice(self.decoded_with.as_slice());
        if let Some((next, with)) = self.building {
            out.push(next);
            out.extend_from_slice(with.as_slice());
        }
        out
    }

    fn unpack(mut input: &[u8]) -> Option<Self> {
        let mut one = || -> Option<(u8, B256)> {
            let generation = *take_bytes(&mut input, 1)?.first()?;
            Some((generation, B256::from_slice(take_bytes(&mut input, 32)?)))
        };
        let (current, decoded_with) = one()?;
        Some(Generations { current, decoded_with, building: one() })
    }
}

impl View {
    pub fn generations(&self, chain: ChainId) -> Result<Generations, Error> {
        match self.snapshot.get(&self.tables.generations, keys::chain(chain))? {
            Some(row) => Generations::unpack(&row).ok_or(Error::BrokenRow { table: "generations" }),
            None => Ok(Generations::default()),
        }
    }
}
