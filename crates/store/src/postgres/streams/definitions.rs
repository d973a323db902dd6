//! Streams as their tenants set them.

use super::queues::{Queues, stream_id};
use crate::Error;
use crate::postgres::announce::note_change;
use crate::postgres::connection::{Connection, Param};
use crate::postgres::store::Store;
use crate::shared::Shared;
use crate::streams::{StreamId, StreamRow};

const ALL: &str = "select id, tenant, body from streams order by id";
const SOME: &str = "select id, tenant, body from streams where id = any($1)";
const PUT: &str = "insert into streams (id, tenant, body) values ($1, $2, $3) \
     on conflict (id) do update set tenant = excluded.tenant, body = excluded.body";
const PUT_QUEUE: &str =
    "insert into stream_queues (stream, tenant) values ($1, $2) on conflict do nothing";
const SETTINGS: &str = "select body from stream_settings where tenant = $1";
pub const PUT_SETTINGS: &str = "insert into stream_settings (tenant, body) values ($1, $2) \
     on conflict (tenant) do update set body = excluded.body";

fn read(row: &tokio_postgres::Row) -> StreamRow {
    StreamRow { id: stream_id(row.get(0)), tenant: row.get(1), body: row.get(2) }
}

pub async fn put_row(connection: &Connection, row: &StreamRow) -> Result<(), Error> {
    let params: [Param; 3] = [&row.id.as_slice(), &row.tenant, &row.body];
    connection.execute(PUT, &params).await?;
    note_change(connection, Shared::Streams).await
}

impl Store {
    pub async fn streams(&self) -> Result<Vec<StreamRow>, Error> {
        let rows = self.inner.pool.get().await?.query(ALL, &[]).await?;
        Ok(rows.iter().map(read).collect())
    }

    pub async fn stream_rows(&self, ids: &[StreamId]) -> Result<Vec<StreamRow>, Error> {
        let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_slice()).collect();
        let rows = self.inner.pool.get().await?.query(SOME, &[&ids]).await?;
        Ok(rows.iter().map(read).collect())
    }

    pub async fn put_stream(&self, row: &StreamRow) -> Result<(), Error> {
        let mut connection = self.begin().await?;
        let queues = Queues::lock(&connection, [row.id]).await?;
        // Whoever changes it while it is being removed came too late.
        if queues.0.get(&row.id).is_some_and(|known| known.is_removed) {
            return Ok(());
        }
        put_row(&connection, row).await?;
        connection.execute(PUT_QUEUE, &[&row.id.as_slice(), &row.tenant]).await?;
        connection.commit().await
    }

    pub async fn stream_settings(&self, tenant: &str) -> Result<Option<Vec<u8>>, Error> {
        let row = self.inner.pool.get().await?.first(SETTINGS, &[&tenant]).await?;
        Ok(row.map(|row| row.get(0)))
    }

    pub async fn put_stream_settings(&self, tenant: &str, body: &[u8]) -> Result<(), Error> {
        let mut connection = self.begin().await?;
        connection.execute(PUT_SETTINGS, &[&tenant, &body]).await?;
        note_change(&connection, Shared::Streams).await?;
        connection.commit().await
    }
}
