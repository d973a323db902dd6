//! Rows of one index file between two keys, from both ends. Rows of blocks that count no more are passed over.

use std::ops::Bound;
use std::sync::Arc;

use super::file_set::FileEntry;
use super::key_form::blocks_between;
use super::rows_walk::{KeyBounds, RowsWalk};
use crate::Error;
use crate::embedded::runs::{RunTable, SortedRows};

/// Keys are without their chain.
pub type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// Of a wallet's row.
const KEY_BYTES_GUESS: usize = 32;

/// A row whose key is without its chain.
type KeyAndValue<'a> = (&'a [u8], &'a [u8]);

pub struct Cursor {
    entry: Arc<FileEntry>,
    table: RunTable,
    bounds: Bounds,
    front: Front,
    /// None until it is asked for.
    back: Option<Back>,
    /// The last one that has any rows left.
    last_part: u64,
}

/// The part that is read from the front, row by row: most of it is never asked for.
struct Front {
    part: u64,
    rows: RowsWalk,
    /// Of the row that it is at; empty where that is still to be found.
    key: Vec<u8>,
    passed: usize,
}

/// The part that is read from the back; it may be the same.
struct Back {
    part: u64,
    rows: SortedRows,
    /// So many are left of it, with those that the front has passed.
    left: usize,
}

/// Where rows of a file are, before they are read.
pub struct Found {
    entry: Arc<FileEntry>,
    table: RunTable,
    bounds: Bounds,
    first_part: u64,
    last_part: u64,
}

impl Found {
    /// None where the file has no such rows.
    pub fn look(
        entry: &Arc<FileEntry>,
        table: RunTable,
        bounds: Bounds,
    ) -> Result<Option<Self>, Error> {
        let parts = entry.file.table(table).parts;
        if parts == 0 || is_of_other_blocks(entry, table, &bounds) {
            return Ok(None);
        }
        let part_of = |bound: &Bound<Vec<u8>>, unbounded| match bound {
            Bound::Unbounded => Ok(unbounded),
            Bound::Included(key) | Bound::Excluded(key) => entry.file.part_of(table, key),
        };
        let (first_part, last_part) = (part_of(&bounds.0, 0)?, part_of(&bounds.1, parts - 1)?);
        Ok(Some(Found { entry: entry.clone(), table, bounds, first_part, last_part }))
    }

    pub fn will_need(&self) -> Result<(), Error> {
        self.entry.file.will_need(self.table, self.first_part)
    }

    pub fn open(self) -> Result<Cursor, Error> {
        let Found { entry, table, bounds, first_part, last_part } = self;
        let front = Front::open(&entry, table, &bounds, first_part)?;
        Ok(Cursor { entry, table, bounds, front, back: None, last_part })
    }
}

impl Front {
    fn open(entry: &FileEntry, table: RunTable, bounds: &Bounds, part: u64) -> Result<Self, Error> {
        let rows = entry.file.rows(table, part)?.walk(borrowed(bounds));
        Ok(Front { part, rows, key: Vec::with_capacity(KEY_BYTES_GUESS), passed: 0 })
    }

    /// The key of the row that it is at; none behind the last. None where the bytes are not what was written.
    fn key(&mut self) -> Option<Option<&[u8]>> {
        if self.key.is_empty() && self.rows.step()? {
            self.rows.put_key(&mut self.key);
        }
        Some(self.found())
    }

    fn found(&self) -> Option<&[u8]> {
        Some(self.key.as_slice()).filter(|key| !key.is_empty())
    }

    fn pass(&mut self) {
        self.key.clear();
        self.passed += 1;
    }
}

impl Cursor {
    /// The first row, which stays.
    pub fn first(&mut self) -> Result<Option<KeyAndValue<'_>>, Error> {
        while !self.find_first()? {
            let next = self.front.part + 1;
            if next > self.last_part {
                return Ok(None);
            }
            self.front = Front::open(&self.entry, self.table, &self.bounds, next)?;
        }
        Ok(self.front.found().map(|key| (key, self.front.rows.value())))
    }

    /// Goes to the first row of its part that counts, and says whether there is one.
    fn find_first(&mut self) -> Result<bool, Error> {
        let entry = &self.entry;
        let back = self.back.as_ref().filter(|back| back.part == self.front.part);
        let end = back.map_or(usize::MAX, |back| back.left);
        while self.front.passed < end {
            let Some(key) = self.front.key().ok_or_else(|| entry.file.damaged())? else { break };
            if entry.is_alive(self.table, key)? {
                return Ok(true);
            }
            self.front.pass();
        }
        Ok(false)
    }

    /// The last row, which stays.
    pub fn last(&mut self) -> Result<Option<KeyAndValue<'_>>, Error> {
        while !self.find_last()? {
            if self.last_part <= self.front.part {
                return Ok(None);
            }
            self.last_part -= 1;
        }
        Ok(self.back.as_ref().map(|back| back.rows.row(back.left - 1)))
    }

    /// Goes to the last row of its part that counts, and says whether there is one.
    fn find_last(&mut self) -> Result<bool, Error> {
        let (entry, part) = (&self.entry, self.last_part);
        let passed = if self.front.part == part { self.front.passed } else { 0 };
        let back = match self.back.take_if(|back| back.part == part) {
            Some(back) => back,
            None => {
                let rows = entry.file.rows(self.table, part)?.between(borrowed(&self.bounds));
                let rows = rows.ok_or_else(|| entry.file.damaged())?;
                Back { part, left: rows.len(), rows }
            }
        };
        let back = self.back.insert(back);
        while back.left > passed {
            if entry.is_alive(self.table, back.rows.row(back.left - 1).0)? {
                return Ok(true);
            }
            back.left -= 1;
        }
        Ok(false)
    }

    /// Goes past the row that `first` gave.
    pub fn pass_first(&mut self) {
        self.front.pass();
    }

    /// Goes past the row that `last` gave.
    pub fn pass_last(&mut self) {
        if let Some(back) = &mut self.back {
            back.left = back.left.saturating_sub(1);
        }
    }

    pub fn chain(&self) -> [u8; 8] {
        self.entry.row.chain.0.to_be_bytes()
    }
}

fn borrowed((low, high): &Bounds) -> KeyBounds<'_> {
    (low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice))
}

/// Whether no block of the file can have a row there.
fn is_of_other_blocks(entry: &FileEntry, table: RunTable, bounds: &Bounds) -> bool {
    let (Bound::Included(low), Bound::Included(high)) = bounds else { return false };
    let Some((lowest, highest)) = blocks_between(table, low, high) else { return false };
    let blocks = &entry.row.blocks;
    blocks.newest().is_none_or(|newest| newest < lowest)
        || blocks.oldest().is_none_or(|oldest| oldest > highest)
}
