//! Steps of journal readers: their rows and their place, in one transaction.

use std::collections::BTreeMap;

use model::chain::ChainId;

use super::connection::{Connection, Param};
use super::numbers::{sql, stored};
use super::read::readers::{READER, cursor};
use super::store::Store;
use crate::Error;
use crate::journal::{ReaderCommit, ReaderCursor};

pub const LOCK: &str = "select chain from chains where chain = $1 for share";
const LOCK_READER: &str =
    "select name, seq, start, next from readers where chain = $1 and name = $2 for update";
const BEGIN: &str = "insert into readers (chain, name, seq, start, next) values ($1, $2, $3, $4, $5) \
     on conflict (chain, name) do nothing";
const MOVE: &str =
    "update readers set seq = $3, start = $4, next = $5 where chain = $1 and name = $2";
const PUT: &str = "insert into reader_rows (chain, name, key, value) select $1, $2, * from unnest($3::bytea[], $4::bytea[]) \
     on conflict (chain, name, key) do update set value = excluded.value";
const REMOVE: &str = "delete from reader_rows where chain = $1 and name = $2 and key = any($3)";
const REMOVE_ALL: &str = "delete from reader_rows where chain = $1 and name = $2";
const FORGET: &str = "delete from readers where chain = $1 and name = $2";

/// Moves a reader that stands where it is expected to, and nobody moved meanwhile.
pub async fn move_reader(
    connection: &Connection,
    (chain, name): (ChainId, &str),
    expected: Option<ReaderCursor>,
    to: ReaderCursor,
) -> Result<(), Error> {
    let id = sql(chain.0);
    // No commit of blocks may prune the journal between the look and the write.
    connection.query(LOCK, &[&id]).await?;
    let known = connection.first(LOCK_READER, &[&id, &name]).await?;
    if known.as_ref().map(cursor) != expected {
        return Err(Error::ReaderMoved { name: name.to_owned() });
    }
    let (seq, start) = (stored("reader", to.seq)?, stored("reader", to.start)?);
    let next = stored("reader", to.next)?;
    let params: [Param; 5] = [&id, &name, &seq, &start, &next];
    let statement = if expected.is_some() { MOVE } else { BEGIN };
    // Of two who begin at the same time the second finds the first one's row.
    if connection.execute(statement, &params).await? == 0 {
        return Err(Error::ReaderMoved { name: name.to_owned() });
    }
    Ok(())
}

/// A reader with all its rows.
pub async fn forget_reader(
    connection: &Connection,
    chain: ChainId,
    name: &str,
) -> Result<bool, Error> {
    let id = sql(chain.0);
    connection.execute(REMOVE_ALL, &[&id, &name]).await?;
    Ok(connection.execute(FORGET, &[&id, &name]).await? > 0)
}

impl Store {
    pub async fn commit_reader(&self, commit: ReaderCommit) -> Result<(), Error> {
        let done = self.write_reader(commit).await;
        self.inner.wrote(done)
    }

    async fn write_reader(&self, commit: ReaderCommit) -> Result<(), Error> {
        let ReaderCommit { chain, name, expected, cursor, rows } = commit;
        let mut connection = self.begin().await?;
        move_reader(&connection, (chain, &name), expected, cursor).await?;
        // Of rows with the same key only the last is one.
        let rows: BTreeMap<_, _> = rows.into_iter().map(|row| (row.key, row.value)).collect();
        let removed: Vec<&[u8]> =
            rows.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| &**key).collect();
        let (keys, values): (Vec<&[u8]>, Vec<&[u8]>) =
            rows.iter().filter_map(|(key, value)| Some((&**key, &**value.as_ref()?))).unzip();
        let id = sql(chain.0);
        if !removed.is_empty() {
            connection.execute(REMOVE, &[&id, &name, &removed]).await?;
        }
        if !keys.is_empty() {
            connection.execute(PUT, &[&id, &name, &keys, &values]).await?;
        }
        connection.commit().await
    }

    pub async fn remove_reader(&self, chain: ChainId, name: &str) -> Result<bool, Error> {
        let mut connection = self.begin().await?;
        let known = connection.first(READER, &[&sql(chain.0), &name]).await?;
        if known.is_none() {
            return Ok(false);
        }
        let was_there = forget_reader(&connection, chain, name).await?;
        connection.commit().await?;
        Ok(was_there)
    }
}
