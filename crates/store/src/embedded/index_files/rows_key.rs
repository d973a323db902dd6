//! A key that many rows of a part are compared with.

use std::cmp::Ordering;

use super::key_form::{HEAD_BYTES_MAX, KeyParts, is_newest_first, put_together, take_apart};
use super::rows_block::RowsReader;
use crate::embedded::runs::RunTable;

/// Without its chain.
pub struct RowsKey {
    table: RunTable,
    form: Form,
}

enum Form {
    /// Rows need not be put together for it.
    Whole { head: [u8; HEAD_BYTES_MAX], place: (u64, u32) },
    /// The beginning of keys, for example.
    Other(Vec<u8>),
}

impl RowsKey {
    pub fn new(table: RunTable, bytes: &[u8]) -> Self {
        let whole = || {
            let parts = take_apart(table, bytes)?;
            let mut again = Vec::with_capacity(bytes.len());
            put_together(table, parts, &mut again);
            let mut head = [0; HEAD_BYTES_MAX];
            head.get_mut(..parts.head.len())?.copy_from_slice(parts.head);
            let whole = Form::Whole { head, place: (parts.number, parts.index) };
            (again == bytes).then_some(whole)
        };
        RowsKey { table, form: whole().unwrap_or_else(|| Form::Other(bytes.to_vec())) }
    }

    /// How the row that was read last compares with it.
    pub fn compare<B: AsRef<[u8]>>(&self, row: &RowsReader<B>) -> Ordering {
        match &self.form {
            Form::Whole { head, place } => {
                let KeyParts { number, index, .. } = row.key();
                let places = (number, index).cmp(place);
                let places = if is_newest_first(self.table) { places.reverse() } else { places };
                row.padded_head().cmp(head).then(places)
            }
            Form::Other(bytes) => {
                let mut key = Vec::with_capacity(32);
                put_together(self.table, row.key(), &mut key);
                key.as_slice().cmp(bytes)
            }
        }
    }
}
