//! Rows of a table as one number, whatever their order: two sets of rows are the same if their sums are.

use xxhash_rust::xxh3::{xxh3_128, xxh3_128_with_seed};

use crate::Error;
use crate::embedded::engine::Table;
use crate::embedded::read::View;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub rows: u64,
    hash: u128,
}

impl Sum {
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        self.rows += 1;
        let value = if value.is_empty() { 0 } else { xxh3_128(value) as u64 };
        self.hash = self.hash.wrapping_add(xxh3_128_with_seed(key, value));
    }

    /// All keys of a table that begin so, and those of their values that `of_value` gives.
    pub fn of_table(
        view: &View,
        table: &Table,
        prefix: &[u8],
        of_value: impl Fn(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<Self, Error> {
        let mut sum = Sum::default();
        for item in view.snapshot.prefix(table, prefix) {
            let (key, value) = item.into_inner()?;
            sum.add(&key, &of_value(&value).unwrap_or_default());
        }
        Ok(sum)
    }
}
