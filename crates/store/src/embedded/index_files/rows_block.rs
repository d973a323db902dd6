//! A few thousand bytes of rows of one table, packed: what a row has in common with the one before is left out, and
//! blocks are numbered from the lowest of the file.

use std::ops::Range;

use super::key_form::{
    HEAD_BYTES_MAX, KeyParts, has_index, has_values, head_bytes, is_newest_first,
};
use crate::embedded::codec::{put_varint, take_varint};
use crate::embedded::runs::RunTable;

/// Packs rows, which come in the order of their keys.
pub struct RowsBlock {
    table: RunTable,
    /// No row is of a lower block.
    lowest: u64,
    last: LastRow,
    rows: usize,
    bytes: Vec<u8>,
}

/// What the next row is told by.
#[derive(Clone)]
struct LastRow {
    head: [u8; HEAD_BYTES_MAX],
    number: u64,
}

impl LastRow {
    const NONE: LastRow = LastRow { head: [0; HEAD_BYTES_MAX], number: 0 };

    /// How far a block of the same head is from the last, which comes before it.
    fn step_to(&self, table: RunTable, number: u64) -> Option<u64> {
        if is_newest_first(table) {
            self.number.checked_sub(number)
        } else {
            number.checked_sub(self.number)
        }
    }

    fn number_after(&self, table: RunTable, step: u64) -> Option<u64> {
        if is_newest_first(table) {
            self.number.checked_sub(step)
        } else {
            self.number.checked_add(step)
        }
    }
}

impl RowsBlock {
    pub fn new(table: RunTable, lowest: u64) -> Self {
        RowsBlock { table, lowest, last: LastRow::NONE, rows: 0, bytes: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// None where it is out of order, or has a value and must not.
    pub fn push(&mut self, key: KeyParts<'_>, value: &[u8]) -> Option<()> {
        let KeyParts { head, number, index } = key;
        let last_head = self.last.head.get_mut(..head.len())?;
        let shared = if self.rows == 0 {
            0
        } else {
            last_head.iter().zip(head).take_while(|(a, b)| a == b).count()
        };
        self.bytes.push(shared as u8);
        self.bytes.extend_from_slice(head.get(shared..)?);
        last_head.copy_from_slice(head);
        let step = if shared == head.len() {
            self.last.step_to(self.table, number)?
        } else {
            number.checked_sub(self.lowest)?
        };
        put_varint(&mut self.bytes, step);
        self.last.number = number;
        if has_index(self.table) {
            put_varint(&mut self.bytes, u64::from(index));
        }
        if has_values(self.table) {
            put_varint(&mut self.bytes, value.len() as u64);
            self.bytes.extend_from_slice(value);
        } else if !value.is_empty() {
            return None;
        }
        self.rows += 1;
        Some(())
    }

    /// Leaves an empty one.
    pub fn take(&mut self) -> Vec<u8> {
        self.rows = 0;
        std::mem::take(&mut self.bytes)
    }
}

/// Reads rows one after the other.
#[derive(Clone)]
pub struct RowsReader<B> {
    table: RunTable,
    lowest: u64,
    bytes: B,
    at: usize,
    /// The row that was read last.
    row: LastRow,
    index: u32,
    value: Range<usize>,
}

impl<B: AsRef<[u8]>> RowsReader<B> {
    pub fn new(table: RunTable, lowest: u64, bytes: B) -> Self {
        RowsReader { table, lowest, bytes, at: 0, row: LastRow::NONE, index: 0, value: 0..0 }
    }

    pub fn is_done(&self) -> bool {
        self.at >= self.bytes.as_ref().len()
    }

    /// Goes to the next row. None where there is none, or the bytes are not what was written.
    pub fn read(&mut self) -> Option<()> {
        let head_bytes = head_bytes(self.table);
        let bytes = self.bytes.as_ref();
        let left = bytes.get(self.at..)?;
        let (shared, left) = left.split_first()?;
        let shared = usize::from(*shared);
        // Nothing comes before the first.
        if shared > 0 && self.at == 0 {
            return None;
        }
        let (rest, mut left) = left.split_at_checked(head_bytes.checked_sub(shared)?)?;
        self.row.head.get_mut(shared..head_bytes)?.copy_from_slice(rest);
        let step = take_varint(&mut left)?;
        self.row.number = if shared == head_bytes {
            self.row.number_after(self.table, step)?
        } else {
            self.lowest.checked_add(step)?
        };
        if has_index(self.table) {
            self.index = u32::try_from(take_varint(&mut left)?).ok()?;
        }
        let value_bytes = if has_values(self.table) {
            usize::try_from(take_varint(&mut left)?).ok()?
        } else {
            0
        };
        let from = bytes.len() - left.len();
        self.at = from.checked_add(value_bytes).filter(|end| *end <= bytes.len())?;
        self.value = from..self.at;
        Some(())
    }

    /// Of the row that was read last, as is the value.
    pub fn key(&self) -> KeyParts<'_> {
        let head = self.row.head.get(..head_bytes(self.table)).unwrap_or_default();
        KeyParts { head, number: self.row.number, index: self.index }
    }

    /// With zeros behind a shorter one.
    pub fn padded_head(&self) -> &[u8; HEAD_BYTES_MAX] {
        &self.row.head
    }

    pub fn value(&self) -> &[u8] {
        self.bytes.as_ref().get(self.value.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::Bound;

    use proptest::prelude::*;

    use super::*;
    use crate::embedded::index_files::key_form::{put_together, take_apart};
    use crate::embedded::index_files::rows_part::RowsPart;

    fn table() -> impl Strategy<Value = RunTable> {
        prop::sample::select(RunTable::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn rows_come_back(
            table in table(),
            rows in prop::collection::vec((0u8..3, 0u8..3, 7u64..1 << 20, 0u32..300, any::<[u8; 2]>()), 1..120),
            ends in any::<(prop::sample::Index, prop::sample::Index)>(),
        ) {
            let mut sorted = BTreeMap::new();
            for (a, b, number, index, value) in rows {
                let mut head = [a; HEAD_BYTES_MAX];
                head[5] = b;
                let head = &head[..head_bytes(table)];
                let mut key = Vec::new();
                put_together(table, KeyParts { head, number, index }, &mut key);
                sorted.insert(key, if has_values(table) { value.to_vec() } else { Vec::new() });
            }
            let mut block = RowsBlock::new(table, 7);
            for (key, value) in &sorted {
                block.push(take_apart(table, key).unwrap(), value).unwrap();
            }
            let bytes = block.take();
            let part = RowsPart::new(table, 7, bytes.clone());
            let keys: Vec<Vec<u8>> = sorted.keys().cloned().collect();
            // A key that is there, or the beginning of one.
            let key = |at: prop::sample::Index| -> Vec<u8> { at.get(&keys).iter().copied().take(1 + at.index(40)).collect() };
            let (low, high) = (key(ends.0), key(ends.1));
            let mut bounds = vec![
                (Bound::Unbounded, Bound::Unbounded),
                (Bound::Excluded(low.clone()), Bound::Unbounded),
                (Bound::Unbounded, Bound::Excluded(high.clone())),
            ];
            if low < high {
                bounds.push((Bound::Included(low.clone()), Bound::Excluded(high.clone())));
                bounds.push((Bound::Excluded(low), Bound::Included(high.clone())));
            }
            for bounds in bounds {
                let ends = (bounds.0.as_ref().map(Vec::as_slice), bounds.1.as_ref().map(Vec::as_slice));
                let unpacked = part.between(ends).unwrap();
                let found: Vec<_> = (0..unpacked.len()).map(|at| unpacked.row(at)).collect();
                let expected: Vec<_> = sorted.range::<[u8], _>(ends).map(|(k, v)| (k.as_slice(), v.as_slice())).collect();
                prop_assert_eq!(part.count(ends), Some(expected.len() as u64));
                prop_assert_eq!(found, expected);
            }
            let cut = RowsPart::new(table, 7, bytes[..bytes.len() - 1].to_vec());
            prop_assert!(cut.between((Bound::Unbounded, Bound::Unbounded)).is_none());
        }

        #[test]
        fn no_bytes_are_too_strange(table in table(), lowest in any::<u64>(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = RowsPart::new(table, lowest, bytes).between((Bound::Unbounded, Bound::Unbounded));
        }
    }

    #[test]
    fn what_is_no_row_of_the_table_is_refused() {
        let mut block = RowsBlock::new(RunTable::TxByHash, 5);
        let key = |number| KeyParts { head: &[1; 8], number, index: 1 };
        assert!(block.push(key(4), &[]).is_none(), "below the lowest block");
        assert!(block.push(key(7), &[1]).is_none(), "a value where there is none");
        let mut block = RowsBlock::new(RunTable::TxByHash, 5);
        block.push(key(7), &[]).unwrap();
        assert!(block.push(key(6), &[]).is_none(), "out of order");
    }
}
