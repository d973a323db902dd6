//! Streams and what they matched: numbers without holes, a chain of digests, all in one write with the cursor.

use alloy_primitives::B256;
use bytes::Bytes;
use store::{
    DeliveryKind, Error, KeptMatch, NewDelivery, QueueState, Reader, ReaderRow, Start,
    StreamChange, StreamId, StreamTotals, delivery_digest,
};

use crate::chain::CHAIN;
use crate::engine::{Engine, on_every_engine};
use crate::home::Home;
use crate::stream_made::*;

on_every_engine!(
    streams_and_settings_are_kept_by_id_and_by_tenant,
    deliveries_are_numbered_and_chained_stream_by_stream,
    a_reader_that_was_moved_writes_nothing_of_a_commit,
    matches_are_kept_and_removed_with_the_commit,
    a_reader_is_retired_with_the_commit_of_another,
    what_is_of_a_stream_that_is_gone_is_left_out,
    items_are_counted_when_they_are_first_told_of,
    rows_of_streams_are_no_part_of_the_digest,
);

async fn streams_and_settings_are_kept_by_id_and_by_tenant(engine: Engine) {
    let mut home = Home::new(engine).await;
    assert_eq!(home.store().streams().await.unwrap(), []);
    put_streams(home.store(), &[Z, A]).await;
    let mut changed = stream(A, "ours");
    changed.body = b"another".to_vec();
    home.store().put_stream(changed.clone()).await.unwrap();
    for tenant in ["", "a", "ab"] {
        assert_eq!(home.store().stream_settings(tenant).await.unwrap(), None);
        home.store().put_stream_settings(tenant, tenant.as_bytes().to_vec()).await.unwrap();
    }
    home.store().put_stream_settings("a", b"new".to_vec()).await.unwrap();
    home.reopen().await;
    assert_eq!(home.store().streams().await.unwrap(), [changed, stream(Z, "ours")]);
    for (tenant, body) in [("", ""), ("a", "new"), ("ab", "ab")] {
        let found = home.store().stream_settings(tenant).await.unwrap();
        assert_eq!(found.as_deref(), Some(body.as_bytes()));
    }
}

async fn deliveries_are_numbered_and_chained_stream_by_stream(engine: Engine) {
    let mut home = Home::new(engine).await;
    put_streams(home.store(), &[A, B, Z]).await;
    let mut matcher = Matcher::open(home.store(), "live").await;
    let first = vec![confirmed(A, 1), confirmed(Z, 1), confirmed(A, 2), confirmed(A, 3)];
    let second = vec![confirmed(Z, 4), confirmed(A, 4), confirmed(Z, 5)];
    let mut made = matcher.deliver(first.clone()).await;
    drop(matcher);
    home.reopen().await;
    let mut matcher = Matcher::open(home.store(), "live").await;
    made.extend(matcher.deliver(second.clone()).await);
    let numbers: Vec<_> = made.iter().map(|delivery| (delivery.stream, delivery.seq)).collect();
    assert_eq!(numbers, [(A, 1), (Z, 1), (A, 2), (A, 3), (Z, 2), (A, 4), (Z, 3)]);
    let given: Vec<NewDelivery> = [first, second].concat();
    for id in [A, Z] {
        let mut digest = B256::ZERO;
        let of_stream = made.iter().zip(&given).filter(|(delivery, _)| delivery.stream == id);
        let mut bytes = 0;
        for (delivery, new) in of_stream.clone() {
            assert_eq!((&delivery.meta, delivery.previous_digest), (&new.meta, digest));
            digest = delivery_digest(digest, delivery.seq, &new.body);
            assert_eq!((delivery.digest, delivery.body_bytes), (digest, new.body.len() as u64));
            bytes += delivery.body_bytes;
            let stored = home.store().delivery(id, delivery.seq).await.unwrap();
            assert_eq!(stored.as_ref(), Some(delivery));
            let body = home.store().delivery_body(id, delivery.seq).await.unwrap();
            assert_eq!(body.as_ref(), Some(&new.body));
        }
        let bodies: Vec<_> =
            (1..).zip(of_stream.clone().map(|(_, new)| new.body.clone())).collect();
        let from = |seqs| home.store().delivery_bodies(id, seqs);
        assert_eq!(from(0..=u64::MAX).await.unwrap(), bodies);
        assert_eq!(from(2..=2).await.unwrap(), bodies[1..2]);
        assert_eq!(from(bodies.len() as u64 + 1..=99).await.unwrap(), []);
        let all: Vec<_> = of_stream.map(|(delivery, _)| delivery.clone()).collect();
        let queue = QueueState {
            last_seq: all.len() as u64,
            last_digest: digest,
            tried_seq: 0,
            waiting_bytes: bytes,
            waiting: all.len() as u64,
        };
        assert_eq!(home.store().stream_queue(id).await.unwrap(), queue);
        assert_eq!(home.store().deliveries(id, 0, 99).await.unwrap(), all);
        assert_eq!(home.store().deliveries(id, 2, 1).await.unwrap(), all[1..2]);
        assert_eq!(home.store().deliveries(id, all.len() as u64 + 1, 9).await.unwrap(), []);
    }
    assert_eq!(home.store().stream_queue(B).await.unwrap(), QueueState::default());
    assert_eq!(home.store().delivery(B, 1).await.unwrap(), None);
    assert_eq!(home.store().delivery_body(A, 5).await.unwrap(), None);
    assert_eq!(home.store().delivery_bodies(B, 0..=9).await.unwrap(), []);
    // A store that was told all at once says the same.
    let straight = Home::new(engine).await;
    put_streams(straight.store(), &[A, B, Z]).await;
    let mut matcher = Matcher::open(straight.store(), "live").await;
    assert_eq!(matcher.deliver(given).await, made);
}

async fn a_reader_that_was_moved_writes_nothing_of_a_commit(engine: Engine) {
    let home = Home::new(engine).await;
    put_streams(home.store(), &[A]).await;
    let mut mine = Matcher::open(home.store(), "live").await;
    let mut theirs = Matcher::open(home.store(), "live").await;
    let made = mine.deliver(vec![confirmed(A, 1)]).await;
    let committed = mine.reader.committed();
    let queue = home.store().stream_queue(A).await.unwrap();
    let mut changed = stream(A, "ours");
    changed.body = b"changed".to_vec();
    let change = StreamChange {
        deliveries: vec![confirmed(A, 2)],
        keep: vec![a_match(A, 2, Some(0))],
        remove: Vec::new(),
        retire: None,
        streams: vec![changed],
    };
    let moved = theirs.try_commit(change.clone()).await.unwrap_err();
    assert!(matches!(&moved, Error::ReaderMoved { name } if name == "live"), "{moved:?}");
    assert_eq!(home.store().streams().await.unwrap(), [stream(A, "ours")]);
    assert_eq!(home.store().deliveries(A, 0, 9).await.unwrap(), made);
    assert_eq!(home.store().delivery_body(A, 2).await.unwrap(), None);
    assert_eq!(home.store().kept_matches(CHAIN, 0..=u64::MAX, None).await.unwrap(), []);
    assert_eq!(home.store().stream_queue(A).await.unwrap(), queue);
    assert_eq!(Matcher::open(home.store(), "live").await.reader.committed(), committed);
    // The same by the one who may.
    assert_eq!(mine.commit(change).await[0].seq, 2);
    assert_ne!(mine.reader.committed(), committed);
    assert_eq!(home.store().streams().await.unwrap()[0].body, b"changed");
    let known = Matcher::open(home.store(), "live").await.reader.committed();
    assert_eq!(known, mine.reader.committed());
}

fn kept(stream: StreamId, number: u64, first_seq: Option<u64>) -> KeptMatch {
    let new = a_match(stream, number, None);
    let (hash, traces_missing) = (new.hash, new.traces_missing);
    KeptMatch { stream, number, hash, traces_missing, first_seq, parts: new.parts }
}

async fn matches_are_kept_and_removed_with_the_commit(engine: Engine) {
    let mut home = Home::new(engine).await;
    put_streams(home.store(), &[A, B, Z]).await;
    let mut matcher = Matcher::open(home.store(), "live").await;
    let unconfirmed = |id, number| of_kind(DeliveryKind::Unconfirmed, id, number);
    matcher.deliver(vec![confirmed(Z, 1)]).await;
    let deliveries = vec![unconfirmed(A, 5), unconfirmed(Z, 5), unconfirmed(Z, 7)];
    let keep = vec![
        a_match(B, 5, None),
        a_match(Z, 7, Some(2)),
        a_match(A, 5, Some(0)),
        // Of one block and stream the last one counts.
        a_match(Z, 5, None),
        a_match(Z, 5, Some(1)),
    ];
    // What is kept in the same commit is not removed by it.
    let remove = vec![(5, A), (6, A)];
    matcher.commit(StreamChange { deliveries, keep, remove, ..StreamChange::default() }).await;
    drop(matcher);
    home.reopen().await;
    let store = home.store();
    let at_5 = [kept(A, 5, Some(1)), kept(B, 5, None), kept(Z, 5, Some(2))];
    assert_eq!(store.kept_matches(CHAIN, 5..=5, None).await.unwrap(), at_5);
    assert_eq!(store.kept_matches(CHAIN, 6..=6, None).await.unwrap(), []);
    assert_eq!(store.kept_matches(CHAIN, 0..=4, None).await.unwrap(), []);
    assert_eq!(store.kept_matches(CHAIN, 0..=6, None).await.unwrap(), at_5);
    let all = [&at_5[..], &[kept(Z, 7, Some(3))]].concat();
    assert_eq!(store.kept_matches(CHAIN, 0..=u64::MAX, None).await.unwrap(), all);
    let of_z = store.kept_matches(CHAIN, 0..=u64::MAX, Some(Z)).await.unwrap();
    assert_eq!(of_z, [kept(Z, 5, Some(2)), kept(Z, 7, Some(3))]);
    assert_eq!(store.kept_matches(CHAIN, 0..=6, Some(Z)).await.unwrap(), of_z[..1]);
    assert_eq!(store.kept_matches(OTHER_CHAIN, 0..=u64::MAX, None).await.unwrap(), []);
    assert_eq!(store.kept_matches(OTHER_CHAIN, 0..=u64::MAX, Some(Z)).await.unwrap(), []);
    let mut matcher = Matcher::open(store, "live").await;
    let remove = vec![(5, Z), (7, Z), (5, A), (9, A)];
    matcher.commit(StreamChange { remove, ..StreamChange::default() }).await;
    assert_eq!(store.kept_matches(CHAIN, 0..=u64::MAX, None).await.unwrap(), [kept(B, 5, None)]);
    assert_eq!(store.kept_matches(CHAIN, 0..=u64::MAX, Some(Z)).await.unwrap(), []);
}

async fn a_reader_is_retired_with_the_commit_of_another(engine: Engine) {
    let home = Home::new(engine).await;
    let mut live = Matcher::open(home.store(), "live").await;
    let open = async |name| Reader::open(home.store(), name, CHAIN, Start::Block(1)).await.unwrap();
    for name in ["past", "past2"] {
        let mut reader = open(name).await;
        let rows = vec![ReaderRow { key: b"k".to_vec(), value: Some(b"v".to_vec()) }];
        let mut cursor = reader.committed().unwrap();
        cursor.next = 9;
        reader.commit(cursor, rows).await.unwrap();
    }
    let names = async || {
        let readers = home.view().await.readers(CHAIN).await.unwrap();
        readers.into_iter().map(|reader| reader.name).collect::<Vec<_>>()
    };
    let retire = |name: &str| StreamChange { retire: Some(name.into()), ..Default::default() };
    live.commit(retire("nobody")).await;
    // A reader does not retire itself: it just wrote how far it is.
    live.commit(retire("live")).await;
    assert_eq!(names().await, ["live", "past", "past2"]);
    live.commit(retire("past")).await;
    assert_eq!(names().await, ["live", "past2"]);
    let view = home.view().await;
    assert_eq!(view.reader_rows(CHAIN, "past", b"", 9).await.unwrap(), []);
    assert_eq!(view.reader_rows(CHAIN, "past2", b"", 9).await.unwrap().len(), 1);
}

async fn what_is_of_a_stream_that_is_gone_is_left_out(engine: Engine) {
    let home = Home::new(engine).await;
    put_streams(home.store(), &[A, B]).await;
    let mut matcher = Matcher::open(home.store(), "live").await;
    matcher.deliver(vec![confirmed(B, 1)]).await;
    assert!(home.store().remove_stream(B).await.unwrap());
    let unconfirmed = |id, number| of_kind(DeliveryKind::Unconfirmed, id, number);
    let change = StreamChange {
        deliveries: vec![unconfirmed(B, 2), unconfirmed(A, 2), unconfirmed(Z, 2)],
        keep: vec![a_match(B, 2, Some(0)), a_match(A, 2, Some(1))],
        streams: vec![stream(B, "ours"), stream(Z, "ours")],
        ..StreamChange::default()
    };
    let made = matcher.commit(change).await;
    assert_eq!(made.iter().map(|it| (it.stream, it.seq)).collect::<Vec<_>>(), [(A, 1)]);
    assert_eq!(home.store().streams().await.unwrap(), [stream(A, "ours")]);
    let matches = home.store().kept_matches(CHAIN, 0..=u64::MAX, None).await.unwrap();
    assert_eq!(matches, [kept(A, 2, Some(1))]);
    for id in [B, Z] {
        assert_eq!(home.store().stream_queue(id).await.unwrap(), QueueState::default());
        assert_eq!(home.store().deliveries(id, 0, 9).await.unwrap(), []);
    }
    assert!(home.store().check(|_| ()).await.unwrap().holds());
}

async fn items_are_counted_when_they_are_first_told_of(engine: Engine) {
    let home = Home::new(engine).await;
    put_streams(home.store(), &[A]).await;
    let mut matcher = Matcher::open(home.store(), "live").await;
    let times = async || {
        let totals = home.store().stream_totals(A).await.unwrap();
        let counted = totals.txs;
        let expected = StreamTotals {
            txs: counted,
            logs: 10 * counted,
            internal_txs: 100 * counted,
            ..StreamTotals::default()
        };
        assert_eq!(totals, expected);
        counted
    };
    let deliver = |kind, number| of_kind(kind, A, number);
    let (unconfirmed, retracted) = (DeliveryKind::Unconfirmed, DeliveryKind::Retracted);
    matcher.deliver(vec![confirmed(A, 1)]).await;
    assert_eq!(times().await, 1);
    let change = StreamChange {
        deliveries: vec![deliver(unconfirmed, 2), deliver(unconfirmed, 3)],
        keep: vec![a_match(A, 2, Some(0)), a_match(A, 3, Some(1)), a_match(A, 4, None)],
        ..StreamChange::default()
    };
    matcher.commit(change).await;
    assert_eq!(times().await, 3);
    // 2 was told of, 4 was not.
    let change = StreamChange {
        deliveries: vec![confirmed(A, 2), confirmed(A, 4), deliver(retracted, 3)],
        remove: vec![(2, A), (3, A), (4, A)],
        ..StreamChange::default()
    };
    matcher.commit(change).await;
    assert_eq!(times().await, 4);
    matcher.deliver(vec![deliver(unconfirmed, 5), confirmed(A, 5)]).await;
    assert_eq!(times().await, 5);
    // The block that was told of is not the one that is confirmed.
    let change = StreamChange {
        deliveries: vec![deliver(unconfirmed, 6)],
        keep: vec![a_match(A, 6, Some(0))],
        ..StreamChange::default()
    };
    matcher.commit(change).await;
    let mut another = confirmed(A, 6);
    another.meta.hash = B256::repeat_byte(9);
    matcher.deliver(vec![another]).await;
    assert_eq!(times().await, 7);
}

async fn rows_of_streams_are_no_part_of_the_digest(engine: Engine) {
    let home = Home::indexed(engine, &crate::chain::small_chain(81, 3)).await;
    let before = home.digest().await;
    // Ids that begin as a chain's number does.
    let mut id = [0; 16];
    id[..8].copy_from_slice(&CHAIN.0.to_be_bytes());
    let id = StreamId::from(id);
    put_streams(home.store(), &[id]).await;
    home.store()
        .change_stream_addresses(id, vec![alloy_primitives::Address::ZERO], Vec::new())
        .await
        .unwrap();
    let mut matcher = Matcher::open(home.store(), "live").await;
    let mut new = confirmed(id, 1);
    new.body = Bytes::new();
    let keep = vec![a_match(id, 1, Some(0))];
    matcher.commit(StreamChange { deliveries: vec![new], keep, ..StreamChange::default() }).await;
    home.store().record_attempts(vec![failed((id, 1), 1, CHAIN.0, Some(CHAIN.0))]).await.unwrap();
    assert_eq!(home.digest().await, before);
}
