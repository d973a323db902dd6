//! The journal's rows: entries by sequence, and the chain's version.

use super::codec::take_bytes;
use alloy_primitives::B256;
use model::chain::ChainId;
use tokio::sync::watch;

use super::keys;
use super::open::Store;
use super::read::View;
use crate::Error;
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

fn unpack_version(row: &[u8]) -> Option<Version> {
    let (generation, seq) = row.split_last()?;
    Some(Version { seq: u64::from_be_bytes(seq.try_into().ok()?), generation: *generation })
}

fn read_version(row: Option<&[u8]>) -> Result<Version, Error> {
    match row {
        Some(row) => unpack_version(row).ok_or(Error::Broken { what: "version of a chain" }),
        None => Ok(Version::default()),
    }
}

impl View {
    pub fn journal_after(
        &self,
        chain: ChainId,
        seq: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        let from = keys::block(chain, seq.saturating_add(1));
        let to = keys::block(chain, u64::MAX);
        let mut entries = Vec::new();
        for item in self.snapshot.range(&self.tables.journal, from..=to).take(limit) {
            let (key, value) = item.into_inner()?;
            let entry = keys::last_number(&key).and_then(|seq| unpack_entry(seq, &value));
            entries.push(entry.ok_or(Error::Broken { what: "journal entry" })?);
        }
        Ok(entries)
    }

    /// A row of its own: nearly every question wants it, and finding the end of the journal costs more
    /// than a look.
    pub fn version(&self, chain: ChainId) -> Result<Version, Error> {
        read_version(self.snapshot.get(&self.tables.meta, keys::version(chain))?.as_deref())
    }
}

impl Store {
    pub fn version(&self, chain: ChainId) -> Result<Version, Error> {
        read_version(self.inner.tables.meta.get(keys::version(chain))?.as_deref())
    }

    pub fn subscribe(&self, chain: ChainId) -> watch::Receiver<u64> {
        // A version that cannot be read is told of by whoever asks for it.
        let newest = || self.version(chain).map_or(0, |version| version.seq);
        self.inner.announcements.subscribe(chain, newest)
    }
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
