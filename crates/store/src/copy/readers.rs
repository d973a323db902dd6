//! Readers of the journal, who go on in the second store where they are in the first.
//!
//! Entries have other numbers there. What a reader has still to take into account is appended, and it is placed in front of
//! that: it sees the same reverts and amendments, then the same blocks.

use model::chain::ChainId;

use crate::Error;
use crate::engine::Engine;
use crate::journal::{Entry, ReaderCommit, ReaderCursor, ReaderStatus};
use crate::store::Store;

const ROWS_MAX: usize = 1_000_000;
const ENTRIES_AT_ONCE: usize = 100_000;

impl Store {
    pub(super) async fn copy_readers(&self, to: &Store, chain: ChainId) -> Result<(), Error> {
        let known = to.view().await?.readers(chain).await?;
        let mut missing = Vec::new();
        for reader in self.view().await?.readers(chain).await? {
            match known.iter().find(|known| known.name == reader.name) {
                Some(known) => check_place(chain, &reader, known)?,
                None => missing.push(reader),
            }
        }
        let Some(slowest) = missing.iter().map(|reader| reader.cursor.seq).min() else {
            return Ok(());
        };
        let entries = self.entries_after(chain, slowest).await?;
        let before = to.append_journal(chain, entries.clone()).await?;
        for reader in missing {
            let passed = entries.partition_point(|entry| entry.seq <= reader.cursor.seq) as u64;
            let cursor = ReaderCursor { seq: before + passed, ..reader.cursor };
            let rows = self.view().await?.reader_rows(chain, &reader.name, &[], ROWS_MAX).await?;
            let name = reader.name;
            to.commit_reader(ReaderCommit { chain, name, expected: None, cursor, rows }).await?;
        }
        Ok(())
    }

    async fn entries_after(&self, chain: ChainId, mut seq: u64) -> Result<Vec<Entry>, Error> {
        let (view, mut entries) = (self.view().await?, Vec::new());
        loop {
            let some = view.journal_after(chain, seq, ENTRIES_AT_ONCE).await?;
            let Some(last) = some.last() else { return Ok(entries) };
            seq = last.seq;
            entries.extend(some);
        }
    }

    /// Says which sequence the newest entry had before.
    async fn append_journal(&self, chain: ChainId, entries: Vec<Entry>) -> Result<u64, Error> {
        match self.of(chain) {
            Engine::Embedded(store) => {
                store.run(move |store| store.append_journal(chain, &entries)).await
            }
            Engine::Postgres(store) => store.append_journal(chain, &entries).await,
        }
    }
}

/// A reader that an earlier copy placed, and nobody moved since.
fn check_place(chain: ChainId, reader: &ReaderStatus, known: &ReaderStatus) -> Result<(), Error> {
    let place = |cursor: ReaderCursor| (cursor.start, cursor.next);
    if place(reader.cursor) == place(known.cursor) {
        return Ok(());
    }
    let (name, id) = (&reader.name, chain.0);
    let (here, there) = (reader.cursor.next, known.cursor.next);
    let what = format!(
        "the second store has a journal reader {name} of chain {id} already, at block {there} and not at {here}"
    );
    Err(Error::NotEmpty { what })
}
