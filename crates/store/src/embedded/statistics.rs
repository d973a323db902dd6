//! Sizes, for /status and /metrics. Cheap enough to ask on every scrape.

use crate::Error;
use crate::embedded::open::Store;

#[derive(Clone, Debug)]
pub struct TableStatistics {
    pub name: &'static str,
    pub disk_bytes: u64,
    /// An estimate: rows overwritten but not yet compacted count too.
    pub rows: u64,
}

impl Store {
    pub fn table_statistics(&self) -> Vec<TableStatistics> {
        let tables = self.inner.tables.all();
        tables
            .into_iter()
            .map(|(name, table)| TableStatistics {
                name,
                disk_bytes: table.disk_space(),
                rows: table.approximate_len() as u64,
            })
            .collect()
    }

    pub fn disk_bytes(&self) -> Result<u64, Error> {
        Ok(self.inner.db.disk_space()?)
    }
}
