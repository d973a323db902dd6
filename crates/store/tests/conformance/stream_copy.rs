//! Streams are copied with all that hangs on them, and go on in the other store where they were.

use std::sync::Mutex;

use alloy_primitives::{Address, U256};
use store::{
    Change, CopyPart, CopyProgress, DeliveryKind, Error, Event, EventKind, Origin, Reader, Start,
    StreamChange, StreamId,
};
use testkit::SimConfig;

use crate::chain::*;
use crate::engine::{Choices, Engine, on_every_engine};
use crate::home::Home;
use crate::postgres_server;
use crate::stream_lifetime::all_of;
use crate::stream_made::*;

on_every_engine!(
    streams_are_copied_with_all_that_hangs_on_them_and_go_on,
    a_copy_that_is_cut_off_shows_no_stream_and_is_begun_again,
    what_a_copy_left_goes_as_what_is_left_of_removed_streams,
    streams_that_went_on_in_the_second_store_are_not_copied_over,
);

const STREAMS: [(StreamId, &str); 3] = [(A, "ours"), (B, "ours"), (Z, "theirs")];
/// More than are copied at once.
const DELIVERIES: u64 = 600;
const ADDRESSES: u64 = 5_000;

async fn next(reader: &mut Reader) -> Option<Event> {
    reader.next().await.unwrap()
}

/// Deliveries in every state, the oldest pruned; matches that wait; a reader that has not seen yet that what it saw last was
/// reverted and an older block amended, and one of a stream's own that is far behind.
async fn lived(engine: Engine) -> Home {
    let choices = Choices { journal_entries_min: 0, ..Choices::default() };
    let home = Home::with(engine, choices).await;
    let mut chain = made(SimConfig { txs_per_block: 2, ..SimConfig::seeded(11) }, 40);
    let untraced = chain.block(30).unwrap().hash;
    let first = (0..=40).map(|number| match number {
        30 => home.untraced(&chain, untraced),
        _ => home.at(&chain, number),
    });
    home.apply(first.collect()).await.unwrap();
    for (id, tenant) in STREAMS {
        home.store().put_stream(stream(id, tenant)).await.unwrap();
        home.store().put_stream_settings(tenant, tenant.as_bytes().to_vec()).await.unwrap();
    }
    home.store().put_stream_settings("nobody", b"{}".to_vec()).await.unwrap();
    let addresses = (0..ADDRESSES).map(|it| Address::from_word(U256::from(it).into())).collect();
    home.store().change_stream_addresses(A, addresses, Vec::new()).await.unwrap();
    let mut reader = Reader::open(home.store(), "streams", CHAIN, Start::Block(1)).await.unwrap();
    for _ in 1..=40 {
        let event = next(&mut reader).await.unwrap();
        let kind = DeliveryKind::Unconfirmed;
        let deliveries = (0..DELIVERIES / 40).map(|_| of_kind(kind, A, event.number));
        let mut deliveries: Vec<_> = deliveries.collect();
        deliveries.push(confirmed(Z, event.number));
        let keep = vec![a_match(A, event.number, Some(0)), a_match(B, event.number, None)];
        let keep = if event.number > 35 { keep } else { Vec::new() };
        let change = StreamChange { deliveries, keep, ..StreamChange::default() };
        reader.commit_streams(event.cursor, change).await.unwrap();
    }
    let mut records: Vec<_> = (1..=500).map(|seq| delivered((A, seq), 1, 1_000 + seq)).collect();
    records.push(failed((A, 501), 1, 2_000, Some(9_000)));
    records.push(failed((A, 502), 5, 2_001, None));
    records.push(failed((A, 503), 1, 2_002, Some(8_000)));
    records.push(delivered((A, 503), 2, 2_003));
    home.store().record_attempts(records).await.unwrap();
    home.store().prune_deliveries(1_101, usize::MAX).await.unwrap();
    let own = Reader::open(home.store(), "own", CHAIN, Start::Block(7)).await.unwrap();
    assert_eq!(own.committed().unwrap().next, 7);
    chain.reorg(5, 7);
    let apply = (36..=42).map(|number| home.at(&chain, number)).collect();
    let revert = (36..=40).rev().collect();
    home.commit(Change { revert, ..Change::apply(Origin::Head, apply) }).await.unwrap();
    home.amend(vec![home.at(&chain, 30)]).await.unwrap();
    home
}

/// What a reader is told from where it stands.
async fn told(home: &Home, name: &str) -> Vec<(EventKind, u64, alloy_primitives::B256)> {
    let mut reader = Reader::open(home.store(), name, CHAIN, Start::Head).await.unwrap();
    let mut told = Vec::new();
    while let Some(Event { kind, number, hash, .. }) = next(&mut reader).await {
        told.push((kind, number, hash));
    }
    told
}

async fn holds(home: &Home) {
    let report = home.store().check(|_| ()).await.unwrap();
    assert!(report.holds(), "{report:?}");
}

async fn assert_equal(from: &Home, to: &Home) {
    for (id, tenant) in STREAMS {
        let (mine, theirs) =
            (all_of(from.store(), id, tenant).await, all_of(to.store(), id, tenant).await);
        assert_eq!(mine, theirs, "{id}");
        let settings = to.store().stream_settings(tenant).await.unwrap();
        assert_eq!(settings.as_deref(), Some(tenant.as_bytes()));
    }
    assert!(to.store().stream_settings("nobody").await.unwrap().is_some());
    let reverts = (36..=40).rev().map(|number| (EventKind::Revert, number));
    let seen = reverts.chain([(EventKind::Amend, 30)]);
    let seen: Vec<_> = seen.chain((36..=42).map(|number| (EventKind::Apply, number))).collect();
    let heard = told(to, "streams").await;
    assert_eq!(heard.iter().map(|it| (it.0, it.1)).collect::<Vec<_>>(), seen);
    assert_eq!(heard, told(from, "streams").await);
    assert_eq!(told(to, "own").await, told(from, "own").await);
    holds(to).await;
}

async fn streams_are_copied_with_all_that_hangs_on_them_and_go_on(engine: Engine) {
    let (from, mut to) = (lived(Engine::Embedded).await, Home::new(engine).await);
    copied_and_gone_on(&from, &mut to).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_postgres_they_are_copied_as_well() {
    if postgres_server::server().is_none() {
        return;
    }
    let (from, mut to) = (lived(Engine::Postgres).await, Home::new(Engine::Embedded).await);
    copied_and_gone_on(&from, &mut to).await;
}

async fn copied_and_gone_on(from: &Home, to: &mut Home) {
    for _ in 0..2 {
        let copied = from.store().copy_to(to.store(), |_| ()).await.unwrap();
        assert!(copied.is_equal(), "{copied:?}");
        assert_eq!((copied.streams.streams, copied.streams.deliveries), (3, 540));
        to.reopen().await;
        assert_equal(from, to).await;
    }
    // The next delivery has the next number and chains up with the last one's digest.
    let last = to.store().stream_queue(A).await.unwrap();
    let mut reader = Reader::open(to.store(), "streams", CHAIN, Start::Head).await.unwrap();
    let event = next(&mut reader).await.unwrap();
    let deliveries = vec![confirmed(A, 40)];
    let change = StreamChange { deliveries, ..StreamChange::default() };
    let made = reader.commit_streams(event.cursor, change).await.unwrap();
    let delivery = &made[0].delivery;
    assert_eq!((delivery.seq, last.last_seq), (DELIVERIES + 1, DELIVERIES));
    assert_eq!(delivery.previous_digest, last.last_digest);
    // What differs is told.
    let row = stream(B, "another");
    to.store().put_stream(row).await.unwrap();
    let refused = from.store().copy_to(to.store(), |_| ()).await.unwrap_err();
    assert!(matches!(refused, Error::NotEmpty { .. }), "{refused}");
}

/// When a copy is cut off.
type Moment = fn(&CopyProgress) -> bool;
const MOMENTS: [Moment; 2] = [|_| true, |now| now.done == now.total];

/// A copy that ends among the deliveries.
async fn cut_off(from: &Home, to: &Home, moment: Moment) {
    let (tell, told) = tokio::sync::oneshot::channel();
    let tell = Mutex::new(Some(tell));
    let progress = |now: CopyProgress| {
        if now.part == CopyPart::Deliveries
            && moment(&now)
            && let Some(tell) = tell.lock().unwrap().take()
        {
            tell.send(()).unwrap();
        }
    };
    tokio::select! {
        biased;
        _ = told => {}
        copied = from.store().copy_to(to.store(), progress) => panic!("too quick: {copied:?}"),
    }
    assert_eq!(to.store().streams().await.unwrap(), []);
    assert_eq!(to.store().deliveries(A, 0, 10).await.unwrap(), []);
    holds(to).await;
}

async fn a_copy_that_is_cut_off_shows_no_stream_and_is_begun_again(engine: Engine) {
    let (from, to) = (lived(Engine::Embedded).await, Home::new(engine).await);
    for moment in MOMENTS {
        cut_off(&from, &to, moment).await;
    }
    let copied = from.store().copy_to(to.store(), |_| ()).await.unwrap();
    assert!(copied.is_equal(), "{copied:?}");
    assert_equal(&from, &to).await;
}

async fn what_a_copy_left_goes_as_what_is_left_of_removed_streams(engine: Engine) {
    let (from, to) = (lived(Engine::Embedded).await, Home::new(engine).await);
    for moment in MOMENTS {
        cut_off(&from, &to, moment).await;
        to.store().prune_deliveries(0, 0).await.unwrap();
        assert!(!to.store().remove_stream(A).await.unwrap());
        holds(&to).await;
    }
}

async fn streams_that_went_on_in_the_second_store_are_not_copied_over(engine: Engine) {
    let (from, to) = (lived(Engine::Embedded).await, Home::new(engine).await);
    assert!(from.store().copy_to(to.store(), |_| ()).await.unwrap().is_equal());
    let before = all_of(to.store(), A, "ours").await;
    let mut reader = Reader::open(from.store(), "streams", CHAIN, Start::Head).await.unwrap();
    let event = next(&mut reader).await.unwrap();
    reader.commit(event.cursor, Vec::new()).await.unwrap();
    let refused = from.store().copy_to(to.store(), |_| ()).await.unwrap_err().to_string();
    assert!(refused.contains("reader streams of chain"), "{refused}");
    assert!(refused.contains("copy into an empty store"), "{refused}");
    assert_eq!(all_of(to.store(), A, "ours").await, before);
}
