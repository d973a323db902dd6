//! The lists of attempts and of failed deliveries that tenants see.

use super::delivery_row::{COLUMNS, delivery_columns, read};
use crate::Error;
use crate::postgres::connection::Param;
use crate::postgres::numbers::{sql, sql_limit, u64_at};
use crate::postgres::store::Store;
use crate::streams::{AttemptLog, AttemptsQuery, Delivery, FailedQuery, ListAnchor};

type Listed = (ListAnchor, Delivery, AttemptLog);

macro_rules! listed {
    ($table:literal) => {
        concat!(
            "select ",
            delivery_columns!(),
            ", a.at_ms, a.retries, a.webhook_url, a.tag, a.error from ",
            $table,
            " a join stream_queues q on q.stream = a.stream join deliveries d on d.stream = a.stream and d.seq = a.seq \
             where a.tenant = $1 and not q.is_removed and ($2::bytea is null or a.stream = $2) \
             and ($3::bigint[] is null or a.chain = any($3)) and ($4::bigint[] is null or a.number = any($4)) \
             and ($5::boolean is null or (a.error is not null) = $5) and a.at_ms between $6 and $7 \
             and ($8::bigint is null or a.at_ms < $8 or (a.at_ms = $8 and (a.stream > $9 or (a.stream = $9 and \
             (a.seq < $10 or (a.seq = $10 and a.retries < $11)))))) \
             order by a.at_ms desc, a.stream, a.seq desc, a.retries desc limit $12"
        )
    };
}
const ATTEMPTS: &str = listed!("stream_attempts");
const FAILED: &str = listed!("stream_failed");

impl Store {
    pub async fn attempts_page(&self, query: &AttemptsQuery) -> Result<Vec<Listed>, Error> {
        self.listed(ATTEMPTS, query).await
    }

    pub async fn failed_page(&self, query: &FailedQuery) -> Result<Vec<Listed>, Error> {
        let FailedQuery { tenant, stream, chains, numbers, from_ms, to_ms, below, limit } = query;
        let query = AttemptsQuery {
            tenant: tenant.clone(),
            stream: *stream,
            chains: chains.clone(),
            numbers: numbers.clone(),
            failed: None,
            from_ms: *from_ms,
            to_ms: *to_ms,
            below: *below,
            limit: *limit,
        };
        self.listed(FAILED, &query).await
    }

    async fn listed(&self, list: &'static str, q: &AttemptsQuery) -> Result<Vec<Listed>, Error> {
        let some = |list: Vec<i64>| Some(list).filter(|list| !list.is_empty());
        let chains = some(q.chains.iter().map(|chain| sql(chain.0)).collect());
        let numbers = some(q.numbers.iter().map(|number| sql(*number)).collect());
        let stream = q.stream.map(|stream| stream.to_vec());
        let below = q.below.as_ref();
        let params: [Param; 12] = [
            &q.tenant,
            &stream,
            &chains,
            &numbers,
            &q.failed,
            &sql(q.from_ms.unwrap_or(0)),
            &sql(q.to_ms.unwrap_or(u64::MAX)),
            &below.map(|at| sql(at.at_ms)),
            &below.map(|at| at.stream.to_vec()),
            &below.map(|at| sql(at.seq)),
            &below.map(|at| i64::from(at.retries)),
            &sql_limit(q.limit),
        ];
        let rows = self.inner.pool.get().await?.query(list, &params).await?;
        let listed = |row: &tokio_postgres::Row| {
            let delivery = read(row);
            let retries = u32::try_from(u64_at(row, COLUMNS + 1)).unwrap_or(u32::MAX);
            let (stream, seq) = (delivery.stream, delivery.seq);
            let at = ListAnchor { at_ms: u64_at(row, COLUMNS), stream, seq, retries };
            let log = AttemptLog {
                webhook_url: row.get(COLUMNS + 2),
                tag: row.get(COLUMNS + 3),
                retries,
                error: row.get(COLUMNS + 4),
            };
            (at, delivery, log)
        };
        Ok(rows.iter().map(listed).collect())
    }
}
