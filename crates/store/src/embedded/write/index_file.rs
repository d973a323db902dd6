//! Writes runs of index rows into a file, and makes one file of several.

use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};

use model::chain::ChainId;

use crate::Error;
use crate::coverage::Coverage;
use crate::embedded::engine::Durability;
use crate::embedded::index_files::{
    FileEntry, IndexFileRow, IndexFileWriter, IndexFiles, SetChange, blocks_of, due, level_of,
    merge,
};
use crate::embedded::open::Store;
use crate::embedded::open_db::OpenDb;
use crate::embedded::runs::{Run, RunTable, merged_rows};
use crate::embedded::write_turn::Priority;

/// Between two looks at whether smaller files have to be merged first, or nothing any more.
const PARTS_BETWEEN: u32 = 256;

/// Nothing leads to it yet; none where there are no rows.
pub(super) fn write_file(
    files: &IndexFiles,
    chain: ChainId,
    runs: &[Arc<Run>],
) -> Result<Option<FileEntry>, Error> {
    let blocks = Coverage::union(runs.iter().map(|run| &run.blocks));
    let Some(lowest) = blocks.oldest() else { return Ok(None) };
    let (id, path) = files.new_path()?;
    let (file, shape) = or_removed(&path, || {
        let mut writer = IndexFileWriter::create(&path, lowest)?;
        for table in RunTable::ALL {
            writer.begin(table)?;
            merged_rows(runs, table).try_for_each(|(key, value)| writer.put(key, value))?;
        }
        let shape = writer.finish()?;
        Ok((files.open_file(id, &shape)?, shape))
    })?;
    let written_blocks = blocks.blocks();
    let row = IndexFileRow { chain, level: 0, shape, written_blocks, blocks };
    Ok(Some(FileEntry::new(file, row)))
}

impl Store {
    /// The turn to write is held.
    pub(super) fn write_set(&self, open: &OpenDb, change: &SetChange) -> Result<(), Error> {
        open.write_files(Vec::new(), change, |ops| self.inner.write(ops, Durability::Process, None))
    }

    fn one_merge(&self) -> MutexGuard<'_, ()> {
        self.inner.merging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Merges index files as long as enough of a size are there.
    pub fn merge_index_files(&self, is_stopped: &dyn Fn() -> bool) -> Result<(), Error> {
        let _one_merge = self.one_merge();
        self.merge_below(u8::MAX, is_stopped)
    }

    /// Of every chain one file.
    pub fn merge_all_index_files(&self) -> Result<(), Error> {
        let _one_merge = self.one_merge();
        let open = self.inner.database()?;
        let mut chains: Vec<ChainId> =
            open.files.now().all().iter().map(|it| it.row.chain).collect();
        chains.sort();
        chains.dedup();
        for chain in chains {
            let entries: Vec<_> = open.files.now().of_chain(chain).cloned().collect();
            if entries.len() > 1 || entries.iter().any(|entry| !entry.is_all_alive) {
                self.merge_into_one(&entries, &|| false)?;
            }
        }
        Ok(())
    }

    fn merge_below(&self, level: u8, is_stopped: &dyn Fn() -> bool) -> Result<(), Error> {
        loop {
            let now = self.inner.database()?.files.now();
            let Some(entries) = due(&now, level) else { return Ok(()) };
            drop(now);
            if is_stopped() {
                return Ok(());
            }
            if !self.merge_into_one(&entries, is_stopped)? {
                return Ok(());
            }
        }
    }

    /// False where it was left off.
    fn merge_into_one(
        &self,
        entries: &[Arc<FileEntry>],
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<bool, Error> {
        let Some(chain) = entries.first().map(|entry| entry.row.chain) else { return Ok(false) };
        self.inner.may_write(Durability::Disk)?;
        let open = self.inner.database()?;
        let (level, blocks) = (level_of(entries), blocks_of(entries.iter()));
        let Some(lowest) = blocks.oldest() else { return Ok(false) };
        let lowest_level = entries.iter().map(|entry| entry.row.level).min().unwrap_or(0);
        let (id, path) = open.files.new_path()?;
        let mut parts = 0;
        // Smaller files go on coming meanwhile, and each of them is one more to be looked at by whoever reads.
        let mut between = || {
            parts += 1;
            if parts % PARTS_BETWEEN == 0 {
                self.merge_below(lowest_level, is_stopped)?;
            }
            // Whoever opens the engine anew waits until nobody has it.
            Ok(!is_stopped() && self.inner.health.refusal().is_none())
        };
        let merged = or_removed(&path, || {
            let writer = IndexFileWriter::create(&path, lowest)?;
            let Some(shape) = merge(entries, writer, &mut between)? else { return Ok(None) };
            Ok(Some((open.files.open_file(id, &shape)?, shape)))
        });
        let Some((file, shape)) = merged? else {
            remove(&path);
            return Ok(false);
        };
        let _one_at_a_time = self.inner.writing.take(Priority::Low);
        let (now, gone): (_, Vec<u64>) =
            (open.files.now(), entries.iter().map(|entry| entry.file.id).collect());
        // Blocks that were taken away meanwhile have their rows in the new file, too.
        let left = blocks_of(gone.iter().filter_map(|id| now.get_file(*id)));
        let written_blocks = blocks.blocks();
        let entry = (!left.is_empty()).then(|| {
            let row = IndexFileRow { chain, level, shape, written_blocks, blocks: left };
            FileEntry::new(file.clone(), row)
        });
        if entry.is_none() {
            file.doom();
        }
        let change = open.files.changed(&gone, entry);
        self.write_set(&open, &change).inspect_err(|error| remove_unless_written(&path, error))?;
        Ok(true)
    }
}

/// What was begun and cannot be finished takes no room.
fn or_removed<T>(path: &Path, write: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    write().inspect_err(|_| remove(path))
}

/// A write that failed may be in the log all the same, and lead to the file when the engine is opened anew.
pub(super) fn remove_unless_written(path: &Path, error: &Error) {
    if matches!(error, Error::DiskFull { .. } | Error::Paused { .. }) {
        remove(path);
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::debug!(file = %path.display(), %error, "an index file stays until the next start");
    }
}
