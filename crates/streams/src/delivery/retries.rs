//! Retries: the store knows which are due; this takes them up, the most overdue first, as far as their streams are
//! to be sent. Streams that are not, or that have enough under way, are passed over and hold nobody up.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{AttemptRecord, CLAIM, StreamId};

use super::attempt::{Attempt, Reason};
use super::in_flight::Ticket;
use super::shared::{Shared, lock};
use crate::clock::now_ms;

const LOOKING: &str = "looking for webhook retries that are due";
const SENDING: &str = "retries of webhooks";
const PAGE: usize = 256;
/// How far ahead is looked for the next one; and the longest time without a look.
const LOOK_AHEAD_MS: u64 = 60_000;
/// Results come many at a time, and each is a reason to look.
const LOOK_PAUSE: Duration = Duration::from_millis(20);

pub(super) async fn keep(shared: Arc<Shared>) {
    let _running = shared.running.begin();
    let kept = shared.tasks.keep_running(LOOKING, || shared.is_stopping(), || run(&shared));
    shared.unless_stopping(kept).await;
}

async fn run(shared: &Arc<Shared>) -> Result<(), store::Error> {
    loop {
        let began = Instant::now();
        let pause = take_up(shared).await?;
        shared.tasks.recovered(LOOKING);
        // Looking must stay a small part of the work, however many streams have something due.
        let rest = LOOK_PAUSE.max(began.elapsed() * 4);
        tokio::time::sleep(rest).await;
        let _ = tokio::time::timeout(pause, shared.retry_wake.notified()).await;
    }
}

/// Takes up all that is due and can be; says how long it is until the next one.
async fn take_up(shared: &Arc<Shared>) -> Result<Duration, store::Error> {
    lock(&shared.held)
        .retain(|stream| shared.directory.target(*stream).is_some_and(|target| !target.is_sending));
    loop {
        let limit = PAGE + shared.in_flight.retries();
        let now_ms = now_ms();
        let due = shared.store.due_retries(now_ms, passed_over(shared), limit).await?;
        let is_all = due.len() < limit;
        let mut changed = false;
        let streams: BTreeSet<StreamId> = due.iter().map(|(_, stream, _)| *stream).collect();
        shared.directory.prepare(&streams.into_iter().collect::<Vec<_>>()).await?;
        for (due_ms, stream, seq) in due {
            if !is_sending(shared, stream) {
                changed |= lock(&shared.held).insert(stream);
                // Who made it active meanwhile did not find it among those that are held.
                if is_sending(shared, stream) {
                    lock(&shared.held).remove(&stream);
                }
            } else if let Some(ticket) = shared.in_flight.enter_retry(stream, seq) {
                changed = true;
                let running = shared.running.begin();
                let shared = shared.clone();
                tokio::spawn(async move {
                    let _running = running;
                    keep_trying(&shared, ticket, Due { stream, seq, due_ms }).await;
                });
            }
        }
        // What was passed over in this look may have hidden others.
        if is_all || !changed || shared.is_stopping() {
            return time_to_next(shared, now_ms).await;
        }
    }
}

fn is_sending(shared: &Shared, stream: StreamId) -> bool {
    shared.directory.target(stream).is_some_and(|target| target.is_sending)
}

/// Those under way come back with a result, which is a reason to look again.
fn passed_over(shared: &Shared) -> BTreeSet<StreamId> {
    let mut streams = lock(&shared.held).clone();
    streams.extend(shared.in_flight.busy());
    streams
}

async fn time_to_next(shared: &Shared, now_ms: u64) -> Result<Duration, store::Error> {
    let until_ms = now_ms + LOOK_AHEAD_MS;
    let limit = 1 + shared.in_flight.retries();
    let ahead = shared.store.due_retries(until_ms, passed_over(shared), limit).await?;
    let next_ms = ahead.iter().map(|(due_ms, _, _)| *due_ms).find(|due_ms| *due_ms > now_ms);
    Ok(Duration::from_millis(next_ms.unwrap_or(until_ms) - now_ms))
}

/// A retry whose time had come when it was looked for.
#[derive(Clone, Copy)]
struct Due {
    stream: StreamId,
    seq: u64,
    due_ms: u64,
}

async fn keep_trying(shared: &Shared, ticket: Ticket, due: Due) {
    let attempt = || attempt(shared, due);
    let attempted = shared.tasks.keep_running(SENDING, || shared.is_stopping(), attempt).await;
    match attempted.flatten() {
        Some(record) => shared.writer.put(record, ticket).await,
        None => {
            drop(ticket);
            shared.retry_wake.notify_one();
        }
    }
}

/// None where it was deleted, or sent meanwhile, or cannot be sent now, or is another sender's.
async fn attempt(
    shared: &Shared,
    Due { stream, seq, due_ms }: Due,
) -> Result<Option<AttemptRecord>, store::Error> {
    // Whatever becomes of this sender, it is due again then.
    let until_ms = now_ms() + shared.config.timeout_ms.saturating_mul(2) + CLAIM.as_millis() as u64;
    if !shared.store.claim_retry((stream, seq), due_ms, until_ms).await? {
        return Ok(None);
    }
    let delivery = shared.store.delivery(stream, seq).await?;
    let Some(delivery) = delivery.filter(|it| it.state.due_ms.is_some()) else {
        return Ok(None);
    };
    let queue_size = shared.store.stream_queue(stream).await?.waiting;
    let attempt = Attempt::new(&delivery, queue_size, Reason::Due);
    Ok(shared.attempt(attempt).await)
}
