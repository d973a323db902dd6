//! Sizes of tables.

use std::sync::atomic::Ordering;

use super::engine;
use super::inner::Inner;
use super::open::Store;
use super::open_db::LOG_BYTES_MAX;
use super::write::WAITING_FOLDS_MAX;
use crate::disk_room::DiskRoom;
use crate::memory::MemoryUse;
use crate::options::TableSize;

impl Store {
    pub fn table_sizes(&self) -> Vec<TableSize> {
        let size = |(name, table): (&'static str, &engine::Table)| TableSize {
            name,
            disk_bytes: table.disk_bytes(),
            rows: table.rows(),
        };
        // While the engine is opened anew there is nothing to measure.
        let Ok(open) = self.inner.database() else { return Vec::new() };
        let (disk_bytes, rows) = open.segments.size();
        let bodies = TableSize { name: "segments of bodies", disk_bytes, rows };
        let (disk_bytes, rows) = open.files.size();
        let index = TableSize { name: "index files", disk_bytes, rows };
        open.tables.all().into_iter().map(size).chain([bodies, index]).collect()
    }

    pub fn memory_use(&self) -> Vec<MemoryUse> {
        let Ok(open) = self.inner.database() else { return Vec::new() };
        let memory = self.inner.options.memory();
        let log_bytes_max = LOG_BYTES_MAX;
        let of = |part, bytes, bytes_max| MemoryUse { part, bytes, bytes_max };
        vec![
            of("tables_cache", open.db.cache_size(), memory.tables_cache),
            of("index_cache", open.files.cached_bytes(), memory.index_cache),
            of("bodies_cache", open.bodies.cached_bytes(), memory.bodies_cache),
            of("transactions_cache", open.bodies.txs.cached_bytes(), memory.txs_cache),
            of("index_runs", open.runs.now().bytes(), WAITING_FOLDS_MAX * memory.run),
            of("write_buffers", open.db.write_buffer_size(), log_bytes_max),
        ]
    }

    pub fn disk_room(&self) -> Option<DiskRoom> {
        self.inner.space.room()
    }

    /// As it was measured last. Costs nothing, so that it can be asked while the disk hangs.
    pub fn disk_bytes(&self) -> u64 {
        self.inner.disk_bytes.load(Ordering::Relaxed)
    }
}

impl Inner {
    /// The engine may be closed for the moment; then what was known stays.
    pub fn measure(&self) {
        if let Ok(open) = self.database() {
            open.segments.remove_doomed();
            self.disk_bytes.store(open.disk_bytes(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    /// Whoever asked the engine would wait for a write that hangs, as the one who asked it before did.
    #[test]
    fn the_size_on_disk_is_told_without_asking_the_engine() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&Options::new(dir.path()), &|_| ()).unwrap();
        store.secret("cursor", || [7; 32]).unwrap();
        store.compact().unwrap();
        let engine = store.inner.current.write().unwrap().take();
        assert!(store.disk_bytes() > 0, "tables and log");
        *store.inner.current.write().unwrap() = engine;
    }

    #[test]
    fn a_write_under_way_does_not_keep_the_size_from_being_measured() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&Options::new(dir.path()), &|_| ()).unwrap();
        let size = store.disk_bytes();
        // As a commit that hangs holds it, for this thread as for the one that measures.
        let _hangs = store.one_at_a_time();
        let log = dir.path().join("9.jnl");
        std::fs::write(&log, vec![0; 1 << 20]).unwrap();
        store.inner.measure();
        assert_eq!(store.disk_bytes(), size + (1 << 20));
        std::fs::remove_file(log).unwrap();
    }
}
