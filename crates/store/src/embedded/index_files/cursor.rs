//! Rows of one index file between two keys, from both ends. Rows of blocks that count no more are passed over.

use std::ops::{Bound, Range};
use std::sync::Arc;

use super::file_set::FileEntry;
use super::key_form::{blocks_between, take_apart};
use crate::Error;
use crate::embedded::runs::{RunTable, SortedRows};

/// Keys are without their chain.
pub type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// A row whose key is without its chain.
type KeyAndValue<'a> = (&'a [u8], &'a [u8]);

pub struct Cursor {
    entry: Arc<FileEntry>,
    table: RunTable,
    bounds: Bounds,
    /// The part that is read from the front.
    front: Loaded,
    /// The part that is read from the back, where it is another.
    back: Option<Loaded>,
    /// The last one that has any rows left.
    last_part: u64,
}

struct Loaded {
    part: u64,
    rows: Arc<SortedRows>,
    left: Range<usize>,
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
        let front = load(&entry, table, &bounds, first_part)?;
        Ok(Cursor { entry, table, bounds, front, back: None, last_part })
    }
}

impl Cursor {
    /// The first row, which stays.
    pub fn first(&mut self) -> Result<Option<KeyAndValue<'_>>, Error> {
        loop {
            while let Some(at) = self.front.left.clone().next() {
                if self.is_alive(self.front.rows.row(at).0)? {
                    return Ok(Some(self.front.rows.row(at)));
                }
                self.front.left.start += 1;
            }
            if self.front.part >= self.last_part {
                return Ok(None);
            }
            let next = self.front.part + 1;
            self.front = match self.back.take_if(|back| back.part == next) {
                Some(back) => back,
                None => load(&self.entry, self.table, &self.bounds, next)?,
            };
        }
    }

    /// The last row, which stays.
    pub fn last(&mut self) -> Result<Option<KeyAndValue<'_>>, Error> {
        loop {
            let is_one = self.front.part >= self.last_part;
            if !is_one && self.back.is_none() {
                let part = self.last_part;
                self.back = Some(load(&self.entry, self.table, &self.bounds, part)?);
            }
            let loaded = self.back.as_ref().unwrap_or(&self.front);
            let (rows, left) = (loaded.rows.clone(), loaded.left.clone());
            for at in left.rev() {
                if self.is_alive(rows.row(at).0)? {
                    let loaded = self.back.as_mut().unwrap_or(&mut self.front);
                    loaded.left.end = at + 1;
                    return Ok(Some(loaded.rows.row(at)));
                }
            }
            let loaded = self.back.as_mut().unwrap_or(&mut self.front);
            loaded.left.end = loaded.left.start;
            if is_one {
                return Ok(None);
            }
            self.back = None;
            self.last_part -= 1;
        }
    }

    /// Goes past the row that `first` gave.
    pub fn pass_first(&mut self) {
        self.front.left.next();
    }

    /// Goes past the row that `last` gave.
    pub fn pass_last(&mut self) {
        self.back.as_mut().unwrap_or(&mut self.front).left.next_back();
    }

    pub fn chain(&self) -> [u8; 8] {
        self.entry.row.chain.0.to_be_bytes()
    }

    fn is_alive(&self, key: &[u8]) -> Result<bool, Error> {
        if self.entry.is_all_alive {
            return Ok(true);
        }
        let parts = take_apart(self.table, key).ok_or_else(|| self.entry.file.damaged())?;
        Ok(self.entry.row.blocks.contains(parts.number))
    }
}

fn load(entry: &FileEntry, table: RunTable, bounds: &Bounds, part: u64) -> Result<Loaded, Error> {
    let rows = entry.file.rows(table, part)?.between(bounds);
    let rows = Arc::new(rows.ok_or_else(|| entry.file.damaged())?);
    let left = 0..rows.len();
    Ok(Loaded { part, rows, left })
}

/// Whether no block of the file can have a row there.
fn is_of_other_blocks(entry: &FileEntry, table: RunTable, bounds: &Bounds) -> bool {
    let (Bound::Included(low), Bound::Included(high)) = bounds else { return false };
    let Some((lowest, highest)) = blocks_between(table, low, high) else { return false };
    let blocks = &entry.row.blocks;
    blocks.newest().is_none_or(|newest| newest < lowest)
        || blocks.oldest().is_none_or(|oldest| oldest > highest)
}
