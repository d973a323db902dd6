//! Claims of senders. Rows that somebody is writing are passed over: whoever waits for several could wait in a circle.

use super::queues::stream_id;
use crate::Error;
use crate::postgres::connection::Param;
use crate::postgres::numbers::{sql, sql_limit};
use crate::postgres::store::Store;
use crate::streams::StreamId;

/// As long as `CLAIM`.
const FREE: &str = "update stream_queues set claimed_by = $1, claimed_until = clock_timestamp() + interval '10s' \
     where stream = any(array(select stream from stream_queues where last_seq > tried_seq and not is_removed \
     and (claimed_until is null or claimed_until < clock_timestamp()) \
     order by claimed_until nulls first limit $2 for update skip locked)) returning stream";
const ONE: &str = "with before as (select stream, claimed_by is not distinct from $1 as is_mine from stream_queues \
     where stream = $2 and not is_removed and (claimed_by = $1 or claimed_until is null \
     or claimed_until < clock_timestamp()) for update) \
     update stream_queues q set claimed_by = $1, claimed_until = clock_timestamp() + interval '10s' \
     from before b where q.stream = b.stream returning b.is_mine";
const RENEW: &str = "update stream_queues set claimed_until = clock_timestamp() + interval '10s' \
     where stream = any(array(select stream from stream_queues where stream = any($2) and claimed_by = $1 \
     for update skip locked)) returning stream";
const RELEASE: &str = "update stream_queues set claimed_by = null, claimed_until = null \
     where stream = any(array(select stream from stream_queues where claimed_by = $1 for update skip locked))";
const RETRY: &str =
    "update deliveries set due_ms = $4 where stream = $1 and seq = $2 and due_ms = $3";

impl Store {
    pub async fn claim_queues(&self, sender: &str, limit: usize) -> Result<Vec<StreamId>, Error> {
        let connection = self.inner.pool.get().await?;
        let rows = connection.query(FREE, &[&sender, &sql_limit(limit)]).await?;
        Ok(rows.iter().map(|row| stream_id(row.get(0))).collect())
    }

    pub async fn claim_queue(&self, sender: &str, id: StreamId) -> Result<Option<bool>, Error> {
        let connection = self.inner.pool.get().await?;
        let row = connection.first(ONE, &[&sender, &id.as_slice()]).await?;
        Ok(row.map(|row| row.get(0)))
    }

    pub async fn renew_claims(
        &self,
        sender: &str,
        streams: &[StreamId],
    ) -> Result<Vec<StreamId>, Error> {
        let ids: Vec<&[u8]> = streams.iter().map(|id| id.as_slice()).collect();
        let connection = self.inner.pool.get().await?;
        let rows = connection.query(RENEW, &[&sender, &ids]).await?;
        Ok(rows.iter().map(|row| stream_id(row.get(0))).collect())
    }

    pub async fn release_claims(&self, sender: &str) -> Result<(), Error> {
        self.inner.pool.get().await?.execute(RELEASE, &[&sender]).await.map(|_| ())
    }

    pub async fn claim_retry(
        &self,
        (id, seq): (StreamId, u64),
        due_ms: u64,
        until_ms: u64,
    ) -> Result<bool, Error> {
        let params: [Param; 4] = [&id.as_slice(), &sql(seq), &sql(due_ms), &sql(until_ms)];
        Ok(self.inner.pool.get().await?.execute(RETRY, &params).await? > 0)
    }
}
