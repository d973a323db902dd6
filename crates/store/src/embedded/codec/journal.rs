//! Entries of the journal, and the version of a chain.

use alloy_primitives::B256;

use super::bytes::take_bytes;
use crate::journal::{Entry, EntryKind, Origin, Version};

/// Without the sequence, which is in the key.
pub fn pack_entry(entry: &Entry) -> Vec<u8> {
    let mut out = Vec::with_capacity(42);
    out.push(match entry.kind {
        EntryKind::Apply => 0,
        EntryKind::Revert => 1,
        EntryKind::Amend => 2,
    });
    out.extend_from_slice(&entry.number.to_be_bytes());
    out.extend_from_slice(entry.hash.as_slice());
    out.push(match entry.origin {
        Origin::Head => 0,
        Origin::History => 1,
        Origin::Import => 2,
    });
    out
}

pub fn unpack_entry(seq: u64, mut input: &[u8]) -> Option<Entry> {
    let kind = match take_bytes(&mut input, 1)?.first()? {
        0 => EntryKind::Apply,
        1 => EntryKind::Revert,
        2 => EntryKind::Amend,
        _ => return None,
    };
    let number = u64::from_be_bytes(take_bytes(&mut input, 8)?.try_into().ok()?);
    let hash = B256::from_slice(take_bytes(&mut input, 32)?);
    let origin = match input {
        [0] => Origin::Head,
        [1] => Origin::History,
        [2] => Origin::Import,
        _ => return None,
    };
    Some(Entry { seq, kind, origin, number, hash })
}

pub fn pack_version(version: Version) -> Vec<u8> {
    let mut out = version.seq.to_be_bytes().to_vec();
    out.push(version.generation);
    out
}

pub fn unpack_version(row: &[u8]) -> Option<Version> {
    let (generation, seq) = row.split_last()?;
    Some(Version { seq: u64::from_be_bytes(seq.try_into().ok()?), generation: *generation })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            (kind, origin) in (0usize..3, 0usize..3),
            (seq, number, hash) in (any::<u64>(), any::<u64>(), any::<[u8; 32]>()),
            bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let kind = [EntryKind::Apply, EntryKind::Revert, EntryKind::Amend][kind];
            let origin = [Origin::Head, Origin::History, Origin::Import][origin];
            let entry = Entry { seq, kind, origin, number, hash: hash.into() };
            prop_assert_eq!(unpack_entry(seq, &pack_entry(&entry)), Some(entry));
            let version = Version { seq, generation: number as u8 };
            prop_assert_eq!(unpack_version(&pack_version(version)), Some(version));
            let _ = unpack_entry(seq, &bytes);
            let _ = unpack_version(&bytes);
        }
    }
}
