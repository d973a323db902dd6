//! The journal: what was applied and reverted, in order. Readers keep their own place in it.

use alloy_primitives::B256;
use fjall::Readable;
use model::chain::ChainId;

use crate::Error;
use crate::embedded::codec::take_bytes;
use crate::embedded::keys;
use crate::embedded::read::View;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Apply,
    Revert,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub seq: u64,
    pub kind: EntryKind,
    pub number: u64,
    pub hash: B256,
}

impl Entry {
    pub fn pack(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(41);
        out.push(u8::from(self.kind == EntryKind::Revert));
        out.extend_from_slice(&self.number.to_be_bytes());
        out.extend_from_slice(self.hash.as_slice());
        out
    }

    pub fn unpack(seq: u64, mut input: &[u8]) -> Option<Self> {
        let kind = match take_bytes(&mut input, 1)?.first()? {
            0 => EntryKind::Apply,
            1 => EntryKind::Revert,
            _ => return None,
        };
        let number = u64::from_be_bytes(take_bytes(&mut input, 8)?.try_into().ok()?);
        let hash = B256::from_slice(take_bytes(&mut input, 32)?);
        Some(Entry { seq, kind, number, hash })
    }
}

impl View {
    /// Entries after `seq`, oldest first, at most `limit`.
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
            let entry = keys::last_number(&key).and_then(|seq| Entry::unpack(seq, &value));
            entries.push(entry.ok_or(Error::BrokenRow { table: "journal" })?);
        }
        Ok(entries)
    }

    /// The sequence of the newest entry; 0 where there is none. A row of its own: nearly every
    /// question wants it, and finding the end of the journal costs more than a look.
    pub fn journal_head(&self, chain: ChainId) -> Result<u64, Error> {
        let row = self.snapshot.get(&self.tables.meta, keys::journal_head(chain))?;
        Ok(row.and_then(|row| keys::last_number(&row)).unwrap_or(0))
    }
}
