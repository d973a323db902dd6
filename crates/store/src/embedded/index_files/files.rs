//! The index files of an open store: which set of them a snapshot means, and how the set changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::chain::ChainId;

use super::file::{IndexFile, PartCache, part_cache};
use super::file_row::{FileShape, IndexFileRow};
use super::file_set::{FileEntry, FileSet};
use crate::Error;
use crate::embedded::engine::{Op, Slice, Snapshot, Table};
use crate::embedded::keys;
use crate::embedded::numbered_files::numbers_in;
use crate::embedded::tables::Tables;

/// In the data folder.
pub const FOLDER: &str = "index";
const END: &str = ".rows";
/// A set changes a few times in a second at most; whoever asks as often meets one that stays.
const TRIES_MAX: usize = 1000;

pub struct IndexFiles {
    folder: PathBuf,
    cache: Arc<PartCache>,
    next_id: AtomicU64,
    /// The newest last. Others are there while a change is written.
    sets: Mutex<Vec<Arc<FileSet>>>,
}

/// Another set, and what is written so that it counts.
pub struct SetChange {
    rows: BTreeMap<u64, Option<Vec<u8>>>,
    after: Arc<FileSet>,
}

impl IndexFiles {
    /// Every file must be there, and as long as the engine says.
    pub fn open(
        data: &Path,
        (snapshot, tables): (&Snapshot, &Tables),
        cache_bytes: u64,
    ) -> Result<Self, Error> {
        let (folder, cache) = (data.join(FOLDER), part_cache(cache_bytes));
        let mut files = Vec::new();
        for item in snapshot.iter(&tables.index_files) {
            let (key, row) = item.into_inner()?;
            let id = key.as_ref().try_into().map(u64::from_be_bytes).ok();
            let row = id.zip(IndexFileRow::unpack(&row));
            let (id, row) = row.ok_or(Error::Broken { what: "row of an index file" })?;
            let file = IndexFile::open((id, path_in(&folder, id)), &row.shape, &cache)?;
            files.push(Arc::new(FileEntry::new(Arc::new(file), row)));
        }
        let version = version_of(snapshot, &tables.meta)?;
        let newest = files.iter().map(|entry| entry.file.id).max();
        let set = Arc::new(FileSet::new(version, files));
        Ok(IndexFiles {
            folder,
            cache,
            next_id: AtomicU64::new(newest.map_or(1, |newest| newest + 1)),
            sets: Mutex::new(vec![set]),
        })
    }

    /// Removes files that nothing leads to: of a write that never came to be, or merged into others. To be called once,
    /// before any file is written.
    pub fn remove_left_over(&self) -> Result<(), Error> {
        let failed = |source| Error::Folder { path: self.folder.clone(), source };
        let now = self.now();
        for id in numbers_in(&self.folder, END).map_err(failed)? {
            self.next_id.fetch_max(id + 1, Ordering::Relaxed);
            if now.get_file(id).is_none() {
                std::fs::remove_file(path_in(&self.folder, id)).map_err(failed)?;
            }
        }
        Ok(())
    }

    pub fn now(&self) -> Arc<FileSet> {
        self.sets().last().cloned().unwrap_or_default()
    }

    fn sets(&self) -> MutexGuard<'_, Vec<Arc<FileSet>>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A snapshot with the files that it means.
    pub fn snapshot(
        &self,
        take: impl Fn() -> Result<Snapshot, Error>,
        meta: &Table,
    ) -> Result<Snapshot, Error> {
        for _ in 0..TRIES_MAX {
            let snapshot = take()?;
            let version = version_of(&snapshot, meta)?;
            // Where it is gone, the set was changed since the snapshot was taken.
            let found = self.sets().iter().find(|set| set.version == version).cloned();
            if let Some(set) = found {
                return Ok(snapshot.with_files(set));
            }
        }
        Err(Error::Broken { what: "set of index files" })
    }

    pub fn cached_bytes(&self) -> u64 {
        self.cache.weight()
    }

    /// Of files, and rows in them.
    pub fn size(&self) -> (u64, u64) {
        let now = self.now();
        let sizes = now.all().iter().map(|entry| (entry.row.shape.bytes, entry.row.rows()));
        sizes.fold((0, 0), |(bytes, rows), of| (bytes + of.0, rows + of.1))
    }

    /// For a new file.
    pub fn new_path(&self) -> Result<(u64, PathBuf), Error> {
        let made = std::fs::create_dir_all(&self.folder);
        made.map_err(|source| Error::Folder { path: self.folder.clone(), source })?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        Ok((id, path_in(&self.folder, id)))
    }

    pub fn open_file(&self, id: u64, shape: &FileShape) -> Result<Arc<IndexFile>, Error> {
        let file = IndexFile::open((id, path_in(&self.folder, id)), shape, &self.cache)?;
        Ok(Arc::new(file))
    }

    /// With another file. Whoever changes the set holds the turn to write until the change is written.
    pub fn with(&self, entry: FileEntry) -> SetChange {
        self.changed(&[], Some(entry))
    }

    /// With another in the place of some.
    pub fn changed(&self, gone: &[u64], entry: Option<FileEntry>) -> SetChange {
        let now = self.now();
        let mut rows: BTreeMap<u64, Option<Vec<u8>>> = gone.iter().map(|id| (*id, None)).collect();
        let kept = now.all().iter().filter(|entry| !gone.contains(&entry.file.id));
        let mut files: Vec<Arc<FileEntry>> = kept.cloned().collect();
        if let Some(entry) = entry {
            rows.insert(entry.file.id, Some(entry.row.pack()));
            files.push(Arc::new(entry));
        }
        SetChange { rows, after: Arc::new(FileSet::new(now.version + 1, files)) }
    }

    /// Without the rows of these blocks; none where no file has any of them.
    pub fn without_blocks(&self, chain: ChainId, numbers: &[u64]) -> Option<SetChange> {
        self.without(chain, |row| {
            numbers.iter().filter(|number| row.blocks.contains(**number)).copied().collect()
        })
    }

    /// Without the rows of the blocks that `gone` tells of each file.
    pub fn without(
        &self,
        chain: ChainId,
        gone: impl Fn(&IndexFileRow) -> Vec<u64>,
    ) -> Option<SetChange> {
        let now = self.now();
        let mut rows = BTreeMap::new();
        let mut files = Vec::with_capacity(now.all().len());
        for entry in now.all() {
            let gone = if entry.row.chain == chain { gone(&entry.row) } else { Vec::new() };
            if gone.is_empty() {
                files.push(entry.clone());
                continue;
            }
            let mut row = entry.row.clone();
            gone.into_iter().for_each(|number| row.blocks.remove(number));
            let is_left = !row.blocks.is_empty();
            rows.insert(entry.file.id, is_left.then(|| row.pack()));
            if is_left {
                files.push(Arc::new(FileEntry::new(entry.file.clone(), row)));
            }
        }
        let after = Arc::new(FileSet::new(now.version + 1, files));
        (!rows.is_empty()).then_some(SetChange { rows, after })
    }

    /// Before the engine writes it: no snapshot shows a set that is not here.
    pub fn begin(&self, change: &SetChange) {
        self.sets().push(change.after.clone());
    }

    /// The engine did not take it.
    pub fn withdraw(&self, change: &SetChange) {
        self.sets().retain(|set| set.version != change.after.version);
    }

    /// The engine has written it. Gives the files that nothing leads to any more.
    pub fn settle(&self, change: &SetChange) -> Vec<Arc<IndexFile>> {
        let mut sets = self.sets();
        let before = std::mem::replace(&mut *sets, vec![change.after.clone()]);
        drop(sets);
        let entries = before.iter().filter(|set| set.version != change.after.version);
        let files = entries.flat_map(|set| set.all()).map(|entry| &entry.file);
        files.filter(|file| change.after.get_file(file.id).is_none()).cloned().collect()
    }
}

impl SetChange {
    pub fn ops(&self, tables: &Tables) -> Vec<Op> {
        let row = |(id, row): (&u64, &Option<Vec<u8>>)| Op {
            table: tables.index_files.clone(),
            key: Slice::from(id.to_be_bytes()),
            value: row.as_ref().map(|row| Slice::from(row.as_slice())),
        };
        let version = Op {
            table: tables.meta.clone(),
            key: Slice::from(keys::INDEX_FILES_VERSION),
            value: Some(Slice::from(self.after.version.to_be_bytes())),
        };
        self.rows.iter().map(row).chain([version]).collect()
    }
}

fn version_of(snapshot: &Snapshot, meta: &Table) -> Result<u64, Error> {
    let row = snapshot.get(meta, keys::INDEX_FILES_VERSION)?;
    Ok(row.and_then(|row| keys::last_number(&row)).unwrap_or(0))
}

fn path_in(folder: &Path, id: u64) -> PathBuf {
    folder.join(format!("{id}{END}"))
}
