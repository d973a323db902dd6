//! Streams that are copied from another store, or into one.

use super::addresses::ADD;
use super::copy_deliveries::{DeliveryRow, copy_deliveries};
use super::definitions::{PUT_SETTINGS, put_row};
use super::delivery_row::{COLUMNS, Known, delivery_columns, read_known};
use super::matches::put_match;
use super::queues::Queues;
use crate::Error;
use crate::embedded::streams::{BROKEN_BODY, BodyPacker, unpack_body};
use crate::postgres::connection::{Connection, Param};
use crate::postgres::numbers::{sql, sql_limit, text};
use crate::postgres::store::Store;
use crate::streams::{
    CopiedStream, ListedAttempt, StoredDelivery, StreamId, StreamPart, StreamRow, is_gone,
};

const STORED: &str = concat!(
    "select ",
    delivery_columns!(),
    ", d.failed_ms, d.failed_retries, d.ended_ms, d.body from deliveries d join stream_queues q on q.stream = d.stream \
     where d.stream = $1 and not q.is_removed and d.seq >= $2 order by d.seq limit $3"
);
const ALL_SETTINGS: &str = "select tenant, body from stream_settings order by tenant";
const BEGIN: &str = "insert into stream_queues (stream, tenant, is_removed) values ($1, $2, true) \
     on conflict do nothing";
const PUBLISH: &str = "update stream_queues set is_removed = false where stream = $1";

macro_rules! list_into {
    ($table:literal) => {
        concat!(
            "insert into ",
            $table,
            " (tenant, stream, at_ms, seq, retries, chain, number, webhook_url, tag, error) select $1, $2, * from \
             unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[], $9::text[], \
             $10::text[]) on conflict do nothing"
        )
    };
}
const LIST_ATTEMPTS: &str = list_into!("stream_attempts");
const LIST_FAILED: &str = list_into!("stream_failed");

impl Store {
    pub async fn stored_deliveries(
        &self,
        stream: StreamId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<StoredDelivery>, Error> {
        let params: [Param; 3] = [&stream.as_slice(), &sql(from_seq), &sql_limit(limit)];
        let rows = self.inner.pool.get().await?.query(STORED, &params).await?;
        let stored = |row: &tokio_postgres::Row| {
            let Known { delivery, failed, ended_ms } = read_known(row);
            let body = unpack_body(row.get(COLUMNS + 3)).ok_or(BROKEN_BODY)?;
            Ok(StoredDelivery { delivery, failed, ended_ms, body })
        };
        rows.iter().map(stored).collect()
    }

    pub async fn all_stream_settings(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let rows = self.inner.pool.get().await?.query(ALL_SETTINGS, &[]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    pub async fn begin_stream_copy(&self, row: &StreamRow) -> Result<(), Error> {
        if self.live_queue(row.id).await?.is_some() {
            return Err(is_gone(row.id));
        }
        self.finish_removal(row.id, &row.tenant).await?;
        let connection = self.inner.pool.get().await?;
        match connection.execute(BEGIN, &[&row.id.as_slice(), &row.tenant]).await? {
            0 => Err(is_gone(row.id)),
            _ => Ok(()),
        }
    }

    pub async fn add_stream_part(&self, stream: StreamId, part: StreamPart) -> Result<(), Error> {
        let mut packer = match &part {
            StreamPart::Deliveries(some) => BodyPacker::with(some.iter().map(|it| &it.body)),
            _ => BodyPacker::default(),
        };
        let mut connection = self.begin().await?;
        let mut queues = Queues::lock(&connection, [stream]).await?;
        let marked = queues.0.remove(&stream).filter(|row| row.is_removed);
        let tenant = marked.ok_or_else(|| is_gone(stream))?.tenant;
        match part {
            StreamPart::Addresses(addresses) => {
                let bytes: Vec<&[u8]> = addresses.iter().map(|it| it.as_slice()).collect();
                connection.execute(ADD, &[&stream.as_slice(), &bytes]).await?;
            }
            StreamPart::Deliveries(deliveries) => {
                let rows = deliveries.iter().map(|stored| {
                    let StoredDelivery { delivery, failed, ended_ms, body } = stored;
                    DeliveryRow { delivery, failed: *failed, ended_ms: *ended_ms, body }
                });
                copy_deliveries(&connection, rows, &mut packer).await?;
            }
            StreamPart::Attempts(attempts) => {
                list(&connection, LIST_ATTEMPTS, (&tenant, stream), &attempts).await?;
            }
            StreamPart::Failed(attempts) => {
                list(&connection, LIST_FAILED, (&tenant, stream), &attempts).await?;
            }
            StreamPart::Matches(chain, matches) => {
                for kept in matches {
                    put_match(&connection, chain, kept, &mut packer).await?;
                }
            }
        }
        connection.commit().await
    }

    pub async fn publish_streams(
        &self,
        streams: &[CopiedStream],
        settings: &[(String, Vec<u8>)],
    ) -> Result<(), Error> {
        let mut connection = self.begin().await?;
        let mut queues = Queues::lock(&connection, streams.iter().map(|it| it.row.id)).await?;
        for stream in streams {
            let id = stream.row.id;
            let marked = queues.0.get_mut(&id).filter(|row| row.is_removed);
            *marked.ok_or_else(|| is_gone(id))? = stream.queue_row();
            connection.execute(PUBLISH, &[&id.as_slice()]).await?;
            put_row(&connection, &stream.row).await?;
        }
        queues.write(&connection).await?;
        for (tenant, body) in settings {
            connection.execute(PUT_SETTINGS, &[tenant, body]).await?;
        }
        connection.commit().await
    }
}

async fn list(
    connection: &Connection,
    statement: &'static str,
    (tenant, stream): (&str, StreamId),
    attempts: &[ListedAttempt],
) -> Result<(), Error> {
    let numbers =
        |of: fn(&ListedAttempt) -> u64| attempts.iter().map(|it| sql(of(it))).collect::<Vec<i64>>();
    let texts = |of: fn(&ListedAttempt) -> &str| {
        attempts.iter().map(|it| text(of(it))).collect::<Vec<String>>()
    };
    let errors: Vec<Option<String>> =
        attempts.iter().map(|it| it.log.error.as_deref().map(text)).collect();
    let params: [Param; 10] = [
        &tenant,
        &stream.as_slice(),
        &numbers(|it| it.at.at_ms),
        &numbers(|it| it.at.seq),
        &numbers(|it| u64::from(it.at.retries)),
        &numbers(|it| it.chain.0),
        &numbers(|it| it.number),
        &texts(|it| &it.log.webhook_url),
        &texts(|it| &it.log.tag),
        &errors,
    ];
    connection.execute(statement, &params).await.map(|_| ())
}
