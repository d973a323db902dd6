//! Rows of journal readers: how far each came, and what it keeps.

use std::collections::BTreeMap;

use model::chain::ChainId;

use super::engine::{Durability, Op, Slice, Table};
use super::keys;
use super::open::Store;
use super::read::View;
use super::write_turn::Priority;
use crate::Error;
use crate::journal::{ReaderCommit, ReaderCursor, ReaderRow};

/// Rows removed in one write.
const ROWS_AT_ONCE: usize = 4096;
const BROKEN: Error = Error::Broken { what: "cursor of a journal reader" };

fn pack(cursor: &ReaderCursor) -> Vec<u8> {
    [cursor.seq, cursor.start, cursor.next].iter().flat_map(|n| n.to_be_bytes()).collect()
}

fn unpack(row: &[u8]) -> Option<ReaderCursor> {
    let (seq, rest) = row.split_first_chunk::<8>()?;
    let (start, next) = rest.split_first_chunk::<8>()?;
    Some(ReaderCursor {
        seq: u64::from_be_bytes(*seq),
        start: u64::from_be_bytes(*start),
        next: u64::from_be_bytes(next.try_into().ok()?),
    })
}

impl View {
    pub fn readers(&self, chain: ChainId) -> Result<Vec<(String, ReaderCursor)>, Error> {
        let prefix = keys::chain(chain);
        let mut readers = Vec::new();
        for item in self.snapshot.prefix(&self.tables.readers, prefix) {
            let (key, value) = item.into_inner()?;
            let name = key.get(prefix.len()..).and_then(|name| std::str::from_utf8(name).ok());
            readers.push((name.ok_or(BROKEN)?.to_owned(), unpack(&value).ok_or(BROKEN)?));
        }
        Ok(readers)
    }

    pub fn reader_cursor(&self, chain: ChainId, name: &str) -> Result<Option<ReaderCursor>, Error> {
        match self.snapshot.get(&self.tables.readers, keys::reader(chain, name))? {
            Some(row) => unpack(&row).map(Some).ok_or(BROKEN),
            None => Ok(None),
        }
    }

    pub fn reader_rows(
        &self,
        (chain, name): (ChainId, &str),
        prefix: &[u8],
        limit: usize,
    ) -> Result<Vec<ReaderRow>, Error> {
        let own = keys::rows_of_reader(chain, name);
        let prefix = [own.as_slice(), prefix].concat();
        let mut rows = Vec::new();
        for item in self.snapshot.prefix(&self.tables.reader_rows, prefix).take(limit) {
            let (key, value) = item.into_inner()?;
            let key = key.get(own.len()..).unwrap_or_default().to_vec();
            rows.push(ReaderRow { key, value: Some(value.to_vec()) });
        }
        Ok(rows)
    }

    /// Forgets a reader and its rows in one write.
    pub fn removal_of_reader(&self, chain: ChainId, name: &str) -> Result<Vec<Op>, Error> {
        let mut ops = Vec::new();
        let own = keys::rows_of_reader(chain, name);
        for item in self.snapshot.prefix(&self.tables.reader_rows, own) {
            let table = self.tables.reader_rows.clone();
            ops.push(Op { table, key: item.key()?, value: None });
        }
        let key = Slice::from(keys::reader(chain, name));
        ops.push(Op { table: self.tables.readers.clone(), key, value: None });
        Ok(ops)
    }

    /// The write that says how far a reader came.
    pub fn place_of_reader(&self, chain: ChainId, name: &str, cursor: &ReaderCursor) -> Op {
        let key = Slice::from(keys::reader(chain, name));
        Op { table: self.tables.readers.clone(), key, value: Some(pack(cursor).into()) }
    }

    /// The oldest journal entry that is kept.
    pub fn journal_tail(&self, chain: ChainId) -> Result<u64, Error> {
        let row = self.snapshot.get(&self.tables.meta, keys::journal_tail(chain))?;
        Ok(row.and_then(|row| keys::last_number(&row)).unwrap_or(1))
    }
}

impl Store {
    pub fn commit_reader(&self, commit: ReaderCommit) -> Result<(), Error> {
        let ReaderCommit { chain, name, expected, cursor, rows } = commit;
        // No commit of blocks may prune the journal between the look and the write.
        let mut one_at_a_time = self.inner.writing.take_for(Some(chain), Priority::Normal);
        let view = self.view()?;
        if view.reader_cursor(chain, &name)? != expected {
            return Err(Error::ReaderMoved { name });
        }
        if expected.is_some() {
            one_at_a_time.only_moves_a_reader();
        }
        let own = keys::rows_of_reader(chain, &name);
        // All writes of a batch count as simultaneous: of rows with the same key only the last is one.
        let rows: BTreeMap<_, _> = rows.into_iter().map(|row| (row.key, row.value)).collect();
        let mut ops: Vec<Op> = Vec::with_capacity(rows.len() + 1);
        for (key, value) in rows {
            let key = Slice::from([own.as_slice(), &key].concat());
            let value = value.map(Slice::from);
            ops.push(Op { table: view.tables.reader_rows.clone(), key, value });
        }
        ops.push(view.place_of_reader(chain, &name, &cursor));
        self.inner.write(ops, Durability::Disk, None)
    }

    pub fn remove_reader(&self, chain: ChainId, name: &str) -> Result<bool, Error> {
        let _one_at_a_time = self.one_at_a_time();
        let view = self.view()?;
        let tables = &view.tables;
        if view.reader_cursor(chain, name)?.is_none() {
            return Ok(false);
        }
        let mut keys = Vec::new();
        for item in view.snapshot.prefix(&tables.reader_rows, keys::rows_of_reader(chain, name)) {
            keys.push(item.key()?);
        }
        let remove = |table: &Table, key| Op { table: table.clone(), key, value: None };
        for some in keys.chunks(ROWS_AT_ONCE) {
            let ops = some.iter().map(|key| remove(&tables.reader_rows, key.clone())).collect();
            self.inner.write(ops, Durability::Process, None)?;
        }
        // Last, so that one who stops in between can be asked to remove the rest.
        let reader = Slice::from(keys::reader(chain, name));
        self.inner.write(vec![remove(&tables.readers, reader)], Durability::Disk, None)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_and_no_other_bytes_are_one() {
        let cursor = ReaderCursor { seq: 1, start: u64::MAX, next: 3 };
        assert_eq!(unpack(&pack(&cursor)), Some(cursor));
        assert_eq!(unpack(&[0; 23]), None);
        assert_eq!(unpack(&[0; 25]), None);
    }
}
