//! Removes a stream with all that hangs on it. Its own row goes first and its queue is marked, so that nothing of it is
//! seen and nothing can be added; the queue's row goes last. A removal that is cut off is known by it, and pruning
//! ends it.

use super::queues::{Queues, stream_id};
use crate::Error;
use crate::postgres::announce::note_change;
use crate::postgres::connection::Param;
use crate::postgres::store::Store;
use crate::shared::Shared;
use crate::streams::StreamId;

const ROWS_AT_ONCE: i64 = 4096;

const REMOVE: &str = "delete from streams where id = $1";
const MARK: &str = "update stream_queues set is_removed = true where stream = $1";
const MARKED: &str = "select stream, tenant from stream_queues where is_removed";
const FORGET: &str = "delete from stream_queues where stream = $1 and is_removed";
const PARTS: [&str; 3] = [
    "delete from deliveries where ctid = any(array(select ctid from deliveries where stream = $1 limit $2))",
    "delete from stream_matches where ctid = any(array(select ctid from stream_matches where stream = $1 limit $2))",
    "delete from stream_addresses where ctid = any(array(select ctid from stream_addresses where stream = $1 limit $2))",
];
const LISTS: [&str; 2] = [
    "delete from stream_attempts where tenant = $1 and stream = $2",
    "delete from stream_failed where tenant = $1 and stream = $2",
];

impl Store {
    pub async fn remove_stream(&self, stream: StreamId) -> Result<bool, Error> {
        let mut connection = self.begin().await?;
        let queues = Queues::lock(&connection, [stream]).await?;
        let Some(row) = queues.0.get(&stream) else { return Ok(false) };
        let id = stream.as_slice();
        connection.execute(REMOVE, &[&id]).await?;
        connection.execute(MARK, &[&id]).await?;
        note_change(&connection, Shared::Streams).await?;
        connection.commit().await?;
        drop(connection);
        self.finish_removal(stream, &row.tenant).await?;
        Ok(true)
    }

    /// Streams whose removal was cut off.
    pub async fn finish_removals(&self) -> Result<(), Error> {
        let marked = self.inner.pool.get().await?.query(MARKED, &[]).await?;
        for row in marked {
            self.finish_removal(stream_id(row.get(0)), row.get(1)).await?;
        }
        Ok(())
    }

    pub async fn finish_removal(&self, stream: StreamId, tenant: &str) -> Result<(), Error> {
        let connection = self.inner.pool.get().await?;
        let id = stream.as_slice();
        for statement in PARTS {
            let params: [Param; 2] = [&id, &ROWS_AT_ONCE];
            while connection.execute(statement, &params).await? > 0 {}
        }
        for statement in LISTS {
            connection.execute(statement, &[&tenant, &id]).await?;
        }
        connection.execute(FORGET, &[&id]).await.map(|_| ())
    }
}
