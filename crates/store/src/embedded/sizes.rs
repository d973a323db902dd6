//! Sizes of tables.

use super::engine;
use super::open::Store;
use crate::Error;
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
        open.tables.all().into_iter().map(size).collect()
    }

    pub fn disk_bytes(&self) -> Result<u64, Error> {
        self.inner.database()?.disk_bytes()
    }
}
