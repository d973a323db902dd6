//! Makes a run of rows that come in any order.

use model::chain::ChainId;

use super::run::{Run, RunTable};
use super::sorted_rows::{SortedRows, start_of_key};
use crate::coverage::Coverage;

/// Of one table. A block more than this, and offsets still fit.
const BYTES_MAX: usize = 1 << 30;

#[derive(Default)]
pub struct RunBuilder {
    blocks: Coverage,
    tables: [Rows; 4],
}

/// Rows of one table as they came.
#[derive(Default)]
struct Rows {
    /// Each with the length of its key in front.
    data: Vec<u8>,
    order: Vec<RowAt>,
}

/// Sorting compares the beginnings of keys, which lie here, and looks at the rest only where they are equal.
#[derive(Clone, Copy)]
struct RowAt {
    start_of_key: u64,
    from: u32,
    to: u32,
}

impl RunBuilder {
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub fn add_block(&mut self, number: u64) {
        self.blocks.insert(number);
    }

    pub fn has_room(&self) -> bool {
        self.tables.iter().all(|rows| rows.data.len() < BYTES_MAX)
    }

    /// `key` is without its chain.
    pub fn add(&mut self, table: RunTable, key: &[u8], value: &[u8]) {
        let rows = table.of_mut(&mut self.tables);
        let from = rows.data.len();
        debug_assert!(key.len() <= usize::from(u8::MAX));
        rows.data.push(key.len() as u8);
        rows.data.extend_from_slice(key);
        rows.data.extend_from_slice(value);
        let (from, to) = (from as u32, rows.data.len() as u32);
        rows.order.push(RowAt { start_of_key: start_of_key(key), from, to });
    }

    pub fn finish(self, chain: ChainId, seq: u64) -> Run {
        Run { chain, seq, blocks: self.blocks, tables: self.tables.map(Rows::sorted) }
    }
}

impl Rows {
    fn sorted(mut self) -> SortedRows {
        let data = &self.data;
        let row = |at: &RowAt| data.get(at.from as usize..at.to as usize).unwrap_or_default();
        let key = |at: &RowAt| match row(at).split_first() {
            Some((key_bytes, rest)) => rest.get(..usize::from(*key_bytes)).unwrap_or_default(),
            None => &[],
        };
        self.order.sort_unstable_by(|a, b| {
            a.start_of_key.cmp(&b.start_of_key).then_with(|| key(a).cmp(key(b)))
        });
        let mut sorted = SortedRows::with_capacity(data.len(), self.order.len());
        self.order.iter().for_each(|at| sorted.push_packed(row(at)));
        sorted
    }
}
