//! A stream's queue and sums.

use std::collections::BTreeMap;

use tokio_postgres::Row;

use crate::Error;
use crate::embedded::streams::QueueRow;
use crate::postgres::chain_row::hash;
use crate::postgres::connection::{Connection, Param};
use crate::postgres::numbers::{sql, u64_at};
use crate::postgres::store::Store;
use crate::streams::{QueueState, QueuedDelivery, StreamId, StreamTotals, chain_digests};

macro_rules! columns {
    () => {
        "select stream, tenant, is_removed, last_seq, last_digest, tried_seq, waiting, waiting_bytes, webhooks_delivered, \
         webhooks_failed, txs, logs, internal_txs, addresses from stream_queues "
    };
}
const LIVE: &str = concat!(columns!(), "where stream = $1 and not is_removed");
const LOCK: &str = concat!(columns!(), "where stream = any($1) order by stream for update");
const WRITE: &str = "update stream_queues set last_seq = $2, last_digest = $3, tried_seq = $4, waiting = $5, \
     waiting_bytes = $6, webhooks_delivered = $7, webhooks_failed = $8, txs = $9, logs = $10, internal_txs = $11, \
     addresses = $12 where stream = $1";

pub fn stream_id(bytes: &[u8]) -> StreamId {
    StreamId::try_from(bytes).unwrap_or_default()
}

fn read(row: &Row) -> (StreamId, QueueRow) {
    let queue = QueueState {
        last_seq: u64_at(row, 3),
        last_digest: hash(row.get(4)),
        tried_seq: u64_at(row, 5),
        waiting: u64_at(row, 6),
        waiting_bytes: u64_at(row, 7),
    };
    let totals = StreamTotals {
        webhooks_delivered: u64_at(row, 8),
        webhooks_failed: u64_at(row, 9),
        txs: u64_at(row, 10),
        logs: u64_at(row, 11),
        internal_txs: u64_at(row, 12),
    };
    let (tenant, is_removed, addresses) = (row.get(1), row.get(2), u64_at(row, 13));
    (stream_id(row.get(0)), QueueRow { tenant, is_removed, queue, totals, addresses })
}

/// Queues that are locked; removed ones among them.
pub struct Queues(pub BTreeMap<StreamId, QueueRow>);

impl Queues {
    pub async fn lock(
        connection: &Connection,
        streams: impl IntoIterator<Item = StreamId>,
    ) -> Result<Self, Error> {
        let streams: std::collections::BTreeSet<StreamId> = streams.into_iter().collect();
        if streams.is_empty() {
            return Ok(Queues(BTreeMap::new()));
        }
        let ids: Vec<&[u8]> = streams.iter().map(|id| id.as_slice()).collect();
        let rows = connection.query(LOCK, &[&ids]).await?;
        Ok(Queues(rows.iter().map(read).collect()))
    }

    /// None where the stream is gone, or going.
    pub fn live(&mut self, stream: StreamId) -> Option<&mut QueueRow> {
        self.0.get_mut(&stream).filter(|row| !row.is_removed)
    }

    /// Of deliveries that were added to them.
    pub fn chain_digests(&mut self, made: &mut [QueuedDelivery]) {
        let of_row = |(stream, row): (&StreamId, &QueueRow)| (*stream, row.queue.last_digest);
        let mut last = self.0.iter().map(of_row).collect();
        chain_digests(made, &mut last);
        for (stream, row) in &mut self.0 {
            if let Some(digest) = last.get(stream) {
                row.queue.last_digest = *digest;
            }
        }
    }

    /// As they are now.
    pub async fn write(&self, connection: &Connection) -> Result<(), Error> {
        for (stream, row) in self.0.iter().filter(|(_, row)| !row.is_removed) {
            let QueueRow { queue, totals, addresses, .. } = row;
            let params: [Param; 12] = [
                &stream.as_slice(),
                &sql(queue.last_seq),
                &queue.last_digest.as_slice(),
                &sql(queue.tried_seq),
                &sql(queue.waiting),
                &sql(queue.waiting_bytes),
                &sql(totals.webhooks_delivered),
                &sql(totals.webhooks_failed),
                &sql(totals.txs),
                &sql(totals.logs),
                &sql(totals.internal_txs),
                &sql(*addresses),
            ];
            connection.execute(WRITE, &params).await?;
        }
        Ok(())
    }
}

impl Store {
    pub async fn live_queue(&self, stream: StreamId) -> Result<Option<QueueRow>, Error> {
        let connection = self.inner.pool.get().await?;
        let row = connection.first(LIVE, &[&stream.as_slice()]).await?;
        Ok(row.map(|row| read(&row).1))
    }

    pub async fn stream_queue(&self, stream: StreamId) -> Result<QueueState, Error> {
        Ok(self.live_queue(stream).await?.map(|row| row.queue).unwrap_or_default())
    }

    pub async fn stream_totals(&self, stream: StreamId) -> Result<StreamTotals, Error> {
        Ok(self.live_queue(stream).await?.map(|row| row.totals).unwrap_or_default())
    }

    pub async fn stream_address_count(&self, stream: StreamId) -> Result<u64, Error> {
        Ok(self.live_queue(stream).await?.map_or(0, |row| row.addresses))
    }
}
