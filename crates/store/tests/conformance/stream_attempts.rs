//! Attempts: what they leave of a queue, which retries are due, and the lists that tenants see.

use std::collections::BTreeSet;

use store::{
    AttemptRecord, AttemptsQuery, DeliveryState, FailedQuery, ListAnchor, Store, StreamId,
    StreamTotals,
};

use crate::chain::CHAIN;
use crate::engine::{Engine, on_every_engine};
use crate::home::Home;
use crate::stream_made::*;

on_every_engine!(
    a_queue_follows_its_attempts,
    first_attempts_that_end_out_of_order_are_counted_without_holes,
    the_most_overdue_retry_comes_first,
    lists_are_paged_without_repeating_or_leaving_out,
    lists_are_filtered,
    a_delivery_that_was_taken_at_last_is_no_longer_among_the_failed,
    records_of_what_is_gone_are_left_out,
);

/// A stream with so many deliveries, of blocks 1 and up.
async fn queued(home: &Home, id: StreamId, count: u64) {
    put_streams(home.store(), &[id]).await;
    let mut matcher = Matcher::open(home.store(), &format!("of {id}")).await;
    matcher.deliver((1..=count).map(|number| confirmed(id, number)).collect()).await;
}

/// Tried up to here, and how many wait with how many bytes.
async fn queue(store: &Store, id: StreamId) -> (u64, u64, u64) {
    let queue = store.stream_queue(id).await.unwrap();
    (queue.tried_seq, queue.waiting, queue.waiting_bytes)
}

async fn a_queue_follows_its_attempts(engine: Engine) {
    let mut home = Home::new(engine).await;
    queued(&home, A, 3).await;
    let bytes = confirmed(A, 1).body.len() as u64;
    let store = home.store();
    assert_eq!(queue(store, A).await, (0, 3, 3 * bytes));
    store.record_attempts(vec![failed((A, 1), 1, 10, Some(50))]).await.unwrap();
    assert_eq!(queue(store, A).await, (1, 3, 3 * bytes), "it waits for its second attempt");
    // Two attempts of one delivery, and one of another, in one write.
    let records =
        vec![failed((A, 1), 2, 50, Some(90)), delivered((A, 2), 1, 51), delivered((A, 1), 3, 90)];
    store.record_attempts(records).await.unwrap();
    assert_eq!(queue(store, A).await, (2, 1, bytes));
    let totals = store.stream_totals(A).await.unwrap();
    assert_eq!((totals.webhooks_delivered, totals.webhooks_failed), (2, 2));
    store.record_attempts(vec![failed((A, 3), 1, 60, None)]).await.unwrap();
    assert_eq!(queue(store, A).await, (3, 0, 0), "nobody waits for one that was given up");
    home.reopen().await;
    let store = home.store();
    let first = store.delivery(A, 1).await.unwrap().unwrap();
    assert_eq!(first.state, delivered((A, 1), 3, 90).state);
    assert_eq!(store.due_retries(u64::MAX, BTreeSet::new(), 9).await.unwrap(), []);
    // Somebody asks for it again: no attempt was made, and it waits.
    let mut again = failed((A, 3), 1, 70, Some(70));
    again.log = None;
    store.record_attempts(vec![again]).await.unwrap();
    assert_eq!(queue(store, A).await, (3, 1, bytes));
    assert_eq!(store.due_retries(70, BTreeSet::new(), 9).await.unwrap(), [(70, A, 3)]);
    let again = delivered((A, 3), 2, 71);
    store.record_attempts(vec![again]).await.unwrap();
    assert_eq!(queue(store, A).await, (3, 0, 0));
    let totals = store.stream_totals(A).await.unwrap();
    let expected = StreamTotals { webhooks_delivered: 3, webhooks_failed: 3, ..totals };
    assert_eq!(totals, expected);
    assert!(store.check(|_| ()).await.unwrap().holds());
}

async fn first_attempts_that_end_out_of_order_are_counted_without_holes(engine: Engine) {
    let home = Home::new(engine).await;
    queued(&home, A, 5).await;
    let store = home.store();
    let tried = async || store.stream_queue(A).await.unwrap().tried_seq;
    store.record_attempts(vec![delivered((A, 3), 1, 1), delivered((A, 2), 1, 2)]).await.unwrap();
    assert_eq!(tried().await, 0);
    assert_eq!(store.prune_deliveries(100, 9).await.unwrap(), 0, "the queue needs to know of them");
    store.record_attempts(vec![failed((A, 1), 1, 3, Some(9))]).await.unwrap();
    assert_eq!(tried().await, 3);
    // One that will never be tried is not waited for.
    let given_up = DeliveryState { given_up: true, ..DeliveryState::default() };
    let record = delivered((A, 4), 0, 4);
    let record = AttemptRecord { state: given_up, log: None, ..record };
    store.record_attempts(vec![record, delivered((A, 5), 1, 5)]).await.unwrap();
    assert_eq!(tried().await, 5);
    let totals = store.stream_totals(A).await.unwrap();
    assert_eq!((totals.webhooks_delivered, totals.webhooks_failed), (3, 1));
}

async fn the_most_overdue_retry_comes_first(engine: Engine) {
    let mut home = Home::new(engine).await;
    for id in [Z, A, B] {
        queued(&home, id, 4).await;
    }
    let due = [(A, 1, 30), (A, 2, 10), (A, 3, 20), (B, 1, 20), (Z, 1, 5), (Z, 2, 20), (Z, 3, 31)];
    let records = due.map(|(id, seq, due_ms)| failed((id, seq), 1, 1, Some(due_ms)));
    home.store().record_attempts(records.into()).await.unwrap();
    home.reopen().await;
    let store = home.store();
    let due = async |until, but: &[StreamId], limit| {
        store.due_retries(until, but.iter().copied().collect(), limit).await.unwrap()
    };
    let all = [(5, Z, 1), (10, A, 2), (20, A, 3), (20, B, 1), (20, Z, 2), (30, A, 1)];
    assert_eq!(due(30, &[], 99).await, all);
    for limit in 0..all.len() {
        assert_eq!(due(30, &[], limit).await, all[..limit]);
    }
    assert_eq!(due(19, &[], 9).await, all[..2]);
    assert_eq!(due(4, &[], 9).await, []);
    assert_eq!(due(30, &[A, Z], 9).await, [(20, B, 1)]);
    assert_eq!(due(30, &[A, B, Z], 9).await, []);
    // A later time takes the place of the earlier one.
    store.record_attempts(vec![failed((Z, 1), 2, 6, Some(21))]).await.unwrap();
    assert_eq!(due(30, &[A], 9).await, [(20, B, 1), (20, Z, 2), (21, Z, 1)]);
    store
        .record_attempts(vec![delivered((Z, 1), 3, 21), failed((B, 1), 2, 20, None)])
        .await
        .unwrap();
    assert_eq!(due(u64::MAX, &[A], 9).await, [(20, Z, 2), (31, Z, 3)]);
    assert!(store.check(|_| ()).await.unwrap().holds());
}

/// Stream, number and retries, as a list shows them.
type Shown = Vec<(StreamId, u64, u32)>;

async fn attempts(store: &Store, query: AttemptsQuery) -> Shown {
    let tenant = if query.tenant.is_empty() { "ours".to_owned() } else { query.tenant.clone() };
    let page = store.attempts_page(AttemptsQuery { tenant, ..query }).await.unwrap();
    let mut shown = Vec::new();
    for (at, delivery, log) in page {
        assert_eq!((at.stream, at.seq), (delivery.stream, delivery.seq));
        assert_eq!(at.retries, log.retries);
        let stored = store.delivery(at.stream, at.seq).await.unwrap().unwrap();
        assert_eq!(delivery, stored);
        shown.push((at.stream, at.seq, at.retries));
    }
    shown
}

async fn failures(store: &Store, query: FailedQuery) -> Shown {
    let tenant = if query.tenant.is_empty() { "ours".to_owned() } else { query.tenant.clone() };
    let page = store.failed_page(FailedQuery { tenant, ..query }).await.unwrap();
    page.into_iter().map(|(at, ..)| (at.stream, at.seq, at.retries)).collect()
}

fn every() -> AttemptsQuery {
    AttemptsQuery { limit: 99, ..AttemptsQuery::default() }
}

fn every_failed() -> FailedQuery {
    FailedQuery { limit: 99, ..FailedQuery::default() }
}

async fn lists_are_paged_without_repeating_or_leaving_out(engine: Engine) {
    let mut home = Home::new(engine).await;
    for id in [A, Z] {
        queued(&home, id, 9).await;
    }
    let mut records = Vec::new();
    for (n, seq) in (1..=9).enumerate() {
        // Several in one millisecond, of one stream and of both.
        let at_ms = 100 + n as u64 / 4;
        records.push(failed((A, seq), 1, at_ms, Some(900)));
        records.push(failed((Z, seq), 1, at_ms, Some(900)));
        records.push(failed((A, seq), 2, at_ms, Some(901)));
    }
    home.store().record_attempts(records).await.unwrap();
    home.reopen().await;
    let store = home.store();
    let all = attempts(store, every()).await;
    assert_eq!(all.len(), 27);
    assert_eq!(all[0], (A, 9, 1), "newest first");
    let all_failed = failures(store, every_failed()).await;
    assert_eq!(all_failed.len(), 18, "one of each delivery");
    for limit in [1, 2, 5, 26, 27] {
        let (mut found, mut found_failed) = (Shown::new(), Shown::new());
        let mut below: Option<ListAnchor> = None;
        loop {
            let query = AttemptsQuery { tenant: "ours".into(), below, limit, ..every() };
            let page = store.attempts_page(query).await.unwrap();
            let Some((last, ..)) = page.last() else { break };
            below = Some(*last);
            found.extend(page.iter().map(|(at, ..)| (at.stream, at.seq, at.retries)));
            // What is new meanwhile is above.
            let new = failed((Z, 9), 7, 10_000 + found.len() as u64, Some(900));
            store.record_attempts(vec![new]).await.unwrap();
        }
        let known: Shown = found.iter().filter(|(.., retries)| *retries < 6).copied().collect();
        assert_eq!(known, all, "{limit}");
        below = None;
        loop {
            let query = FailedQuery { tenant: "ours".into(), below, limit, ..every_failed() };
            let page = store.failed_page(query).await.unwrap();
            let Some((last, ..)) = page.last() else { break };
            below = Some(*last);
            found_failed.extend(page.iter().map(|(at, ..)| (at.stream, at.seq, 0)));
        }
        assert_eq!(found_failed.len(), all_failed.len());
        assert_eq!(found_failed.iter().collect::<BTreeSet<_>>().len(), all_failed.len());
    }
    assert_eq!(attempts(store, AttemptsQuery { limit: 0, ..every() }).await, []);
}

async fn lists_are_filtered(engine: Engine) {
    let home = Home::new(engine).await;
    let store = home.store();
    store.put_stream(stream(B, "others")).await.unwrap();
    put_streams(store, &[A, Z]).await;
    let mut matcher = Matcher::open(store, "live").await;
    let mut elsewhere = confirmed(A, 7);
    elsewhere.meta.chain = OTHER_CHAIN;
    let deliveries = vec![confirmed(A, 5), confirmed(A, 6), elsewhere, confirmed(Z, 6)];
    matcher.deliver(deliveries).await;
    matcher.deliver(vec![confirmed(B, 5)]).await;
    let records = vec![
        failed((A, 1), 1, 10, Some(99)),
        delivered((A, 2), 1, 20),
        failed((A, 3), 1, 30, Some(99)),
        failed((Z, 1), 1, 40, Some(99)),
        failed((A, 1), 2, 50, None),
        failed((B, 1), 1, 60, None),
    ];
    store.record_attempts(records).await.unwrap();
    let (a1, a1_again, a2) = ((A, 1, 0), (A, 1, 1), (A, 2, 0));
    let (a3, z1) = ((A, 3, 0), (Z, 1, 0));
    assert_eq!(attempts(store, every()).await, [a1_again, z1, a3, a2, a1]);
    assert_eq!(failures(store, every_failed()).await, [a1_again, z1, a3]);
    let theirs = AttemptsQuery { tenant: "others".into(), ..every() };
    assert_eq!(attempts(store, theirs).await, [(B, 1, 0)]);
    let nobodys = AttemptsQuery { tenant: "other".into(), ..every() };
    assert_eq!(attempts(store, nobodys).await, []);
    let only = |failed| AttemptsQuery { failed: Some(failed), ..every() };
    assert_eq!(attempts(store, only(false)).await, [a2]);
    assert_eq!(attempts(store, only(true)).await, [a1_again, z1, a3, a1]);
    let of = |stream| AttemptsQuery { stream: Some(stream), ..every() };
    assert_eq!(attempts(store, of(Z)).await, [z1]);
    assert_eq!(attempts(store, AttemptsQuery { limit: 2, ..of(A) }).await, [a1_again, a3]);
    assert_eq!(attempts(store, of(B)).await, [], "of another tenant");
    let numbers = |numbers: &[u64]| AttemptsQuery { numbers: numbers.to_vec(), ..every() };
    assert_eq!(attempts(store, numbers(&[6, 7])).await, [z1, a3, a2]);
    let chains = |chains: &[_]| AttemptsQuery { chains: chains.to_vec(), ..every() };
    assert_eq!(attempts(store, chains(&[OTHER_CHAIN])).await, [a3]);
    assert_eq!(attempts(store, chains(&[OTHER_CHAIN, CHAIN])).await.len(), 5);
    let between = |from_ms, to_ms| AttemptsQuery { from_ms, to_ms, ..every() };
    assert_eq!(attempts(store, between(Some(20), Some(40))).await, [z1, a3, a2]);
    assert_eq!(attempts(store, between(Some(21), None)).await, [a1_again, z1, a3]);
    assert_eq!(attempts(store, between(None, Some(10))).await, [a1]);
    assert_eq!(attempts(store, between(Some(0), Some(9))).await, []);
    assert_eq!(attempts(store, between(Some(30), Some(20))).await, []);
    let query = FailedQuery { stream: Some(A), chains: vec![CHAIN], ..every_failed() };
    assert_eq!(failures(store, query).await, [a1_again]);
    let query = FailedQuery { numbers: vec![6], to_ms: Some(40), ..every_failed() };
    assert_eq!(failures(store, query).await, [z1]);
    let query = FailedQuery { from_ms: Some(41), ..every_failed() };
    assert_eq!(failures(store, query).await, [a1_again]);
}

async fn a_delivery_that_was_taken_at_last_is_no_longer_among_the_failed(engine: Engine) {
    let home = Home::new(engine).await;
    queued(&home, A, 3).await;
    let store = home.store();
    let records = [1, 2, 3].map(|seq| failed((A, seq), 1, 10, Some(20)));
    store.record_attempts(records.into()).await.unwrap();
    store.record_attempts(vec![failed((A, 2), 2, 20, None)]).await.unwrap();
    assert_eq!(failures(store, every_failed()).await, [(A, 2, 1), (A, 3, 0), (A, 1, 0)]);
    store.record_attempts(vec![delivered((A, 1), 2, 21)]).await.unwrap();
    // Taken by other means: no attempt is noted.
    let taken = delivered((A, 3), 1, 22);
    store.record_attempts(vec![AttemptRecord { log: None, ..taken }]).await.unwrap();
    assert_eq!(failures(store, every_failed()).await, [(A, 2, 1)]);
    // That it is to be tried again does not mean that it did not fail.
    let mut again = failed((A, 2), 2, 30, Some(30));
    again.log = None;
    store.record_attempts(vec![again]).await.unwrap();
    assert_eq!(failures(store, every_failed()).await, [(A, 2, 1)]);
    store.record_attempts(vec![delivered((A, 2), 3, 31)]).await.unwrap();
    assert_eq!(failures(store, every_failed()).await, []);
    assert_eq!(attempts(store, every()).await.len(), 6);
    assert!(store.check(|_| ()).await.unwrap().holds());
}

async fn records_of_what_is_gone_are_left_out(engine: Engine) {
    let home = Home::new(engine).await;
    queued(&home, A, 1).await;
    queued(&home, B, 1).await;
    let store = home.store();
    assert!(store.remove_stream(B).await.unwrap());
    let records = vec![
        failed((B, 1), 1, 1, Some(2)),
        failed((A, 2), 1, 1, Some(2)),
        failed((Z, 1), 1, 1, Some(2)),
        delivered((A, 1), 1, 1),
    ];
    store.record_attempts(records).await.unwrap();
    store.record_attempts(vec![failed((Z, 1), 1, 1, Some(2))]).await.unwrap();
    store.record_attempts(Vec::new()).await.unwrap();
    assert_eq!(attempts(store, every()).await, [(A, 1, 0)]);
    assert_eq!(store.due_retries(u64::MAX, BTreeSet::new(), 9).await.unwrap(), []);
    assert_eq!(queue(store, A).await, (1, 0, 0));
    assert_eq!(queue(store, B).await, (0, 0, 0));
    assert!(store.check(|_| ()).await.unwrap().holds());
}
