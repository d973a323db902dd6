//! The key-value engine: the one file that calls it. Its errors become the store's own here.

use std::ops::RangeBounds;

// `AbstractTree` tells how many removals are not yet worked in.
use fjall::{AbstractTree, Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable};

pub use fjall::Slice;

use crate::Error;

/// What was tried when the engine failed, for the message.
fn failed(action: &'static str) -> impl Fn(fjall::Error) -> Error {
    move |source| {
        let retryable = matches!(source, fjall::Error::Io(_));
        Error::Engine { action, source: Box::new(source), retryable }
    }
}

/// A table is rewritten when one in so many of its entries is a removal: as many are then rows that nobody
/// sees any more.
const REMOVED_PART: u64 = 8;

const READ: &str = "read";
const WRITE: &str = "write";

/// An ordered map of bytes to bytes.
#[derive(Clone)]
pub struct Table(Keyspace);

impl Table {
    pub fn open(
        db: &Database,
        name: &str,
        options: impl FnOnce() -> KeyspaceCreateOptions,
    ) -> Result<Self, Error> {
        db.keyspace(name, options).map(Table).map_err(failed("open a table"))
    }

    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Slice>, Error> {
        self.0.get(key.as_ref()).map_err(failed(READ))
    }

    /// A single row, outside of any commit.
    pub fn insert(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<(), Error> {
        self.0.insert(key.as_ref(), value.as_ref()).map_err(failed(WRITE))
    }

    pub fn remove(&self, key: impl AsRef<[u8]>) -> Result<(), Error> {
        self.0.remove(key.as_ref()).map_err(failed(WRITE))
    }

    pub fn compact(&self) -> Result<(), Error> {
        self.0.rotate_memtable_and_wait().map_err(failed("compact"))?;
        self.0.major_compact().map_err(failed("compact"))
    }

    /// Rewrites the table if a good part of it are rows that were removed.
    pub fn reclaim(&self) -> Result<(), Error> {
        self.0.rotate_memtable_and_wait().map_err(failed("compact"))?;
        let (removals, rows) = (self.0.tree.tombstone_count(), self.rows());
        if removals == 0 || removals < rows / REMOVED_PART {
            return Ok(());
        }
        self.0.major_compact().map_err(failed("compact"))
    }

    pub fn disk_bytes(&self) -> u64 {
        self.0.disk_space()
    }

    /// For many rows in the order of their keys, past the log. `some` is called with where rows go, until
    /// it says that there are no more. They count, and are on disk, when this returns.
    pub fn bulk_load(
        &self,
        mut some: impl FnMut(&mut PutFn) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let mut load = self.0.start_ingestion().map_err(failed(WRITE))?;
        while some(&mut |key, value| load.write(key, value).map_err(failed(WRITE)))? {}
        load.finish().map_err(failed(WRITE))
    }

    pub fn rows(&self) -> u64 {
        self.0.approximate_len() as u64
    }

    pub fn id(&self) -> u64 {
        self.0.id()
    }
}

/// Takes a key and its value.
pub type PutFn<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), Error> + 'a;

/// All tables as they were at one moment.
pub struct Snapshot(fjall::Snapshot);

impl Snapshot {
    pub fn of(db: &Database) -> Self {
        Snapshot(db.snapshot())
    }

    pub fn get(&self, table: &Table, key: impl AsRef<[u8]>) -> Result<Option<Slice>, Error> {
        self.0.get(&table.0, key.as_ref()).map_err(failed(READ))
    }

    pub fn range<K: AsRef<[u8]>>(
        &self,
        table: &Table,
        range: impl RangeBounds<K>,
    ) -> impl DoubleEndedIterator<Item = Item> + 'static {
        self.0.range(&table.0, range).map(Item)
    }

    pub fn prefix(
        &self,
        table: &Table,
        prefix: impl AsRef<[u8]>,
    ) -> impl DoubleEndedIterator<Item = Item> + 'static {
        self.0.prefix(&table.0, prefix.as_ref()).map(Item)
    }

    pub fn iter(&self, table: &Table) -> impl DoubleEndedIterator<Item = Item> + 'static {
        self.0.iter(&table.0).map(Item)
    }
}

/// A row of a scan; what is not asked for is not read.
pub struct Item(fjall::Guard);

impl Item {
    pub fn key(self) -> Result<Slice, Error> {
        self.0.key().map_err(failed(READ))
    }

    pub fn value(self) -> Result<Slice, Error> {
        self.0.value().map_err(failed(READ))
    }

    pub fn into_inner(self) -> Result<(Slice, Slice), Error> {
        self.0.into_inner().map_err(failed(READ))
    }
}

/// One write: no value means removal.
pub struct Op {
    pub table: Table,
    pub key: Slice,
    pub value: Option<Vec<u8>>,
}

/// When a write is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Whenever the system writes it out; only bulk loads wait for nothing.
    Later,
    /// It survives the process, not the machine.
    Process,
    /// It is on disk.
    Disk,
}

/// All of it or nothing, whatever happens meanwhile.
pub fn write(db: &Database, ops: Vec<Op>, durability: Durability) -> Result<(), Error> {
    let mut batch = fjall::OwnedWriteBatch::with_capacity(db.clone(), ops.len());
    for op in ops {
        match op.value {
            Some(value) => batch.insert(&op.table.0, op.key, value),
            None => batch.remove(&op.table.0, op.key),
        }
    }
    let mode = match durability {
        Durability::Later => None,
        Durability::Process => Some(PersistMode::Buffer),
        Durability::Disk => Some(PersistMode::SyncAll),
    };
    batch.durability(mode).commit().map_err(failed(WRITE))
}

pub fn persist(db: &Database) -> Result<(), Error> {
    db.persist(PersistMode::SyncAll).map_err(failed(WRITE))
}

pub fn disk_bytes(db: &Database) -> Result<u64, Error> {
    db.disk_space().map_err(failed("measure itself"))
}
