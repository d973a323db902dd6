//! Rows of `told_pools`: what is known of a pool's witnesses, and what a block tells beside its changes.

use alloy_primitives::Address;
use model::facts::PoolId;

/// That a pool is known, by whom is in rows of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoolWitness {
    /// A block that told of it was pruned: the pool stays, whoever goes.
    pub is_kept: bool,
    /// Under which its rows are found.
    pub tokens: (Address, Address),
}

impl PoolWitness {
    pub fn pack(&self) -> Vec<u8> {
        let (one, other) = &self.tokens;
        [[u8::from(self.is_kept)].as_slice(), one.as_slice(), other.as_slice()].concat()
    }

    /// `None` means the bytes are not what `pack` wrote.
    pub fn unpack(row: &[u8]) -> Option<Self> {
        let (is_kept, tokens) = row.split_first()?;
        let (one, other) = tokens.split_first_chunk::<20>()?;
        let other: &[u8; 20] = other.try_into().ok()?;
        let is_kept = match is_kept {
            0 => false,
            1 => true,
            _ => return None,
        };
        Some(PoolWitness { is_kept, tokens: (one.into(), other.into()) })
    }
}

/// Each with its length in front.
pub fn row_of_ids<'a>(ids: impl Iterator<Item = &'a PoolId>) -> Vec<u8> {
    let mut row = Vec::new();
    for id in ids {
        row.push(id.as_slice().len() as u8);
        row.extend_from_slice(id.as_slice());
    }
    row
}

/// `None` means the bytes are not what `row_of_ids` wrote.
pub fn ids_of_row(mut row: &[u8]) -> Option<Vec<PoolId>> {
    let mut ids = Vec::new();
    while let Some((length, rest)) = row.split_first() {
        let (id, rest) = rest.split_at_checked(usize::from(*length))?;
        ids.push(PoolId::from_slice(id)?);
        row = rest;
    }
    Some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_others_are_refused() {
        let ids = [PoolId::Contract([1; 20].into()), PoolId::V4([2; 32].into())];
        let row = row_of_ids(ids.iter());
        assert_eq!(ids_of_row(&row).unwrap(), ids);
        assert_eq!(ids_of_row(&row[..row.len() - 1]), None);
        let tokens = (Address::repeat_byte(1), Address::repeat_byte(2));
        for is_kept in [false, true] {
            let witness = PoolWitness { is_kept, tokens };
            let row = witness.pack();
            assert_eq!(PoolWitness::unpack(&row), Some(witness));
            assert_eq!(PoolWitness::unpack(&row[..40]), None);
        }
        assert_eq!(PoolWitness::unpack(&[7; 41]), None);
    }
}
