//! How attempts ended: the delivery's state, and everything that follows from it.

use std::collections::{BTreeMap, BTreeSet};

use super::delivery_row::{Known, delivery_columns, read_known};
use super::queues::Queues;
use crate::Error;
use crate::embedded::streams::waits;
use crate::postgres::connection::{Connection, Param};
use crate::postgres::numbers::{option_at, sql, text};
use crate::postgres::store::Store;
use crate::streams::{AttemptRecord, DeliveryState, StreamId};

const DELIVERIES: &str = concat!(
    "select ",
    delivery_columns!(),
    ", d.failed_ms, d.failed_retries, d.ended_ms from unnest($1::bytea[], $2::bigint[]) as p (stream, seq) \
     join deliveries d on d.stream = p.stream and d.seq = p.seq"
);
const STATES: &str = "update deliveries d set attempts = p.attempts, due_ms = p.due_ms, delivered_ms = p.delivered_ms, \
     given_up = p.given_up, error = p.error, failed_ms = p.failed_ms, failed_retries = p.failed_retries, \
     ended_ms = p.ended_ms from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[], \
     $7::text[], $8::bigint[], $9::bigint[], $10::bigint[]) as p (stream, seq, attempts, due_ms, delivered_ms, given_up, \
     error, failed_ms, failed_retries, ended_ms) where d.stream = p.stream and d.seq = p.seq";
const ADD_ATTEMPT: &str = "insert into stream_attempts (tenant, at_ms, stream, seq, retries, chain, number, webhook_url, \
     tag, error) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (tenant, at_ms, stream, seq, retries) \
     do update set webhook_url = excluded.webhook_url, tag = excluded.tag, error = excluded.error";
const ADD_FAILED: &str = "insert into stream_failed (tenant, at_ms, stream, seq, retries, chain, number, webhook_url, \
     tag, error) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (tenant, at_ms, stream, seq, retries) \
     do update set webhook_url = excluded.webhook_url, tag = excluded.tag, error = excluded.error";
const DROP_FAILED: &str = "delete from stream_failed where tenant = $1 and at_ms = $2 and stream = $3 and seq = $4 \
     and retries = $5";
/// The first delivery behind those that were tried whose first attempt is still to come.
const UNTRIED: &str = "select min(seq) from deliveries where stream = $1 and seq > $2 and attempts = 0 \
     and delivered_ms is null and not given_up";

type Place = (StreamId, u64);

impl Store {
    pub async fn record_attempts(&self, records: &[AttemptRecord]) -> Result<(), Error> {
        if records.is_empty() {
            return Ok(());
        }
        let done = self.write_attempts(records).await;
        self.inner.wrote(done)
    }

    async fn write_attempts(&self, records: &[AttemptRecord]) -> Result<(), Error> {
        let mut connection = self.inner.begin().await?;
        // It survives the process; after a power cut the last ones may be made again.
        connection.run("set local synchronous_commit = off").await?;
        let mut queues = Queues::lock(&connection, records.iter().map(|it| it.stream)).await?;
        let mut known = deliveries(&connection, records).await?;
        let mut changed: BTreeSet<Place> = BTreeSet::new();
        for record in records {
            let place = (record.stream, record.seq);
            let Some(at) = known.get_mut(&place) else { continue };
            if record_one(&connection, &mut queues, record, at).await? {
                changed.insert(place);
            }
        }
        write_states(&connection, changed.iter().filter_map(|place| known.get(place))).await?;
        advance_tried(&connection, &mut queues, &changed).await?;
        queues.write(&connection).await?;
        connection.commit().await
    }
}

async fn deliveries(
    connection: &Connection,
    records: &[AttemptRecord],
) -> Result<BTreeMap<Place, Known>, Error> {
    let places: BTreeSet<Place> = records.iter().map(|it| (it.stream, it.seq)).collect();
    let (streams, seqs): (Vec<&[u8]>, Vec<i64>) =
        places.iter().map(|(stream, seq)| (stream.as_slice(), sql(*seq))).unzip();
    let mut known = BTreeMap::new();
    for row in connection.query(DELIVERIES, &[&streams, &seqs]).await? {
        let row = read_known(&row);
        known.insert((row.delivery.stream, row.delivery.seq), row);
    }
    Ok(known)
}

/// False where its stream is gone.
async fn record_one(
    connection: &Connection,
    queues: &mut Queues,
    record: &AttemptRecord,
    known: &mut Known,
) -> Result<bool, Error> {
    let Some(row) = queues.live(record.stream) else { return Ok(false) };
    let new = state_now(&known.delivery.state, record);
    let old: DeliveryState = std::mem::replace(&mut known.delivery.state, new.clone());
    known.ended_ms = (!waits(&new)).then_some(record.at_ms);
    // Whose the stream is, is known here: what a record says of it need not be asked.
    let tenant = row.tenant.clone();
    match (waits(&old), waits(&new)) {
        (true, false) => {
            row.queue.waiting = row.queue.waiting.saturating_sub(1);
            let bytes = known.delivery.body_bytes;
            row.queue.waiting_bytes = row.queue.waiting_bytes.saturating_sub(bytes);
        }
        (false, true) => {
            row.queue.waiting += 1;
            row.queue.waiting_bytes += known.delivery.body_bytes;
        }
        _ => {}
    }
    match record.log.as_ref().map(|log| log.error.is_some()) {
        Some(true) => row.totals.webhooks_failed += 1,
        Some(false) => row.totals.webhooks_delivered += 1,
        None => {}
    }
    list_attempt(connection, &tenant, record, known).await?;
    Ok(true)
}

/// What another sender delivered meanwhile stays delivered: one that was paused may say late that the same attempt failed.
fn state_now(known: &DeliveryState, record: &AttemptRecord) -> DeliveryState {
    let said = &record.state;
    let is_late = record.log.is_some() && said.attempts <= known.attempts;
    if is_late && known.delivered_ms.is_some() && said.delivered_ms.is_none() {
        return known.clone();
    }
    said.clone()
}

/// Into the list of attempts, and into or out of the list of those that failed.
async fn list_attempt(
    connection: &Connection,
    tenant: &str,
    record: &AttemptRecord,
    known: &mut Known,
) -> Result<(), Error> {
    let (stream, seq) = (record.stream.as_slice(), sql(record.seq));
    let is_over = record.log.is_some() || record.state.delivered_ms.is_some();
    if let Some((at_ms, retries)) = known.failed.take_if(|_| is_over) {
        let params: [Param; 5] = [&tenant, &sql(at_ms), &stream, &seq, &i64::from(retries)];
        connection.execute(DROP_FAILED, &params).await?;
    }
    let Some(log) = &record.log else { return Ok(()) };
    let meta = &known.delivery.meta;
    let error = log.error.as_deref().map(text);
    let (url, tag) = (text(&log.webhook_url), text(&log.tag));
    let params: [Param; 10] = [
        &tenant,
        &sql(record.at_ms),
        &stream,
        &seq,
        &i64::from(log.retries),
        &sql(meta.chain.0),
        &sql(meta.number),
        &url,
        &tag,
        &error,
    ];
    if log.error.is_some() {
        connection.execute(ADD_FAILED, &params).await?;
        known.failed = Some((record.at_ms, log.retries));
    }
    connection.execute(ADD_ATTEMPT, &params).await.map(|_| ())
}

async fn write_states(
    connection: &Connection,
    states: impl Iterator<Item = &Known>,
) -> Result<(), Error> {
    let known: Vec<&Known> = states.collect();
    if known.is_empty() {
        return Ok(());
    }
    let state = |it: &&Known| it.delivery.state.clone();
    let streams: Vec<&[u8]> = known.iter().map(|it| it.delivery.stream.as_slice()).collect();
    let seqs: Vec<i64> = known.iter().map(|it| sql(it.delivery.seq)).collect();
    let attempts: Vec<i64> = known.iter().map(|it| i64::from(it.delivery.state.attempts)).collect();
    let due: Vec<Option<i64>> = known.iter().map(|it| state(it).due_ms.map(sql)).collect();
    let delivered: Vec<Option<i64>> =
        known.iter().map(|it| state(it).delivered_ms.map(sql)).collect();
    let given_up: Vec<bool> = known.iter().map(|it| it.delivery.state.given_up).collect();
    let errors: Vec<Option<String>> =
        known.iter().map(|it| it.delivery.state.error.as_deref().map(text)).collect();
    let failed: Vec<Option<i64>> = known.iter().map(|it| it.failed.map(|at| sql(at.0))).collect();
    let retries: Vec<Option<i64>> =
        known.iter().map(|it| it.failed.map(|at| i64::from(at.1))).collect();
    let ended: Vec<Option<i64>> = known.iter().map(|it| it.ended_ms.map(sql)).collect();
    let params: [Param; 10] = [
        &streams, &seqs, &attempts, &due, &delivered, &given_up, &errors, &failed, &retries, &ended,
    ];
    connection.execute(STATES, &params).await.map(|_| ())
}

/// Attempts end in any order; the first ones are counted as far as none is missing.
async fn advance_tried(
    connection: &Connection,
    queues: &mut Queues,
    changed: &BTreeSet<Place>,
) -> Result<(), Error> {
    for (stream, row) in &mut queues.0 {
        let tried = row.queue.tried_seq;
        if row.is_removed || !changed.contains(&(*stream, tried + 1)) {
            continue;
        }
        let found = connection.first(UNTRIED, &[&stream.as_slice(), &sql(tried)]).await?;
        let untried = found.and_then(|found| option_at(&found, 0));
        row.queue.tried_seq = untried.map_or(row.queue.last_seq, |seq| seq.saturating_sub(1));
    }
    Ok(())
}
