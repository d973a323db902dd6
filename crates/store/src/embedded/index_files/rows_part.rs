//! A part of an index file in memory, as it lies on disk: it holds hundreds of rows of which a few are wanted, so it is gone
//! through, and only those are put together.

use std::cmp::Ordering;
use std::ops::{Bound, ControlFlow};

use super::cursor::Bounds;
use super::key_form::put_together;
use super::rows_block::RowsReader;
use crate::embedded::runs::{RunTable, SortedRows};

pub struct RowsPart {
    table: RunTable,
    lowest: u64,
    bytes: Vec<u8>,
}

impl RowsPart {
    /// No row is of a block below `lowest`.
    pub fn new(table: RunTable, lowest: u64, bytes: Vec<u8>) -> Self {
        RowsPart { table, lowest, bytes }
    }

    pub fn memory_bytes(&self) -> u64 {
        self.bytes.capacity() as u64
    }

    /// Keys are without their chain. None where the bytes are not what was written, as everywhere here.
    pub fn between(&self, bounds: &Bounds) -> Option<SortedRows> {
        let mut found = SortedRows::default();
        self.walk(|row| {
            if found.len() == 0 && !is_above(row, &bounds.0) {
                return ControlFlow::Continue(());
            }
            if !is_below(row, &bounds.1) {
                return ControlFlow::Break(());
            }
            found.push_with(
                |key| put_together(self.table, row.reader.key(), key),
                row.reader.value(),
            );
            ControlFlow::Continue(())
        })?;
        Some(found)
    }

    /// How many rows have keys that are less.
    pub fn rows_below(&self, bound: &Bound<&[u8]>) -> Option<u64> {
        let mut rows = 0;
        self.walk(|row| {
            if !is_below(row, bound) {
                return ControlFlow::Break(());
            }
            rows += 1;
            ControlFlow::Continue(())
        })?;
        Some(rows)
    }

    fn walk(&self, mut each: impl FnMut(&mut AtRow<'_>) -> ControlFlow<()>) -> Option<()> {
        let reader = RowsReader::new(self.table, self.lowest, self.bytes.as_slice());
        let mut row = AtRow { table: self.table, reader, key: Vec::new() };
        while !row.reader.is_done() {
            row.reader.read()?;
            if each(&mut row).is_break() {
                break;
            }
        }
        Some(())
    }
}

struct AtRow<'a> {
    table: RunTable,
    reader: RowsReader<&'a [u8]>,
    /// Room for its key.
    key: Vec<u8>,
}

impl AtRow<'_> {
    /// Most are told apart by their heads, which need not be put together with the rest.
    fn compare(&mut self, other: &[u8]) -> Ordering {
        let head = self.reader.key().head;
        head.cmp(other.get(..head.len()).unwrap_or(other)).then_with(|| {
            self.key.clear();
            put_together(self.table, self.reader.key(), &mut self.key);
            self.key.as_slice().cmp(other)
        })
    }
}

fn is_above(row: &mut AtRow<'_>, bound: &Bound<Vec<u8>>) -> bool {
    match bound {
        Bound::Unbounded => true,
        Bound::Included(low) => row.compare(low).is_ge(),
        Bound::Excluded(low) => row.compare(low).is_gt(),
    }
}

fn is_below<K: AsRef<[u8]>>(row: &mut AtRow<'_>, bound: &Bound<K>) -> bool {
    match bound {
        Bound::Unbounded => true,
        Bound::Included(high) => row.compare(high.as_ref()).is_le(),
        Bound::Excluded(high) => row.compare(high.as_ref()).is_lt(),
    }
}
