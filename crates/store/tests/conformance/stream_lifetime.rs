//! What is left of streams after pruning, after removal, after a crash, and in a backup.

use std::collections::BTreeSet;

use alloy_primitives::Address;
use bytes::Bytes;
use store::{
    AttemptsQuery, BackupRequest, Delivery, DeliveryKind, FailedQuery, Store, StreamChange,
    StreamId,
};

use crate::chain::CHAIN;
use crate::engine::{Choices, Engine, on_every_engine, on_the_embedded_engine};
use crate::home::{Home, scratch};
use crate::stream_made::*;

on_every_engine!(
    pruning_takes_what_ended_and_leaves_what_waits,
    pruning_stops_at_its_limit,
    pruning_takes_what_waits_for_traces_only,
    removing_a_stream_removes_all_of_it_and_nothing_else,
    all_of_it_is_there_after_opening_again_and_after_a_crash,
);
on_the_embedded_engine!(all_of_it_is_in_a_backup);

/// Everything that can be asked of a stream, as one text.
pub async fn all_of(store: &Store, id: StreamId, tenant: &str) -> String {
    let deliveries = store.deliveries(id, 0, usize::MAX).await.unwrap();
    let mut bodies = Vec::new();
    for delivery in &deliveries {
        bodies.push(store.delivery_body(id, delivery.seq).await.unwrap());
    }
    let (tenant, stream, limit) = (tenant.to_owned(), Some(id), usize::MAX);
    let attempts = AttemptsQuery { tenant: tenant.clone(), stream, limit, ..Default::default() };
    let failed = FailedQuery { tenant, stream, limit, ..Default::default() };
    let due = store.due_retries(u64::MAX, BTreeSet::new(), usize::MAX).await.unwrap();
    let due: Vec<_> = due.into_iter().filter(|(_, of, _)| *of == id).collect();
    let streams = store.streams().await.unwrap();
    format!(
        "{:?}\n{deliveries:?}\n{bodies:?}\n{due:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        streams.into_iter().filter(|row| row.id == id).collect::<Vec<_>>(),
        store.stream_queue(id).await.unwrap(),
        store.stream_totals(id).await.unwrap(),
        store.stream_addresses(id, None, usize::MAX).await.unwrap(),
        store.kept_matches(CHAIN, 0..=u64::MAX, Some(id)).await.unwrap(),
        store.attempts_page(attempts).await.unwrap(),
        store.failed_page(failed).await.unwrap(),
    )
}

/// One of each kind of row: a delivery that was taken, one given up, one that is retried, one untried, a match,
/// addresses.
async fn fill(store: &Store, id: StreamId, tenant: &str) -> Vec<Delivery> {
    store.put_stream(stream(id, tenant)).await.unwrap();
    let addresses = vec![Address::repeat_byte(1), Address::repeat_byte(2)];
    store.change_stream_addresses(id, addresses, Vec::new()).await.unwrap();
    let mut matcher = Matcher::open(store, &format!("of {id}")).await;
    let mut deliveries: Vec<_> = (1..=3).map(|number| confirmed(id, number)).collect();
    deliveries.push(of_kind(DeliveryKind::Unconfirmed, id, 4));
    let keep = vec![a_match(id, 4, Some(3))];
    let made = matcher.commit(StreamChange { deliveries, keep, ..StreamChange::default() }).await;
    let records = vec![
        failed((id, 1), 1, 100, Some(110)),
        failed((id, 2), 1, 101, None),
        failed((id, 3), 1, 102, Some(500)),
        delivered((id, 1), 2, 110),
    ];
    store.record_attempts(records).await.unwrap();
    made
}

async fn seqs(store: &Store, id: StreamId) -> Vec<u64> {
    let deliveries = store.deliveries(id, 0, 99).await.unwrap();
    deliveries.iter().map(|delivery| delivery.seq).collect()
}

/// Number and time of what the lists show of a stream.
async fn listed(store: &Store, id: StreamId) -> (Vec<(u64, u64)>, Vec<(u64, u64)>) {
    let (tenant, stream, limit) = ("ours".to_owned(), Some(id), 99);
    let query = AttemptsQuery { tenant: tenant.clone(), stream, limit, ..Default::default() };
    let attempts = store.attempts_page(query).await.unwrap();
    let query = FailedQuery { tenant, stream, limit, ..Default::default() };
    let failed = store.failed_page(query).await.unwrap();
    let places = |page: Vec<(store::ListAnchor, _, _)>| {
        page.into_iter().map(|(at, _, _): (_, Delivery, _)| (at.seq, at.at_ms)).collect()
    };
    (places(attempts), places(failed))
}

async fn pruning_takes_what_ended_and_leaves_what_waits(engine: Engine) {
    let mut home = Home::new(engine).await;
    let made = fill(home.store(), A, "ours").await;
    let queue = home.store().stream_queue(A).await.unwrap();
    assert_eq!(home.store().prune_deliveries(101, 99).await.unwrap(), 0, "none ended before");
    let (attempts, failed) = listed(home.store(), A).await;
    assert_eq!(attempts, [(1, 110), (3, 102), (2, 101)], "an attempt was older");
    assert_eq!(failed, [(3, 102), (2, 101)]);
    assert_eq!(home.store().prune_deliveries(102, 99).await.unwrap(), 1);
    assert_eq!(seqs(home.store(), A).await, [1, 3, 4]);
    assert_eq!(home.store().delivery_body(A, 2).await.unwrap(), None);
    home.reopen().await;
    let store = home.store();
    assert_eq!(store.prune_deliveries(u64::MAX, 99).await.unwrap(), 1);
    assert_eq!(seqs(store, A).await, [3, 4], "these wait");
    let body = store.delivery_body(A, 3).await.unwrap();
    assert_eq!(body, Some(confirmed(A, 3).body));
    assert_eq!(store.delivery(A, 3).await.unwrap().unwrap().state.due_ms, Some(500));
    assert_eq!(store.due_retries(500, BTreeSet::new(), 9).await.unwrap(), [(500, A, 3)]);
    assert_eq!(listed(store, A).await, (vec![], vec![(3, 102)]), "it still stands as failed");
    assert_eq!(store.stream_queue(A).await.unwrap(), queue);
    assert_eq!(store.kept_matches(CHAIN, 0..=4, None).await.unwrap().len(), 1);
    // The chain of digests goes on.
    let mut matcher = Matcher::open(store, &format!("of {A}")).await;
    let next = matcher.deliver(vec![confirmed(A, 5)]).await;
    assert_eq!((next[0].seq, next[0].previous_digest), (5, made[3].digest));
    // All of it may be pruned, and numbers still go on.
    let done = [3, 4, 5].map(|seq| delivered((A, seq), 2, 600));
    store.record_attempts(done.into()).await.unwrap();
    assert_eq!(store.prune_deliveries(601, 99).await.unwrap(), 3);
    assert_eq!(seqs(store, A).await, [0; 0]);
    assert_eq!(listed(store, A).await, (vec![], vec![]));
    // The match holds its own bodies.
    let kept = store.kept_matches(CHAIN, 0..=4, Some(A)).await.unwrap();
    assert_eq!(
        kept[0].parts.iter().map(|(_, body)| body.clone()).collect::<Vec<Bytes>>(),
        ["first", "second"]
    );
    let last = matcher.deliver(vec![confirmed(A, 6)]).await;
    assert_eq!((last[0].seq, last[0].previous_digest), (6, next[0].digest));
    assert!(store.check(|_| ()).await.unwrap().holds());
}

async fn pruning_stops_at_its_limit(engine: Engine) {
    let home = Home::new(engine).await;
    let store = home.store();
    put_streams(store, &[A, Z]).await;
    let mut matcher = Matcher::open(store, "live").await;
    for id in [A, Z] {
        matcher.deliver((1..=1500).map(|number| confirmed(id, number)).collect()).await;
        // Each ends in a millisecond of its own, the last first.
        let records = (1..=1500).map(|seq| delivered((id, seq), 1, 5000 - seq));
        store.record_attempts(records.collect()).await.unwrap();
    }
    assert_eq!(store.prune_deliveries(9999, 0).await.unwrap(), 0);
    assert_eq!(store.prune_deliveries(9999, 3).await.unwrap(), 3);
    let left = async |id| store.deliveries(id, 0, 9999).await.unwrap().len();
    assert_eq!((left(A).await, left(Z).await), (1498, 1499), "those that ended first");
    assert_eq!(store.prune_deliveries(5000 - 1000, 9999).await.unwrap(), 997);
    assert_eq!((left(A).await, left(Z).await), (1000, 1000));
    assert_eq!(store.prune_deliveries(9999, 1200).await.unwrap(), 1200);
    assert_eq!(store.prune_deliveries(9999, 1200).await.unwrap(), 800);
    assert_eq!(store.prune_deliveries(9999, 1200).await.unwrap(), 0);
    assert_eq!((left(A).await, left(Z).await), (0, 0));
    assert!(store.check(|_| ()).await.unwrap().holds());
}

async fn pruning_takes_what_waits_for_traces_only(engine: Engine) {
    let home = Home::new(engine).await;
    let store = home.store();
    put_streams(store, &[A]).await;
    let mut matcher = Matcher::open(store, "live").await;
    let untraced = |number| {
        let mut delivery = confirmed(A, number);
        delivery.meta.traces_missing = true;
        delivery
    };
    // Of block 1 nothing but traces is to come; block 3 is not confirmed yet.
    let marker = store::NewMatch { parts: Vec::new(), ..a_match(A, 1, Some(0)) };
    let keep = vec![marker, a_match(A, 3, Some(1))];
    let deliveries = vec![untraced(1), untraced(3)];
    matcher.commit(StreamChange { deliveries, keep, ..StreamChange::default() }).await;
    let kept = async || {
        let kept = store.kept_matches(CHAIN, 0..=9, None).await.unwrap();
        kept.iter().map(|kept| kept.number).collect::<Vec<_>>()
    };
    assert_eq!(kept().await, [1, 3]);
    let ended = [1, 2].map(|seq| delivered((A, seq), 1, 100));
    store.record_attempts(ended.into()).await.unwrap();
    assert_eq!(store.prune_deliveries(101, 99).await.unwrap(), 2);
    assert_eq!(kept().await, [3], "nothing can amend a delivery that is forgotten");
    assert!(store.check(|_| ()).await.unwrap().holds());
}

async fn removing_a_stream_removes_all_of_it_and_nothing_else(engine: Engine) {
    let mut home = Home::new(engine).await;
    let empty = Home::new(engine).await;
    for (id, tenant) in [(A, "ours"), (B, "ours"), (Z, "others")] {
        fill(home.store(), id, tenant).await;
    }
    let mut before = Vec::new();
    for (id, tenant) in [(A, "ours"), (Z, "others")] {
        before.push(all_of(home.store(), id, tenant).await);
    }
    assert!(home.store().remove_stream(B).await.unwrap());
    assert!(!home.store().remove_stream(B).await.unwrap(), "there is nothing left");
    home.reopen().await;
    let store = home.store();
    let nothing = all_of(empty.store(), B, "ours").await;
    assert_eq!(all_of(store, B, "ours").await, nothing);
    for ((id, tenant), before) in [(A, "ours"), (Z, "others")].into_iter().zip(before) {
        assert_eq!(all_of(store, id, tenant).await, before);
    }
    assert!(store.check(|_| ()).await.unwrap().holds());
    // One of the same id begins anew, with nothing of the old one.
    put_streams(store, &[B]).await;
    let mut matcher = Matcher::open(store, "new").await;
    assert_eq!(matcher.deliver(vec![confirmed(B, 9)]).await[0].seq, 1);
    assert_eq!(listed(store, B).await, (vec![], vec![]));
    for id in [A, B, Z] {
        assert!(store.remove_stream(id).await.unwrap());
    }
    // Not a row is left.
    store.compact().await.unwrap();
    let is_of_streams = |name: &str| name.starts_with("stream") || name.starts_with("deliver");
    let sizes = store.table_sizes().await;
    let left: Vec<_> =
        sizes.iter().filter(|table| is_of_streams(table.name) && table.rows > 0).collect();
    assert!(left.is_empty(), "{left:?}");
}

async fn all_of_it_is_there_after_opening_again_and_after_a_crash(engine: Engine) {
    let mut home = Home::with(engine, Choices { durable: true, ..Choices::default() }).await;
    fill(home.store(), A, "ours").await;
    fill(home.store(), Z, "others").await;
    let mut before = Vec::new();
    for (id, tenant) in [(A, "ours"), (Z, "others")] {
        before.push(all_of(home.store(), id, tenant).await);
    }
    for crashes in [false, true, false] {
        if crashes {
            home.crash().await;
        } else {
            home.reopen().await;
        }
        for ((id, tenant), before) in [(A, "ours"), (Z, "others")].into_iter().zip(&before) {
            assert_eq!(all_of(home.store(), id, tenant).await, *before);
        }
        let report = home.store().check(|_| ()).await.unwrap();
        assert!(report.holds(), "{report:?}");
    }
}

async fn all_of_it_is_in_a_backup(engine: Engine) {
    let home = Home::indexed(engine, &crate::chain::small_chain(82, 4)).await;
    fill(home.store(), A, "ours").await;
    home.store().put_stream_settings("ours", b"set".to_vec()).await.unwrap();
    let before = all_of(home.store(), A, "ours").await;
    let folder = scratch();
    let (backup, place) = (folder.path().join("backup"), folder.path().join("place"));
    let request = BackupRequest { folder: backup.clone(), taken_at: "now".into() };
    home.store().backup(request, Default::default()).await.unwrap();
    home.store().remove_stream(A).await.unwrap();
    engine.restore(&backup, &place).await.unwrap();
    let store = engine.open(&place, Choices::default()).await.unwrap();
    assert_eq!(all_of(&store, A, "ours").await, before);
    assert_eq!(store.stream_settings("ours").await.unwrap(), Some(b"set".to_vec()));
    let mut matcher = Matcher::open(&store, &format!("of {A}")).await;
    assert_eq!(matcher.deliver(vec![confirmed(A, 5)]).await[0].seq, 5);
    assert!(store.check(|_| ()).await.unwrap().holds());
}
