//! Which reading of the blocks is in use.
//!
//! Facts are kept by generation. A new decoder fills the next one beside the one that answers; when it
//! is complete, one row changes and everybody reads the new one. Blocks that come or go meanwhile do so
//! in both.

use alloy_primitives::B256;
use fjall::Readable;
use model::chain::ChainId;

use crate::Error;
use crate::embedded::codec::take_bytes;
use crate::embedded::keys;
use crate::embedded::read::View;

/// What facts were decoded with: the decoders' version and what they know of the chain.
pub type Fingerprint = B256;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generations {
    pub current: u8,
    /// Zero where nobody said, or where more than one decoder had a part in it.
    pub decoded_with: Fingerprint,
    pub building: Option<Building>,
}

/// The generation in the making.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Building {
    pub generation: u8,
    pub decoded_with: Fingerprint,
    /// Every stored block from this number on is in it; none while nothing was walked yet.
    pub reached: Option<u64>,
}

impl Generations {
    pub fn next(&self) -> u8 {
        self.current.wrapping_add(1)
    }

    /// Those that blocks are written to.
    pub fn written(&self) -> impl Iterator<Item = u8> + use<> {
        let building = self.building.map(|building| building.generation);
        [Some(self.current), building].into_iter().flatten()
    }

    /// Whether facts in use, or in the making, are other than this decoder would find them.
    pub fn is_behind(&self, decoder: Fingerprint) -> bool {
        self.decoded_with != decoder || self.building.is_some()
    }

    /// Facts by this decoder are about to be added. What is in use becomes a mixture if they are
    /// another's, which whoever comes next must know; what is in the making would, so it ends.
    pub(crate) fn add_from(&mut self, decoder: Fingerprint) {
        if self.decoded_with != decoder {
            self.decoded_with = Fingerprint::ZERO;
        }
        self.building = self.building.filter(|building| building.decoded_with == decoder);
    }

    pub fn pack(&self) -> Vec<u8> {
        let mut out = vec![self.current];
        out.extend_from_slice(self.decoded_with.as_slice());
        if let Some(building) = self.building {
            out.push(building.generation);
            out.extend_from_slice(building.decoded_with.as_slice());
            if let Some(reached) = building.reached {
                out.extend_from_slice(&reached.to_be_bytes());
            }
        }
        out
    }

    fn unpack(mut input: &[u8]) -> Option<Self> {
        let (current, decoded_with) = unpack_one(&mut input)?;
        let building = match input.is_empty() {
            true => None,
            false => {
                let (generation, decoded_with) = unpack_one(&mut input)?;
                let reached = match input.is_empty() {
                    true => None,
                    false => Some(u64::from_be_bytes(take_bytes(&mut input, 8)?.try_into().ok()?)),
                };
                Some(Building { generation, decoded_with, reached })
            }
        };
        Some(Generations { current, decoded_with, building })
    }
}

fn unpack_one(input: &mut &[u8]) -> Option<(u8, Fingerprint)> {
    let generation = *take_bytes(input, 1)?.first()?;
    Some((generation, B256::from_slice(take_bytes(input, 32)?)))
}

impl View {
    /// Changes whenever facts of the chain may: with every commit, and with another reading of them.
    pub fn facts_version(&self, chain: ChainId) -> Result<u64, Error> {
        let generation = self.generations(chain)?.current;
        Ok((self.journal_head(chain)? << 8) | u64::from(generation))
    }

    pub fn generations(&self, chain: ChainId) -> Result<Generations, Error> {
        match self.snapshot.get(&self.tables.generations, keys::chain(chain))? {
            Some(row) => Generations::unpack(&row).ok_or(Error::BrokenRow { table: "generations" }),
            None => Ok(Generations::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            (current, generation) in (any::<u8>(), any::<u8>()),
            (one, other) in (any::<[u8; 32]>(), any::<[u8; 32]>()),
            reached in any::<Option<u64>>(),
            is_building in any::<bool>(),
            bytes in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            let building = Building { generation, decoded_with: other.into(), reached };
            let building = is_building.then_some(building);
            let row = Generations { current, decoded_with: one.into(), building };
            prop_assert_eq!(Generations::unpack(&row.pack()), Some(row));
            let _ = Generations::unpack(&bytes);
        }
    }
}
