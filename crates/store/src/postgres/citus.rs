//! Spreads the tables of a database over the workers of a Citus cluster: once, and only where somebody asked for it.

use super::store::Store;
use crate::Error;

const STEP: &str = include_str!("schema/citus.sql");
const HAS_CITUS: &str =
    "select exists (select from pg_proc where proname = 'create_distributed_table')";
const IS_DONE: &str = "select exists (select from meta where key = 'citus')";

impl Store {
    /// False where the database has no Citus.
    pub async fn distribute(&self) -> Result<bool, Error> {
        let connection = self.inner.pool.get().await?;
        let is_so = |row: Option<tokio_postgres::Row>| row.is_some_and(|row| row.get(0));
        if !is_so(connection.first(HAS_CITUS, &[]).await?) {
            return Ok(false);
        }
        if !is_so(connection.first(IS_DONE, &[]).await?) {
            let note = "insert into meta (key, value) values ('citus', '')";
            connection.run(&format!("begin; {STEP}\n{note}; commit")).await?;
        }
        Ok(true)
    }
}
