//! Which reading of the blocks is in use.

use alloy_primitives::B256;

use super::bytes::take_bytes;
use crate::generations::{Building, Fingerprint, Generations};

pub fn pack(generations: &Generations) -> Vec<u8> {
    let mut out = vec![generations.current];
    out.extend_from_slice(generations.decoded_with.as_slice());
    if let Some(building) = generations.building {
        out.push(building.generation);
        out.extend_from_slice(building.decoded_with.as_slice());
        if let Some(reached) = building.reached {
            out.extend_from_slice(&reached.to_be_bytes());
        }
    }
    out
}

pub fn unpack(mut input: &[u8]) -> Option<Generations> {
    let (current, decoded_with) = unpack_one(&mut input)?;
    let mut building = None;
    if !input.is_empty() {
        let (generation, decoded_with) = unpack_one(&mut input)?;
        let reached = match input {
            [] => None,
            bytes => Some(u64::from_be_bytes(bytes.try_into().ok()?)),
        };
        building = Some(Building { generation, decoded_with, reached });
    }
    Some(Generations { current, decoded_with, building })
}

fn unpack_one(input: &mut &[u8]) -> Option<(u8, Fingerprint)> {
    let generation = *take_bytes(input, 1)?.first()?;
    Some((generation, B256::from_slice(take_bytes(input, 32)?)))
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
            prop_assert_eq!(unpack(&pack(&row)), Some(row));
            let _ = unpack(&bytes);
        }
    }
}
