//! Requests about streams, handed from process to process in rows: asked by any, taken up by the one that has the duty.
//!
//! One that was taken up is never taken up again: whoever died over it may have done it.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_postgres::Row;

use crate::Error;
use crate::lease::Duty;
use crate::postgres::announce::NOTIFY;
use crate::postgres::connection::Param;
use crate::postgres::store::Store;
use crate::shared::Shared;
use crate::streams::{StreamAnswer, StreamCall};

/// Notifications come at once; where one is missed, a look helps.
const LOOK_EVERY: Duration = Duration::from_millis(250);
const TAKE_EVERY: Duration = Duration::from_secs(1);
const ASK: &str = "insert into stream_calls (tenant, method, path, content_type, body) values ($1, $2, $3, $4, $5) returning id::text";
const TAKE: &str = "update stream_calls set taken_under = $1 where id = any(array(select id from stream_calls \
     where taken_under is null order by asked_at limit 32 for update skip locked)) \
     returning id::text, tenant, method, path, content_type, body";
const ANSWER: &str = "update stream_calls set status = $2, header_names = $3, header_values = $4, answer = $5 where id = $1::text::uuid";
const COLLECT: &str = "delete from stream_calls where id = $1::text::uuid and status is not null \
     returning status, header_names, header_values, answer";
/// Nobody took it up yet, or whoever did still has the duty. A server that crashed forgot it.
const IS_PENDING: &str = "select from stream_calls c where c.id = $1::text::uuid and (c.taken_under is null \
     or c.status is not null or exists (select from leases l where l.name = $2 and l.epoch = c.taken_under))";
const FORGET: &str = "delete from stream_calls where id = $1::text::uuid";
/// Of processes that ended while they waited.
const FORGET_OLD: &str =
    "delete from stream_calls where asked_at < clock_timestamp() - interval '2 minutes'";

fn answer(row: &Row) -> StreamAnswer {
    let (names, values): (Vec<String>, Vec<String>) = (row.get(1), row.get(2));
    StreamAnswer {
        status: u16::try_from(row.get::<_, i32>(0)).unwrap_or(500),
        headers: names.into_iter().zip(values).collect(),
        body: row.get::<_, Vec<u8>>(3).into(),
    }
}

impl Store {
    pub async fn call_streams(
        &self,
        call: &StreamCall,
        within: Duration,
    ) -> Result<Option<StreamAnswer>, Error> {
        let mut answered = self.inner.newest.watch(Shared::StreamAnswers);
        let until = Instant::now() + within;
        let id = self.ask(call).await?;
        loop {
            answered.mark_unchanged();
            let connection = self.inner.pool.get().await?;
            if let Some(row) = connection.first(COLLECT, &[&id]).await? {
                return Ok(Some(answer(&row)));
            }
            let pending = connection.first(IS_PENDING, &[&id, &Duty::Streams.name()]).await?;
            if pending.is_none() || Instant::now() >= until {
                connection.execute(FORGET, &[&id]).await?;
                return Ok(None);
            }
            drop(connection);
            let _ = timeout(LOOK_EVERY, answered.changed()).await;
        }
    }

    async fn ask(&self, call: &StreamCall) -> Result<String, Error> {
        let StreamCall { tenant, method, path, content_type, body } = call;
        let params: [Param; 5] = [tenant, method, path, content_type, &body.as_ref()];
        let mut connection = self.inner.begin().await?;
        let row = connection.first(ASK, &params).await?;
        let id = row.map(|row| row.get(0)).ok_or(Error::Broken { what: "call" })?;
        let note = format!("{} 0", Shared::StreamCalls.name());
        connection.query(NOTIFY, &[&note]).await?;
        connection.commit().await?;
        Ok(id)
    }

    pub async fn take_stream_calls(&self) -> Result<Vec<(String, StreamCall)>, Error> {
        let mut asked = self.inner.newest.watch(Shared::StreamCalls);
        loop {
            asked.mark_unchanged();
            let mut connection = self.begin().await?;
            let rows = connection.query(TAKE, &[&self.epoch()]).await?;
            if rows.is_empty() {
                connection.execute(FORGET_OLD, &[]).await?;
            }
            connection.commit().await?;
            drop(connection);
            if !rows.is_empty() {
                return Ok(rows.iter().map(call).collect());
            }
            let _ = timeout(TAKE_EVERY, asked.changed()).await;
        }
    }

    pub async fn answer_stream_call(&self, id: &str, answer: &StreamAnswer) -> Result<(), Error> {
        let (names, values): (Vec<&str>, Vec<&str>) =
            answer.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).unzip();
        let (status, body) = (i32::from(answer.status), answer.body.as_ref());
        let params: [Param; 5] = [&id, &status, &names, &values, &body];
        let mut connection = self.inner.begin().await?;
        connection.execute(ANSWER, &params).await?;
        let note = format!("{} 0", Shared::StreamAnswers.name());
        connection.query(NOTIFY, &[&note]).await?;
        connection.commit().await
    }
}

fn call(row: &Row) -> (String, StreamCall) {
    let call = StreamCall {
        tenant: row.get(1),
        method: row.get(2),
        path: row.get(3),
        content_type: row.get(4),
        body: row.get::<_, Vec<u8>>(5).into(),
    };
    (row.get(0), call)
}
