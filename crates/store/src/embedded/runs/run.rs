//! One run: the index rows of one commit, by table, each sorted by key.

use std::cmp::Ordering;
use std::ops::{Bound, Range};

use model::chain::ChainId;

use crate::embedded::engine::Slice;

/// In front of every run, so that another form can be told apart.
pub(super) const FORM: u8 = 1;
/// Form, first and last block, then rows and bytes of each table.
pub(super) const HEADER_BYTES: usize = 1 + 16 + 8 * RunTable::ALL.len();
/// Where a row ends, relative to the first of its table.
pub(super) const END_BYTES: usize = 4;

/// A table whose rows may lie in runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunTable {
    WalletTxs,
    WalletInternal,
    TxByHash,
    LogWords,
}

impl RunTable {
    pub const ALL: [RunTable; 4] =
        [RunTable::WalletTxs, RunTable::WalletInternal, RunTable::TxByHash, RunTable::LogWords];

    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "wallet_txs" => Some(RunTable::WalletTxs),
            "wallet_internal" => Some(RunTable::WalletInternal),
            "tx_by_hash" => Some(RunTable::TxByHash),
            "log_words" => Some(RunTable::LogWords),
            _ => None,
        }
    }

    pub(super) fn of<T>(self, all: &[T; 4]) -> &T {
        let [a, b, c, d] = all;
        match self {
            RunTable::WalletTxs => a,
            RunTable::WalletInternal => b,
            RunTable::TxByHash => c,
            RunTable::LogWords => d,
        }
    }

    pub(super) fn of_mut<T>(self, all: &mut [T; 4]) -> &mut T {
        let [a, b, c, d] = all;
        match self {
            RunTable::WalletTxs => a,
            RunTable::WalletInternal => b,
            RunTable::TxByHash => c,
            RunTable::LogWords => d,
        }
    }
}

pub struct Run {
    pub chain: ChainId,
    /// Of the commit that wrote it.
    pub seq: u64,
    /// The lowest and the highest block in it.
    pub numbers: (u64, u64),
    bytes: Slice,
    tables: [RowsAt; 4],
}

/// Where the rows of a table lie in a run.
#[derive(Clone, Copy, Default)]
struct RowsAt {
    rows: usize,
    ends: usize,
    data: usize,
}

impl Run {
    /// None where it is not what a builder made.
    pub fn read(chain: ChainId, seq: u64, bytes: Slice) -> Option<Self> {
        let mut header = bytes.get(..HEADER_BYTES)?;
        let (form, rest) = header.split_first()?;
        header = rest;
        let mut take = |width: usize| {
            let (number, rest) = header.split_at_checked(width)?;
            header = rest;
            Some(number.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte)))
        };
        let numbers = (take(8)?, take(8)?);
        let mut tables = [RowsAt::default(); 4];
        let mut at = HEADER_BYTES;
        for table in RunTable::ALL {
            let (rows, data_bytes) = (take(4)? as usize, take(4)? as usize);
            let data = at.checked_add(rows.checked_mul(END_BYTES)?)?;
            *table.of_mut(&mut tables) = RowsAt { rows, ends: at, data };
            at = data.checked_add(data_bytes)?;
        }
        (*form == FORM && at == bytes.len()).then_some(Run { chain, seq, numbers, bytes, tables })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub fn rows(&self, table: RunTable) -> usize {
        table.of(&self.tables).rows
    }

    /// Key, without its chain, and value. Both are empty where the run is damaged.
    pub fn row(&self, table: RunTable, index: usize) -> (&[u8], &[u8]) {
        let at = table.of(&self.tables);
        let end_of = |index: usize| {
            let from = at.ends + index * END_BYTES;
            let bytes = self.bytes.get(from..from + END_BYTES)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
        };
        let row = || {
            let start = if index == 0 { 0 } else { end_of(index - 1)? };
            let row = self.bytes.get(at.data + start..at.data + end_of(index)?)?;
            let (key_bytes, row) = row.split_first()?;
            row.split_at_checked(usize::from(*key_bytes))
        };
        row().unwrap_or_default()
    }

    /// The rows whose keys, with their chain, lie in a range.
    pub fn rows_in(&self, table: RunTable, range: (Bound<&[u8]>, Bound<&[u8]>)) -> Range<usize> {
        let first = match range.0 {
            Bound::Unbounded => 0,
            Bound::Included(key) => self.first_where(table, |at| self.compare(at, key).is_ge()),
            Bound::Excluded(key) => self.first_where(table, |at| self.compare(at, key).is_gt()),
        };
        let end = match range.1 {
            Bound::Unbounded => self.rows(table),
            Bound::Included(key) => self.first_where(table, |at| self.compare(at, key).is_gt()),
            Bound::Excluded(key) => self.first_where(table, |at| self.compare(at, key).is_ge()),
        };
        first..end.max(first)
    }

    /// The rows whose keys, with their chain, begin so.
    pub fn rows_with_prefix(&self, table: RunTable, prefix: &[u8]) -> Range<usize> {
        let first = self.first_where(table, |at| self.compare(at, prefix).is_ge());
        let after = self.first_where(table, |at| {
            self.compare(at, prefix).is_gt() && !self.begins_with(at, prefix)
        });
        first..after.max(first)
    }

    pub fn get(&self, table: RunTable, key: &[u8]) -> Option<&[u8]> {
        let index = self.first_where(table, |at| self.compare(at, key).is_ge());
        let found = (index < self.rows(table)).then(|| self.row(table, index));
        found.filter(|(found, _)| self.compare(found, key).is_eq()).map(|(_, value)| value)
    }

    fn compare(&self, key: &[u8], full: &[u8]) -> Ordering {
        let chain = self.chain.0.to_be_bytes();
        match full.split_first_chunk::<8>() {
            Some((of, rest)) => chain.cmp(of).then_with(|| key.cmp(rest)),
            None => chain.as_slice().cmp(full),
        }
    }

    fn begins_with(&self, key: &[u8], prefix: &[u8]) -> bool {
        let chain = self.chain.0.to_be_bytes();
        match prefix.split_first_chunk::<8>() {
            Some((of, rest)) => chain == *of && key.starts_with(rest),
            None => chain.starts_with(prefix),
        }
    }

    /// `is_past` holds for no row, for all, or from some row on.
    fn first_where(&self, table: RunTable, is_past: impl Fn(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (0, self.rows(table));
        while low < high {
            let middle = low + (high - low) / 2;
            if is_past(self.row(table, middle).0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}
