//! The key-value engine: with `open_db` the one file that calls it. Its errors become the store's own
//! here, with the file or table they were met in and what to do about them.

use std::io::ErrorKind;
use std::ops::{Bound, RangeBounds, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Arc;

// `AbstractTree` tells how many removals are not yet worked in.
use fjall::{AbstractTree, Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable};

pub use fjall::Slice;

use super::index_files::{FileRows, FileSet};
use super::runs::{Merged, Run, RunRows, RunTable};
use super::suspects::Suspects;
use crate::Error;

/// A table is rewritten when one in so many of its entries is a removal: as many are then rows that nobody
/// sees any more.
const REMOVED_PART: u64 = 8;

const READ: &str = "read";
const WRITE: &str = "write";

/// What stands behind a failure of the engine, as far as it matters for what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No room left, or no more of the owner's share of it.
    Full,
    /// This process, or the machine, has too many files open.
    Descriptors,
    /// The disk could not do what it was asked.
    Disk,
    /// An earlier write failed and nothing was accepted since.
    Poisoned,
    /// Bytes that are not what was written.
    Damaged,
    Other,
}

pub fn cause_of(error: &fjall::Error) -> Cause {
    match error {
        fjall::Error::Io(error) => cause_of_io(error),
        fjall::Error::Storage(fjall::LsmError::Io(error)) => cause_of_io(error),
        fjall::Error::Poisoned => Cause::Poisoned,
        fjall::Error::Locked | fjall::Error::KeyspaceDeleted => Cause::Other,
        _ => Cause::Damaged,
    }
}

fn cause_of_io(error: &std::io::Error) -> Cause {
    // ENFILE and EMFILE, EIO, in that order.
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::StorageFull | ErrorKind::QuotaExceeded, _) => Cause::Full,
        (_, Some(23 | 24)) => Cause::Descriptors,
        (_, Some(5)) => Cause::Disk,
        (ErrorKind::UnexpectedEof | ErrorKind::NotFound | ErrorKind::InvalidData, _) => {
            Cause::Damaged
        }
        _ => Cause::Other,
    }
}

impl Cause {
    pub fn advice(self) -> &'static str {
        match self {
            Cause::Full => "make room on its file system; a server that runs goes on by itself",
            Cause::Descriptors => {
                "too many files are open: raise the limit (ulimit -n, LimitNOFILE); a server that runs \
                 goes on by itself when some are closed"
            }
            Cause::Disk => "look at the disk (dmesg, smartctl), then start again",
            Cause::Poisoned => "an earlier write failed; the log says why",
            Cause::Damaged => "stop the server and run `headwater check`",
            Cause::Other => "the log of the process may say more",
        }
    }

    fn is_retryable(self) -> bool {
        !matches!(self, Cause::Damaged)
    }
}

/// `place` is the folder, or the table's part of it.
pub fn failed(action: &'static str, place: &Path, source: fjall::Error) -> Error {
    let cause = cause_of(&source);
    Error::Engine {
        action,
        path: place.to_owned(),
        advice: cause.advice(),
        retryable: cause.is_retryable(),
        source: Box::new(source),
    }
}

/// An ordered map of bytes to bytes.
#[derive(Clone)]
pub struct Table {
    keyspace: Keyspace,
    suspects: Arc<Suspects>,
    /// Where some of its rows may lie in runs.
    in_runs: Option<RunTable>,
}

impl Table {
    pub fn open(
        (db, folder): (&Database, &Path),
        name: &str,
        options: impl FnOnce() -> KeyspaceCreateOptions,
    ) -> Result<Self, Error> {
        let opened = db.keyspace(name, options);
        let keyspace = opened.map_err(|error| failed("open a table", folder, error))?;
        Ok(Table { keyspace, suspects: Arc::default(), in_runs: RunTable::of_name(name) })
    }

    fn failed(&self, action: &'static str, error: fjall::Error) -> Error {
        self.failed_near(action, &[], error)
    }

    /// `key` is what was looked for, or where a scan began.
    fn failed_near(&self, action: &'static str, key: &[u8], error: fjall::Error) -> Error {
        let is_damaged = cause_of(&error) == Cause::Damaged;
        let file = is_damaged.then(|| self.suspects.find(|| self.files_from(key))).flatten();
        failed(action, file.as_deref().unwrap_or(self.keyspace.path()), error)
    }

    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Slice>, Error> {
        let key = key.as_ref();
        self.keyspace.get(key).map_err(|error| self.failed_near(READ, key, error))
    }

    /// What the files hold under a key, whatever the log adds to it.
    pub fn get_from_files(&self, key: &[u8]) -> Result<Option<Slice>, Error> {
        let Some(newest) = self.keyspace.tree.get_highest_persisted_seqno() else {
            return Ok(None);
        };
        let found = self.keyspace.tree.get(key, newest.saturating_add(1));
        found.map_err(|error| self.failed_near(READ, key, error.into()))
    }

    /// A single row, outside of any commit. For the first row of a new store only.
    pub fn insert(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<(), Error> {
        let inserted = self.keyspace.insert(key.as_ref(), value.as_ref());
        inserted.map_err(|error| self.failed(WRITE, error))
    }

    /// Has what is in memory written to files, soon.
    pub fn start_flush(&self) -> Result<(), Error> {
        self.keyspace.rotate_memtable().map(|_| ()).map_err(|error| self.failed("compact", error))
    }

    /// Removes all rows, and the files that held them.
    pub fn clear(&self) -> Result<(), Error> {
        self.keyspace.clear().map_err(|error| self.failed(WRITE, error))
    }

    pub fn compact(&self) -> Result<(), Error> {
        self.keyspace.major_compact().map_err(|error| self.failed("compact", error))
    }

    /// Parts in memory that wait to be written to files.
    pub fn waiting_flushes(&self) -> usize {
        self.keyspace.sealed_memtable_count()
    }

    /// The newest files, which are merged into larger ones.
    pub fn unmerged_files(&self) -> usize {
        self.keyspace.tree.l0_run_count()
    }

    /// Every file of the table, with the hash that was noted when it was written.
    pub fn files(&self) -> Vec<(PathBuf, u128)> {
        self.files_from(&[])
    }

    /// The same; those that may hold the key, or keys that begin with it, come first.
    fn files_from(&self, key: &[u8]) -> Vec<(PathBuf, u128)> {
        let version = self.keyspace.tree.current_version();
        let mut files: Vec<_> = version.iter_tables().collect();
        files.sort_by_cached_key(|file| {
            let keys = &file.metadata.key_range;
            let begins_before = **keys.min() <= *key || keys.min().starts_with(key);
            !begins_before || **keys.max() < *key
        });
        let noted = files.into_iter();
        noted.map(|file| (file.path.to_path_buf(), file.checksum().into_u128())).collect()
    }

    /// Rewrites the table if a good part of it are rows that were removed.
    pub fn reclaim(&self) -> Result<(), Error> {
        let (removals, rows) = (self.keyspace.tree.tombstone_count(), self.rows());
        if removals == 0 || removals < rows / REMOVED_PART {
            return Ok(());
        }
        self.compact()
    }

    pub fn disk_bytes(&self) -> u64 {
        self.keyspace.disk_space()
    }

    /// For many rows in the order of their keys, past the log. `some` is called with where rows go, until
    /// it says that there are no more. They count, and are on disk, when this returns.
    pub fn bulk_load(
        &self,
        mut some: impl FnMut(&mut PutFn) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let failed = |error| self.failed(WRITE, error);
        let mut load = self.keyspace.start_ingestion().map_err(failed)?;
        while some(&mut |key, value| load.write(key, value).map_err(failed))? {}
        load.finish().map_err(failed)
    }

    pub fn rows(&self) -> u64 {
        self.keyspace.approximate_len() as u64
    }

    pub fn in_runs(&self) -> Option<RunTable> {
        self.in_runs
    }

    pub fn id(&self) -> u64 {
        self.keyspace.id()
    }
}

/// Takes a key and its value.
pub type PutFn<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), Error> + 'a;

/// All tables as they were at one moment.
#[derive(Clone)]
pub struct Snapshot {
    tables: fjall::Snapshot,
    /// Rows that count as rows of their tables.
    runs: Vec<Arc<Run>>,
    /// The same.
    files: Arc<FileSet>,
}

impl Snapshot {
    /// Of what the engine has alone: without runs and index files.
    pub fn of(db: &Database) -> Self {
        Snapshot { tables: db.snapshot(), runs: Vec::new(), files: Arc::default() }
    }

    pub fn with_files(self, files: Arc<FileSet>) -> Self {
        Snapshot { files, ..self }
    }

    pub fn with_runs(self, runs: Vec<Arc<Run>>) -> Self {
        Snapshot { runs, ..self }
    }

    pub fn files(&self) -> &FileSet {
        &self.files
    }

    pub fn runs(&self) -> &[Arc<Run>] {
        &self.runs
    }

    pub fn get(&self, table: &Table, key: impl AsRef<[u8]>) -> Result<Option<Slice>, Error> {
        let key = key.as_ref();
        let found = self.tables.get(&table.keyspace, key);
        let found = found.map_err(|error| table.failed_near(READ, key, error))?;
        let Some(of) = table.in_runs.filter(|_| found.is_none()) else { return Ok(found) };
        match self.runs.iter().find_map(|run| run.get(of, key)) {
            Some(value) => Ok(Some(Slice::from(value))),
            None => self.files.get(of, key),
        }
    }

    pub fn range<K: AsRef<[u8]>>(
        &self,
        table: &Table,
        range: impl RangeBounds<K>,
    ) -> impl DoubleEndedIterator<Item = Item> + 'static {
        let from = match range.start_bound() {
            Bound::Included(key) | Bound::Excluded(key) => key.as_ref().to_vec(),
            Bound::Unbounded => Vec::new(),
        };
        let bounds = (range.start_bound().map(AsRef::as_ref), range.end_bound().map(AsRef::as_ref));
        let runs = RunRows::new(&self.runs, table.in_runs, |run, of| run.rows_in(of, bounds));
        let files = FileRows::in_range(&self.files, table.in_runs, bounds);
        items(table, from, self.tables.range(&table.keyspace, range), (runs, files))
    }

    pub fn prefix(
        &self,
        table: &Table,
        prefix: impl AsRef<[u8]>,
    ) -> impl DoubleEndedIterator<Item = Item> + 'static {
        let prefix = prefix.as_ref();
        let in_run = |run: &Run, of| run.rows_with_prefix(of, prefix);
        let runs = RunRows::new(&self.runs, table.in_runs, in_run);
        let files = FileRows::with_prefix(&self.files, table.in_runs, prefix);
        items(table, prefix.to_vec(), self.tables.prefix(&table.keyspace, prefix), (runs, files))
    }

    /// Rows of the table itself: without those of runs and files.
    pub fn prefix_in_table(
        &self,
        table: &Table,
        prefix: impl AsRef<[u8]>,
    ) -> impl DoubleEndedIterator<Item = Item> + 'static {
        let prefix = prefix.as_ref();
        let rows = self.tables.prefix(&table.keyspace, prefix);
        items(table, prefix.to_vec(), rows, Default::default())
    }

    /// The same.
    pub fn range_in_table<K: AsRef<[u8]>>(
        &self,
        table: &Table,
        range: RangeInclusive<K>,
    ) -> impl DoubleEndedIterator<Item = Item> + 'static {
        let from = range.start().as_ref().to_vec();
        items(table, from, self.tables.range(&table.keyspace, range), Default::default())
    }

    pub fn iter(&self, table: &Table) -> impl DoubleEndedIterator<Item = Item> + 'static {
        let runs = RunRows::new(&self.runs, table.in_runs, |run, of| 0..run.rows(of));
        let files = FileRows::with_prefix(&self.files, table.in_runs, &[]);
        items(table, Vec::new(), self.tables.iter(&table.keyspace), (runs, files))
    }
}

fn items(
    table: &Table,
    from: Vec<u8>,
    rows: fjall::Iter,
    (runs, files): (RunRows, FileRows),
) -> impl DoubleEndedIterator<Item = Item> + 'static {
    let table = table.clone();
    let failed = move |error| table.failed_near(READ, &from, error);
    // Rows lie beside their keys, so taking both costs nothing.
    let rows = rows.map(move |row| row.into_inner().map_err(&failed));
    Merged::new(Merged::new(rows, files), runs).map(Item)
}

/// A row of a scan.
pub struct Item(Result<(Slice, Slice), Error>);

impl Item {
    pub fn key(self) -> Result<Slice, Error> {
        self.0.map(|(key, _)| key)
    }

    pub fn value(self) -> Result<Slice, Error> {
        self.0.map(|(_, value)| value)
    }

    pub fn into_inner(self) -> Result<(Slice, Slice), Error> {
        self.0
    }
}

/// One write: no value means removal.
pub struct Op {
    pub table: Table,
    pub key: Slice,
    pub value: Option<Slice>,
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
pub fn write(db: &Database, ops: Vec<Op>, durability: Durability) -> fjall::Result<()> {
    let mut batch = fjall::OwnedWriteBatch::with_capacity(db.clone(), ops.len());
    for op in ops {
        match op.value {
            Some(value) => batch.insert(&op.table.keyspace, op.key, value),
            None => batch.remove(&op.table.keyspace, op.key),
        }
    }
    let mode = match durability {
        Durability::Later => None,
        Durability::Process => Some(PersistMode::Buffer),
        Durability::Disk => Some(PersistMode::SyncAll),
    };
    batch.durability(mode).commit()
}

pub fn persist(db: &Database) -> fjall::Result<()> {
    db.persist(PersistMode::SyncAll)
}

/// Whether the engine refuses all writes because one failed. It never takes that back; only opening it
/// anew does.
pub fn is_poisoned(db: &Database) -> bool {
    matches!(db.persist(PersistMode::Buffer), Err(fjall::Error::Poisoned))
}
