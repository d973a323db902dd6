//! The journal's rows: entries by sequence, and the chain's version.

use model::chain::ChainId;
use tokio::sync::watch;

use super::codec::journal::{unpack_entry, unpack_version};
use super::keys;
use super::open::Store;
use super::read::View;
use crate::Error;
use crate::journal::{Entry, Version};

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
        if let Some((known, version)) = self.version.get()
            && *known == chain
        {
            return Ok(*version);
        }
        let row = self.snapshot.get(&self.tables.meta, keys::version(chain))?;
        let version = read_version(row.as_deref())?;
        // Most views are of one chain, and are asked more than once.
        let _ = self.version.set((chain, version));
        Ok(version)
    }
}

impl Store {
    /// None where the table must be asked.
    pub fn known_version(&self, chain: ChainId) -> Option<Version> {
        self.inner.versions.get(chain)
    }

    pub fn subscribe(&self, chain: ChainId) -> watch::Receiver<u64> {
        // A version that cannot be read is told of by whoever asks for it.
        let newest = || {
            let known = self.known_version(chain).map(Ok);
            let version = known.unwrap_or_else(|| self.view()?.version(chain));
            version.map_or(0, |version| version.seq)
        };
        self.inner.announcements.subscribe(chain, newest)
    }
}
