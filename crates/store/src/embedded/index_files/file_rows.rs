//! Rows of several index files in the order of their keys, from both ends.

use std::ops::Bound;
use std::sync::Arc;

use super::cursor::{Bounds, Cursor, Found};
use super::file_set::{FileEntry, FileSet};
use super::key_form::take_apart;
use crate::Error;
use crate::embedded::engine::Slice;
use crate::embedded::runs::RunTable;

type Row = Result<(Slice, Slice), Error>;

/// Of a wallet's row, which is the longest.
const WHOLE_KEY_BYTES_MAX: usize = 40;

/// For a few rows of a few files: finding the next looks at each file.
#[derive(Default)]
pub struct FileRows {
    cursors: Vec<Cursor>,
    /// Nothing comes after it.
    failed: Option<Error>,
}

impl FileRows {
    /// Bounds are with their chain.
    pub fn in_range(
        files: &FileSet,
        table: Option<RunTable>,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
    ) -> Self {
        Self::new(files, table, |chain| {
            Some((lower_of_chain(chain, bounds.0)?, upper_of_chain(chain, bounds.1)?))
        })
    }

    /// Keys that begin so, with their chain.
    pub fn with_prefix(files: &FileSet, table: Option<RunTable>, prefix: &[u8]) -> Self {
        Self::new(files, table, |chain| match prefix.strip_prefix(chain.as_slice()) {
            Some(rest) => Some((Bound::Included(rest.to_vec()), end_of_prefix(rest))),
            None => chain.starts_with(prefix).then_some((Bound::Unbounded, Bound::Unbounded)),
        })
    }

    fn new(
        files: &FileSet,
        table: Option<RunTable>,
        bounds: impl Fn([u8; 8]) -> Option<Bounds>,
    ) -> Self {
        let cursors = table.map_or(Ok(Vec::new()), |table| cursors(files, table, bounds));
        match cursors {
            Ok(cursors) => FileRows { cursors, failed: None },
            Err(error) => FileRows { cursors: Vec::new(), failed: Some(error) },
        }
    }

    fn fail(&mut self, error: Error) -> Option<Row> {
        self.cursors.clear();
        Some(Err(error))
    }

    /// None where no file has any left. No two have the same row.
    fn take_first(&mut self) -> Result<Option<(Slice, Slice)>, Error> {
        let mut first: Option<(usize, [u8; 8], &[u8])> = None;
        for (at, cursor) in self.cursors.iter_mut().enumerate() {
            let chain = cursor.chain();
            if let Some((key, _)) = cursor.first()?
                && first.is_none_or(|(_, of, least)| (chain, key) < (of, least))
            {
                first = Some((at, chain, key));
            }
        }
        let first = first.map(|(at, ..)| at);
        let Some(cursor) = first.and_then(|at| self.cursors.get_mut(at)) else { return Ok(None) };
        let chain = cursor.chain();
        let row = cursor.first()?.map(|(key, value)| row_of(chain, key, value));
        cursor.pass_first();
        Ok(row)
    }

    fn take_last(&mut self) -> Result<Option<(Slice, Slice)>, Error> {
        let mut last: Option<(usize, [u8; 8], &[u8])> = None;
        for (at, cursor) in self.cursors.iter_mut().enumerate() {
            let chain = cursor.chain();
            if let Some((key, _)) = cursor.last()?
                && last.is_none_or(|(_, of, most)| (chain, key) > (of, most))
            {
                last = Some((at, chain, key));
            }
        }
        let last = last.map(|(at, ..)| at);
        let Some(cursor) = last.and_then(|at| self.cursors.get_mut(at)) else { return Ok(None) };
        let chain = cursor.chain();
        let row = cursor.last()?.map(|(key, value)| row_of(chain, key, value));
        cursor.pass_last();
        Ok(row)
    }
}

/// Of all files that have such rows. What is not in memory is asked for first, so that the disk is waited for once.
fn cursors(
    files: &FileSet,
    table: RunTable,
    bounds: impl Fn([u8; 8]) -> Option<Bounds>,
) -> Result<Vec<Cursor>, Error> {
    let mut found = Vec::new();
    for entry in files.all() {
        if let Some(bounds) = bounds(entry.row.chain.0.to_be_bytes()) {
            found.extend(Found::look(entry, table, bounds)?);
        }
    }
    if found.len() > 1 {
        found.iter().try_for_each(Found::will_need)?;
    }
    found.into_iter().map(Found::open).collect()
}

fn row_of(chain: [u8; 8], key: &[u8], value: &[u8]) -> (Slice, Slice) {
    // Put together on the stack: the slice takes memory of its own.
    let mut room = [0; WHOLE_KEY_BYTES_MAX];
    let whole = room.get_mut(..chain.len() + key.len()).map(|whole| {
        let (of_chain, rest) = whole.split_at_mut(chain.len());
        of_chain.copy_from_slice(&chain);
        rest.copy_from_slice(key);
        Slice::from(&*whole)
    });
    let whole = whole.unwrap_or_else(|| Slice::from([chain.as_slice(), key].concat()));
    (whole, Slice::from(value))
}

impl Iterator for FileRows {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        if let Some(error) = self.failed.take() {
            return self.fail(error);
        }
        match self.take_first() {
            Ok(row) => row.map(Ok),
            Err(error) => self.fail(error),
        }
    }
}

impl DoubleEndedIterator for FileRows {
    fn next_back(&mut self) -> Option<Row> {
        if let Some(error) = self.failed.take() {
            return self.fail(error);
        }
        match self.take_last() {
            Ok(row) => row.map(Ok),
            Err(error) => self.fail(error),
        }
    }
}

impl FileSet {
    /// `key` is with its chain.
    pub fn get(&self, table: RunTable, key: &[u8]) -> Result<Option<Slice>, Error> {
        let Some((chain, key)) = key.split_first_chunk::<8>() else { return Ok(None) };
        let Some(number) = take_apart(table, key).map(|parts| parts.number) else {
            return Ok(None);
        };
        let has_block = |entry: &&Arc<FileEntry>| {
            entry.row.chain.0.to_be_bytes() == *chain && entry.row.blocks.contains(number)
        };
        for entry in self.all().iter().filter(has_block) {
            if entry.file.table(table).parts == 0 {
                continue;
            }
            let part = entry.file.rows(table, entry.file.part_of(table, key)?)?;
            let only = (Bound::Included(key), Bound::Included(key));
            let found = part.between(only).ok_or_else(|| entry.file.damaged())?;
            if found.len() > 0 {
                return Ok(Some(Slice::from(found.row(0).1)));
            }
        }
        Ok(None)
    }
}

/// None where all keys of the chain are below.
fn lower_of_chain(chain: [u8; 8], bound: Bound<&[u8]>) -> Option<Bound<Vec<u8>>> {
    let (Bound::Included(key) | Bound::Excluded(key)) = bound else {
        return Some(Bound::Unbounded);
    };
    match key.strip_prefix(chain.as_slice()) {
        Some(rest) => Some(bound.map(|_| rest.to_vec())),
        None => (chain.as_slice() > key).then_some(Bound::Unbounded),
    }
}

/// None where all keys of the chain are above.
fn upper_of_chain(chain: [u8; 8], bound: Bound<&[u8]>) -> Option<Bound<Vec<u8>>> {
    let (Bound::Included(key) | Bound::Excluded(key)) = bound else {
        return Some(Bound::Unbounded);
    };
    match key.strip_prefix(chain.as_slice()) {
        Some(rest) => Some(bound.map(|_| rest.to_vec())),
        None => (chain.as_slice() < key).then_some(Bound::Unbounded),
    }
}

fn end_of_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return Bound::Excluded(end);
        }
    }
    Bound::Unbounded
}
