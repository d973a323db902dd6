//! The engine, opened: database, tables, and the writer that numbers every write. It is replaced as a
//! whole when the engine has to be opened anew; whoever holds a view holds the old one until then.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fjall::{CompressionType, Database};
use model::chain::ChainId;

use super::engine::{self, Cause, Durability, Op, Slice, Snapshot, Table};
use super::folder::{self, ChainMark, FolderState, Mark, Record, WRITES_KEY};
use super::format;
use super::index_files::{IndexFiles, SetChange};
use super::opening::{check_nothing_is_lost, number_at, opening, panicked};
use super::read::View;
use super::runs::PendingRuns;
use super::segments::{AppendFailure, Bodies, SegmentChange, Segments};
use super::tables::Tables;
use super::versions::Versions;
use super::wallet_changes::WalletChanges;
use super::write::runs_again;
use crate::Error;
use crate::options::Options;

/// What is read again at the next start: a second or two of work. The least that the engine takes; what its buffers
/// hold is in it, too.
pub const LOG_BYTES_MAX: u64 = 64 << 20;
pub const IDENTITY_KEY: &[u8] = b"identity";
/// A write waits while so many parts of a table wait to be written to files. The engine does the same
/// one part later, and then for ever if its threads have ended meanwhile.
const WAITING_FLUSHES_MAX: usize = 3;
/// The same for files that wait to be merged.
const UNMERGED_FILES_MAX: usize = 29;
const LOOK_AGAIN: Duration = Duration::from_millis(20);

pub struct OpenDb {
    pub db: Database,
    pub tables: Arc<Tables>,
    pub bodies: Arc<Bodies>,
    pub segments: Arc<Segments>,
    pub runs: PendingRuns,
    pub files: Arc<IndexFiles>,
    pub wallet_changes: Arc<WalletChanges>,
    pub path: PathBuf,
    writer: Mutex<Writer>,
}

/// What is told to the record with a write.
#[derive(Clone, Copy, Debug)]
pub struct ChainAt {
    pub chain: ChainId,
    pub seq: u64,
    pub newest: Option<u64>,
}

struct Writer {
    mark: Mark,
    record: Record,
    /// Said once, not with every commit.
    record_failed: bool,
}

/// What a failed write means for the next.
pub struct WriteFailure {
    pub cause: Cause,
    pub error: Error,
}

/// Threads that write tables and compact them. With more than one, the engine's first worker puts every request for
/// a compaction back into the queue at once: while the others compact, it keeps a processor busy with nothing. Where
/// there are only two, that is one too many.
fn workers() -> usize {
    match std::thread::available_parallelism().map_or(1, |processors| processors.get()) {
        0..=2 => 1,
        more => more.min(4),
    }
}

impl OpenDb {
    /// `upgrade` is called with the format that the store has, before anybody else sees it.
    pub fn open(
        options: &Options,
        upgrade: &dyn Fn(&OpenDb, u32) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let path = &options.path;
        let state = folder::look(path)?;
        if !options.create && !state.exists {
            let source =
                std::io::Error::new(std::io::ErrorKind::NotFound, "there is no store in it");
            return Err(Error::Folder { path: path.clone(), source });
        }
        for warning in &state.warnings {
            tracing::warn!(data = %path.display(), "{warning}");
        }
        if !state.exists {
            folder::creation::begin(path)?;
        }
        // The engine stops the process on some damaged files.
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let (open, format) = Self::open_engine(options, &state)?;
            upgrade(&open, format)?;
            Ok(open)
        }));
        let open = opened.unwrap_or_else(|panic| Err(panicked(path, panic.as_ref())))?;
        folder::creation::end(path)?;
        Ok(open)
    }

    /// Without an upgrade of its format.
    #[cfg(test)]
    pub fn open_as_it_is(options: &Options) -> Result<Self, Error> {
        Self::open_engine(options, &folder::look(&options.path)?).map(|(open, _)| open)
    }

    /// With the format that it has.
    fn open_engine(options: &Options, state: &FolderState) -> Result<(Self, u32), Error> {
        let path = &options.path;
        let memory = options.memory();
        let mut builder = Database::builder(path);
        if let Some(files) = options.open_files_max {
            builder = builder.max_cached_files(Some(files));
        }
        let db = builder
            .cache_size(memory.tables_cache)
            .manual_journal_persist(true)
            .max_journaling_size(LOG_BYTES_MAX)
            // Lives for minutes; the disk takes it faster than it can be packed.
            .journal_compression(CompressionType::None)
            .worker_threads(workers())
            .open()
            .map_err(|error| opening(error, path))?;
        let place = (&db, path.as_path());
        // Before any table is touched, so that a folder of another format is left as it is.
        let meta = Tables::open_meta(place, memory.memtable)?;
        check_nothing_is_lost(&meta, state).map_err(|damage| damage.into_error(path))?;
        let format = format::format_of(place, &meta)?;
        let tables = Arc::new(Tables::open(place, memory.memtable)?);
        let snapshot = Snapshot::of(&db);
        let dictionaries = (&snapshot, &tables.dictionaries);
        let caches = (memory.bodies_cache, memory.txs_cache);
        let bodies = Bodies::open(path, dictionaries, caches)?;
        let bodies = Arc::new(bodies);
        let segments = (&snapshot, &tables.segments);
        let segments = Segments::open(bodies.clone(), segments, options.segment_bytes)?;
        let files = IndexFiles::open(path, (&snapshot, &tables), memory.index_cache)?;
        files.remove_left_over()?;
        let files = Arc::new(files);
        let wallet_changes = Arc::default();
        drop(snapshot);
        let view = View::without_runs(&db, (&tables, &bodies))?;
        let runs = PendingRuns::new(runs_again(&view)?);
        let mark = mark_of(&db, &view)?;
        drop(view);
        let record = Record::open(path, &mark)
            .map_err(|source| Error::Folder { path: Record::path_in(path), source })?;
        let writer = Mutex::new(Writer { mark, record, record_failed: false });
        let segments = Arc::new(segments);
        let path = path.clone();
        let open =
            OpenDb { db, tables, bodies, segments, runs, files, wallet_changes, path, writer };
        Ok((open, format))
    }

    pub fn view(&self) -> Result<View, Error> {
        let index = (&self.runs, &*self.files);
        View::new(&self.db, (&self.tables, &self.bodies), index, &self.wallet_changes)
    }

    /// Another set of index files, and whatever else is written with it. The turn to write is held.
    pub fn write_files(
        &self,
        mut ops: Vec<Op>,
        change: &SetChange,
        write: impl FnOnce(Vec<Op>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        ops.extend(change.ops(&self.tables));
        self.files.begin(change);
        write(ops).inspect_err(|_| self.files.withdraw(change))?;
        let gone = self.files.settle(change);
        // A file goes once nothing on disk leads to it, however little is waited for otherwise. Where that cannot be had,
        // it stays until the next start.
        if !gone.is_empty() && self.persist().is_ok() {
            gone.iter().for_each(|file| file.doom());
        }
        Ok(())
    }

    /// Bodies, before the write that leads to them; of one that never comes nothing is left to be seen.
    pub fn append_bodies(&self, change: &mut SegmentChange) -> Result<(), WriteFailure> {
        self.segments.append(change).map_err(|AppendFailure { path, error }| {
            let error = fjall::Error::Io(error);
            let cause = engine::cause_of(&error);
            WriteFailure { cause, error: engine::failed("write", &path, error) }
        })?;
        change.appended();
        Ok(())
    }

    /// The same with bodies, which are on disk before anything leads to them.
    pub fn write_bodies(
        &self,
        mut ops: Vec<Op>,
        mut change: SegmentChange,
        durability: Durability,
        at: Option<ChainAt>,
    ) -> Result<(), WriteFailure> {
        self.append_bodies(&mut change)?;
        for (id, row) in change.rows() {
            let (table, key) = (self.tables.segments.clone(), Slice::from(id.to_be_bytes()));
            ops.push(Op { table, key, value: row.map(|row| row.pack().into()) });
        }
        // A file goes once nothing on disk leads to it, however little is waited for otherwise.
        let removes = change.rows().any(|(_, row)| row.is_none());
        let durability = if removes { Durability::Disk } else { durability };
        self.write(ops, durability, at)?;
        self.segments.settle(change);
        Ok(())
    }

    /// All of it or nothing. Each write carries a number, one more than the last, so that none can get
    /// lost in between unnoticed.
    pub fn write(
        &self,
        mut ops: Vec<Op>,
        durability: Durability,
        at: Option<ChainAt>,
    ) -> Result<(), WriteFailure> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let number = writer.mark.writes + 1;
        let (table, key) = (self.tables.meta.clone(), Slice::from(WRITES_KEY));
        ops.push(Op { table, key, value: Some(number.to_be_bytes().into()) });
        self.wait_for_flushes(&ops)?;
        engine::write(&self.db, ops, durability).map_err(|error| self.failure(error))?;
        writer.mark.writes = number;
        if let Some(at) = at {
            writer.note(at);
        }
        if durability == Durability::Disk {
            writer.save();
        }
        Ok(())
    }

    /// The number of the newest write.
    pub fn last_write(&self) -> u64 {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).mark.writes
    }

    /// Everything written so far is on disk when this returns.
    pub fn persist(&self) -> Result<(), WriteFailure> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        engine::persist(&self.db).map_err(|error| self.failure(error))?;
        writer.save();
        Ok(())
    }

    pub fn compact(&self) -> Result<(), WriteFailure> {
        let failed = |error| WriteFailure { cause: Cause::Other, error };
        for (_, table) in self.tables.all() {
            self.flush(table)?;
            table.compact().map_err(failed)?;
        }
        self.persist()
    }

    /// Rewrites the tables of which a good part was removed.
    pub fn reclaim(&self) -> Result<(), WriteFailure> {
        for (_, table) in self.tables.all() {
            self.flush(table)?;
            let done = table.reclaim();
            done.map_err(|error| WriteFailure { cause: Cause::Other, error })?;
        }
        Ok(())
    }

    pub fn flush_all(&self) -> Result<(), WriteFailure> {
        let tables = self.tables.all();
        tables.iter().try_for_each(|(_, table)| start_flush(table))?;
        tables.iter().try_for_each(|(_, table)| self.wait_for_flush(table))
    }

    fn flush(&self, table: &Table) -> Result<(), WriteFailure> {
        start_flush(table)?;
        self.wait_for_flush(table)
    }

    fn wait_for_flush(&self, table: &Table) -> Result<(), WriteFailure> {
        while table.waiting_flushes() > 0 {
            self.check_alive()?;
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    /// As the engine does itself, but not for ever: its threads end when a file cannot be written. Only tables that are
    /// written to are looked at: the engine keeps whoever looks at one waiting while it notes on disk what files it has.
    fn wait_for_flushes(&self, ops: &[Op]) -> Result<(), WriteFailure> {
        for table in tables_of(ops) {
            while table.waiting_flushes() >= WAITING_FLUSHES_MAX
                || table.unmerged_files() > UNMERGED_FILES_MAX
            {
                self.check_alive()?;
                std::thread::sleep(LOOK_AGAIN);
            }
        }
        Ok(())
    }

    fn check_alive(&self) -> Result<(), WriteFailure> {
        if engine::is_poisoned(&self.db) {
            return Err(self.failure(fjall::Error::Poisoned));
        }
        Ok(())
    }

    fn failure(&self, error: fjall::Error) -> WriteFailure {
        let cause = engine::cause_of(&error);
        WriteFailure { cause, error: engine::failed("write", &self.path, error) }
    }

    /// Tables and log. The engine's own figure is not asked for: it waits for a write that is under way.
    pub fn disk_bytes(&self) -> u64 {
        let tables = self.tables.all().into_iter().map(|(_, table)| table.disk_bytes());
        let files = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        let logs = files.filter(|file| file.path().extension().is_some_and(|end| end == "jnl"));
        let log_bytes = logs.filter_map(|file| file.metadata().ok()).map(|found| found.len());
        tables.sum::<u64>() + log_bytes.sum::<u64>() + self.segments.size().0 + self.files.size().0
    }

    /// The versions of all chains.
    pub fn versions(&self) -> Result<Versions, Error> {
        Versions::read(&Snapshot::of(&self.db), &self.tables)
    }

    /// Whether only `own` handles are left: nobody reads or writes any more.
    pub fn is_free(&self) -> bool {
        Arc::strong_count(&self.tables) == 1
    }
}

/// Each once.
fn tables_of(ops: &[Op]) -> Vec<&Table> {
    let mut tables: Vec<&Table> = Vec::new();
    for Op { table, .. } in ops {
        // Rows of a table mostly come together.
        let is_known = tables.iter().rev().any(|known| known.id() == table.id());
        if !is_known {
            tables.push(table);
        }
    }
    tables
}

fn start_flush(table: &Table) -> Result<(), WriteFailure> {
    table.start_flush().map_err(|error| WriteFailure { cause: Cause::Other, error })
}

impl Writer {
    fn note(&mut self, at: ChainAt) {
        let ChainAt { chain, seq, newest } = at;
        let mark = ChainMark { chain: chain.0, seq, newest };
        match self.mark.chains.iter_mut().find(|known| known.chain == chain.0) {
            Some(known) => *known = mark,
            None => self.mark.chains.push(mark),
        }
    }

    /// A record that is older than the store harms nothing; it only notices less.
    fn save(&mut self) {
        let saved = self.record.save(&self.mark);
        if let Err(error) = &saved
            && !self.record_failed
        {
            let path = self.record.path().display();
            tracing::warn!(file = %path, %error, "what is durable could not be noted");
        }
        self.record_failed = saved.is_err();
    }
}

fn mark_of(db: &Database, view: &View) -> Result<Mark, Error> {
    let tables = &view.tables;
    let writes = number_at(tables.meta.get(WRITES_KEY)?);
    let identity = match tables.meta.get(IDENTITY_KEY)?.as_deref().map(TryInto::try_into) {
        Some(Ok(identity)) => identity,
        _ => {
            let fresh = fresh_identity();
            tables.meta.insert(IDENTITY_KEY, fresh)?;
            fresh
        }
    };
    let mut chains = Vec::new();
    for chain in view.chains()? {
        let newest = view.coverage(chain)?.newest();
        chains.push(ChainMark { chain: chain.0, seq: view.version(chain)?.seq, newest });
    }
    let ids = tables.all().into_iter().map(|(_, table)| table.id()).collect();
    // What is noted must be on disk.
    engine::persist(db).map_err(|error| engine::failed("write", Path::new(""), error))?;
    Ok(Mark { identity, writes, chains, tables: ids })
}

/// Need not be secret, only another for every store.
fn fresh_identity() -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    let half = || RandomState::new().hash_one(std::time::SystemTime::now()).to_be_bytes();
    let mut identity = [0; 16];
    let (front, back) = identity.split_at_mut(8);
    front.copy_from_slice(&half());
    back.copy_from_slice(&half());
    identity
}
