//! The index files of a store, as they were at one moment.

use std::sync::Arc;

use model::chain::ChainId;

use super::file::IndexFile;
use super::file_row::IndexFileRow;
use super::key_form::{KeyParts, is_newest_first, put_together, take_apart};
use crate::Error;
use crate::embedded::runs::RunTable;

/// A file, and what of it counts.
pub struct FileEntry {
    pub file: Arc<IndexFile>,
    pub row: IndexFileRow,
    /// No row has to be passed over.
    pub is_all_alive: bool,
}

impl FileEntry {
    pub fn new(file: Arc<IndexFile>, row: IndexFileRow) -> Self {
        FileEntry { file, is_all_alive: row.is_all_alive(), row }
    }

    /// Whether a row counts: its block may have been dropped since the file was written.
    pub fn is_alive(&self, table: RunTable, key: &[u8]) -> Result<bool, Error> {
        if self.is_all_alive {
            return Ok(true);
        }
        let parts = take_apart(table, key).ok_or_else(|| self.file.damaged())?;
        Ok(self.row.blocks.contains(parts.number))
    }

    /// Rows of `head` in these blocks.
    fn count(&self, table: RunTable, head: &[u8], from: u64, to: u64) -> Result<u64, Error> {
        let key = |number, index| {
            let mut key = Vec::with_capacity(32);
            put_together(table, KeyParts { head, number, index }, &mut key);
            key
        };
        let (oldest, newest) = (key(from, 0), key(to, u32::MAX));
        if is_newest_first(table) {
            self.file.count(table, &newest, &oldest)
        } else {
            self.file.count(table, &oldest, &newest)
        }
    }
}

#[derive(Clone, Default)]
pub struct FileSet {
    /// One more with each change. The store's own rows say which one they mean.
    pub version: u64,
    files: Vec<Arc<FileEntry>>,
}

impl FileSet {
    pub fn new(version: u64, files: Vec<Arc<FileEntry>>) -> Self {
        FileSet { version, files }
    }

    pub fn all(&self) -> &[Arc<FileEntry>] {
        &self.files
    }

    pub fn of_chain(&self, chain: ChainId) -> impl Iterator<Item = &Arc<FileEntry>> {
        self.files.iter().filter(move |entry| entry.row.chain == chain)
    }

    pub fn has_block(&self, chain: ChainId, number: u64) -> bool {
        self.of_chain(chain).any(|entry| entry.row.blocks.contains(number))
    }

    pub fn get_file(&self, id: u64) -> Option<&Arc<FileEntry>> {
        self.files.iter().find(|entry| entry.file.id == id)
    }

    /// How many rows `head` has in blocks of a chain. Each file is asked for its rows up to two places, however many are
    /// between them.
    pub fn count(
        &self,
        table: RunTable,
        (chain, head): (ChainId, &[u8]),
        (from, to): (u64, u64),
    ) -> Result<u64, Error> {
        let mut rows = 0;
        for entry in self.of_chain(chain) {
            let blocks = &entry.row.blocks;
            let (Some(oldest), Some(newest)) = (blocks.oldest(), blocks.newest()) else { continue };
            if newest < from || oldest > to {
                continue;
            }
            if entry.is_all_alive {
                rows += entry.count(table, head, from, to)?;
                continue;
            }
            let inside = blocks.ranges().iter().filter(|range| range.1 >= from && range.0 <= to);
            for (first, last) in inside {
                rows += entry.count(table, head, (*first).max(from), (*last).min(to))?;
            }
        }
        Ok(rows)
    }
}
