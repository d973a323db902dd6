//! One run: the index rows of one commit, by table, each sorted by key.

use std::cmp::Ordering;
use std::ops::{Bound, Range};

use model::chain::ChainId;

use super::sorted_rows::SortedRows;
use crate::coverage::Coverage;

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

    pub fn of<T>(self, all: &[T; 4]) -> &T {
        let [a, b, c, d] = all;
        match self {
            RunTable::WalletTxs => a,
            RunTable::WalletInternal => b,
            RunTable::TxByHash => c,
            RunTable::LogWords => d,
        }
    }

    pub fn of_mut<T>(self, all: &mut [T; 4]) -> &mut T {
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
    /// The blocks whose rows it has.
    pub blocks: Coverage,
    pub(super) tables: [SortedRows; 4],
}

impl Run {
    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(SortedRows::bytes).sum()
    }

    pub fn rows(&self, table: RunTable) -> usize {
        table.of(&self.tables).len()
    }

    /// Key, without its chain, and value; both are empty behind the last row.
    pub fn row(&self, table: RunTable, index: usize) -> (&[u8], &[u8]) {
        table.of(&self.tables).row(index)
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

    fn first_where(&self, table: RunTable, is_past: impl Fn(&[u8]) -> bool) -> usize {
        table.of(&self.tables).first_where(is_past)
    }
}
