//! Deliveries, their bodies, and those whose time has come.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use bytes::Bytes;

use super::delivery_row::{delivery_columns, read};
use super::queues::stream_id;
use crate::Error;
use crate::embedded::streams::{BROKEN_BODY, unpack_body};
use crate::postgres::connection::Param;
use crate::postgres::numbers::{sql, sql_limit, u64_at};
use crate::postgres::store::Store;
use crate::streams::{Delivery, StreamId};

const FROM: &str = concat!(
    "select ",
    delivery_columns!(),
    " from deliveries d join stream_queues q on q.stream = d.stream \
     where d.stream = $1 and not q.is_removed and d.seq >= $2 order by d.seq limit $3"
);
const BODY: &str = "select d.body from deliveries d join stream_queues q on q.stream = d.stream \
     where d.stream = $1 and not q.is_removed and d.seq = $2";
const BODIES: &str = "select d.seq, d.body from deliveries d join stream_queues q on q.stream = d.stream \
     where d.stream = $1 and not q.is_removed and d.seq between $2 and $3 order by d.seq";
const DUE: &str = "select d.due_ms, d.stream, d.seq from deliveries d join stream_queues q on q.stream = d.stream \
     where d.due_ms is not null and d.due_ms <= $1 and not q.is_removed and d.stream <> all($2) \
     order by d.due_ms, d.stream, d.seq limit $3";

impl Store {
    pub async fn delivery(&self, stream: StreamId, seq: u64) -> Result<Option<Delivery>, Error> {
        let found = self.deliveries(stream, seq, 1).await?.pop();
        Ok(found.filter(|delivery| delivery.seq == seq))
    }

    pub async fn deliveries(
        &self,
        stream: StreamId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Delivery>, Error> {
        let params: [Param; 3] = [&stream.as_slice(), &sql(from_seq), &sql_limit(limit)];
        let rows = self.inner.pool.get().await?.query(FROM, &params).await?;
        Ok(rows.iter().map(read).collect())
    }

    pub async fn delivery_body(&self, stream: StreamId, seq: u64) -> Result<Option<Bytes>, Error> {
        let params: [Param; 2] = [&stream.as_slice(), &sql(seq)];
        let row = self.inner.pool.get().await?.first(BODY, &params).await?;
        row.map(|row| unpack_body(row.get(0)).ok_or(BROKEN_BODY)).transpose()
    }

    pub async fn delivery_bodies(
        &self,
        stream: StreamId,
        seqs: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Bytes)>, Error> {
        let params: [Param; 3] = [&stream.as_slice(), &sql(*seqs.start()), &sql(*seqs.end())];
        let rows = self.inner.pool.get().await?.query(BODIES, &params).await?;
        let body = |row: &tokio_postgres::Row| {
            Ok((u64_at(row, 0), unpack_body(row.get(1)).ok_or(BROKEN_BODY)?))
        };
        rows.iter().map(body).collect()
    }

    pub async fn due_retries(
        &self,
        until_ms: u64,
        passed_over: &BTreeSet<StreamId>,
        limit: usize,
    ) -> Result<Vec<(u64, StreamId, u64)>, Error> {
        let passed_over: Vec<&[u8]> = passed_over.iter().map(|id| id.as_slice()).collect();
        let params: [Param; 3] = [&sql(until_ms), &passed_over, &sql_limit(limit)];
        let rows = self.inner.pool.get().await?.query(DUE, &params).await?;
        let due =
            |row: &tokio_postgres::Row| (u64_at(row, 0), stream_id(row.get(1)), u64_at(row, 2));
        Ok(rows.iter().map(due).collect())
    }
}
