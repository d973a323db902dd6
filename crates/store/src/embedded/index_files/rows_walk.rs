//! Goes through rows of a part that lie between two keys.

use std::ops::Bound;

use bytes::Bytes;

use super::key_form::put_together;
use super::restarts::Restarts;
use super::rows_block::RowsReader;
use super::rows_key::RowsKey;
use crate::embedded::runs::RunTable;

/// Of keys without their chain.
pub type KeyBounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

pub struct RowsWalk {
    table: RunTable,
    reader: RowsReader<Bytes>,
    low: Bound<RowsKey>,
    high: Bound<RowsKey>,
    /// A row at or behind the low end was met; all others are behind it, too.
    is_inside: bool,
}

impl RowsWalk {
    pub fn new(table: RunTable, reader: RowsReader<Bytes>, (low, high): KeyBounds<'_>) -> Self {
        let key = |bytes| RowsKey::new(table, bytes);
        RowsWalk { table, reader, low: low.map(key), high: high.map(key), is_inside: false }
    }

    /// Leaves out rows before the low end; to be called before the first step.
    pub fn skip(&mut self, restarts: &Restarts) {
        if let Bound::Included(low) | Bound::Excluded(low) = &self.low
            && let Some((reader, _)) = restarts.before(low)
        {
            self.reader = reader;
        }
    }

    /// Goes to the next row, and says whether there is one. None where the bytes are not what was written.
    pub fn step(&mut self) -> Option<bool> {
        while !self.reader.is_done() {
            self.reader.read()?;
            self.is_inside = self.is_inside
                || match &self.low {
                    Bound::Unbounded => true,
                    Bound::Included(low) => low.compare(&self.reader).is_ge(),
                    Bound::Excluded(low) => low.compare(&self.reader).is_gt(),
                };
            if self.is_inside {
                return Some(match &self.high {
                    Bound::Unbounded => true,
                    Bound::Included(high) => high.compare(&self.reader).is_le(),
                    Bound::Excluded(high) => high.compare(&self.reader).is_lt(),
                });
            }
        }
        Some(false)
    }

    /// Of the row that it is at, as is the value.
    pub fn put_key(&self, out: &mut Vec<u8>) {
        put_together(self.table, self.reader.key(), out);
    }

    pub fn value(&self) -> &[u8] {
        self.reader.value()
    }
}
