//! What is asked of all databases at once.

use std::collections::BTreeMap;

use crate::Error;
use crate::check::{CheckProgress, CheckReport};
use crate::engine::Engine;
use crate::options::TableSize;
use crate::store::Store;

impl Store {
    pub(crate) async fn add_placed_sizes(&self, sizes: Vec<TableSize>) -> Vec<TableSize> {
        let mut all: BTreeMap<&'static str, TableSize> = BTreeMap::new();
        let mut found = sizes;
        for database in self.databases() {
            found.extend(database.table_sizes().await.unwrap_or_default());
        }
        for size in found {
            let sum = all.entry(size.name).or_insert(TableSize { disk_bytes: 0, rows: 0, ..size });
            sum.disk_bytes += size.disk_bytes;
            sum.rows += size.rows;
        }
        all.into_values().collect()
    }

    pub(crate) fn placed_bytes(&self) -> u64 {
        self.databases().map(|database| database.disk_bytes()).sum()
    }

    pub(crate) async fn flush_placed(&self) -> Result<(), Error> {
        for database in self.databases() {
            database.flush().await?;
        }
        Ok(())
    }

    pub(crate) async fn compact_placed(&self) -> Result<(), Error> {
        for database in self.databases() {
            database.compact().await?;
        }
        Ok(())
    }

    /// Spreads the tables of every database that has the Citus extension over its workers; says how many have it.
    pub async fn distribute(&self) -> Result<usize, Error> {
        let main = match &self.engine {
            Engine::Embedded(_) => None,
            Engine::Postgres(database) => Some(database),
        };
        let mut count = 0;
        for database in main.into_iter().chain(self.databases()) {
            count += usize::from(database.distribute().await?);
        }
        Ok(count)
    }

    pub(crate) async fn check_placed(
        &self,
        report: &mut CheckReport,
        progress: &(dyn Fn(CheckProgress) + Send + Sync),
    ) -> Result<(), Error> {
        for database in self.databases() {
            let place = database.label().display().to_string();
            for mut part in database.check(progress).await?.parts {
                part.what = format!("{place}: {}", part.what);
                report.parts.push(part);
            }
        }
        Ok(())
    }
}
