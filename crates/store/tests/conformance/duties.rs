//! What one process of several has at a time: duties, under terms that writes are checked against, and claims of senders.

use std::time::Duration;

use store::{Duty, Leadership, Shared, Store, StreamAnswer, StreamCall};
use tokio::time::timeout;

use crate::chain::CHAIN;
use crate::engine::{Choices, Engine, on_every_engine};
use crate::home::Home;
use crate::postgres_server::server;
use crate::stream_made::*;

const PATIENCE: Duration = Duration::from_secs(60);

on_every_engine!(the_only_process_has_every_duty_and_claim);

async fn the_only_process_has_every_duty_and_claim(engine: Engine) {
    let home = Home::new(engine).await;
    for duty in [Duty::Chain(CHAIN), Duty::Streams] {
        let leadership = home.store().try_lead(duty).await.unwrap().unwrap();
        let store = home.store().under(&leadership);
        put_streams(&store, &[A]).await;
    }
    assert!(home.store().claim_queue("me", A).await.unwrap().is_some());
    let rows = home.store().stream_rows(&[A, B]).await.unwrap();
    assert_eq!(rows, [stream(A, "ours")]);
}

async fn second(home: &Home) -> Store {
    Engine::Postgres.open(home.folder(), Choices::default()).await.unwrap()
}

async fn until_led(store: &Store, duty: Duty) -> Leadership {
    timeout(PATIENCE, store.lead(duty)).await.unwrap()
}

#[tokio::test]
async fn a_duty_passes_on_when_it_is_given_up_and_its_term_is_over() {
    if server().is_none() {
        return;
    }
    let home = Home::new(Engine::Postgres).await;
    let other = second(&home).await;
    let first = home.store().try_lead(Duty::Streams).await.unwrap().unwrap();
    assert!(other.try_lead(Duty::Streams).await.unwrap().is_none());
    assert!(other.try_lead(Duty::Chain(CHAIN)).await.unwrap().is_some(), "another duty");
    let under = home.store().under(&first);
    put_streams(&under, &[A]).await;
    let mut matcher = Matcher::open(&under, "live").await;
    drop(first);
    let _second = until_led(&other, Duty::Streams).await;
    // What the first one still holds writes nothing.
    let refused = under.put_stream(stream(B, "ours")).await.unwrap_err();
    assert!(refused.is_retryable(), "{refused}");
    assert!(refused.to_string().contains("another process matches streams"), "{refused}");
    let deliveries = vec![confirmed(A, 1)];
    let change = store::StreamChange { deliveries, ..Default::default() };
    assert!(matcher.try_commit(change).await.is_err());
    assert_eq!(other.streams().await.unwrap(), [stream(A, "ours")]);
    assert_eq!(other.stream_queue(A).await.unwrap().last_seq, 0);
}

#[tokio::test]
async fn one_that_hangs_is_overtaken_and_knows_it() {
    let Some(server) = server() else { return };
    let home = Home::new(Engine::Postgres).await;
    let other = second(&home).await;
    let mut hung = home.store().try_lead(Duty::Streams).await.unwrap().unwrap();
    let under = home.store().under(&hung);
    let admin = server.client(&server.database(home.folder()).await).await;
    // As if it had not renewed for long; it does so every second.
    let old = "update leases set renewed_at = renewed_at - interval '1 hour'";
    let asks = async {
        loop {
            admin.batch_execute(old).await.unwrap();
            if let Some(leadership) = other.try_lead(Duty::Streams).await.unwrap() {
                return leadership;
            }
        }
    };
    let _leadership = timeout(PATIENCE, asks).await.unwrap();
    timeout(PATIENCE, hung.ended()).await.unwrap();
    assert!(under.put_stream(stream(A, "ours")).await.is_err());
    assert!(home.store().try_lead(Duty::Streams).await.unwrap().is_none());
}

#[tokio::test]
async fn a_stream_is_sent_from_by_one_sender_and_a_retry_is_made_by_one() {
    if server().is_none() {
        return;
    }
    let home = Home::new(Engine::Postgres).await;
    let (store, other) = (home.store(), second(&home).await);
    put_streams(store, &[A, B, Z]).await;
    let mut matcher = Matcher::open(store, "live").await;
    matcher.deliver(vec![confirmed(A, 1), confirmed(B, 1)]).await;
    let mut claimed = store.claim_queues("one", 1).await.unwrap();
    claimed.extend(other.claim_queues("two", 9).await.unwrap());
    let more = other.claim_queues("three", 9).await.unwrap();
    assert!(more.is_empty(), "Z has nothing to send");
    let (one, two) = (claimed[0], claimed[1]);
    claimed.sort_unstable();
    assert_eq!(claimed, [A, B]);
    assert_eq!(other.claim_queue("two", one).await.unwrap(), None);
    assert_eq!(other.claim_queue("two", two).await.unwrap(), Some(true));
    assert_eq!(store.renew_claims("one", vec![A, B]).await.unwrap(), [one]);
    store.release_claims("one").await.unwrap();
    assert_eq!(other.claim_queue("two", one).await.unwrap(), Some(false), "it was another's");
    store.record_attempts(vec![failed((A, 1), 1, 5, Some(100))]).await.unwrap();
    assert!(store.claim_retry((A, 1), 100, 500).await.unwrap());
    assert!(!other.claim_retry((A, 1), 100, 500).await.unwrap());
    assert_eq!(other.delivery(A, 1).await.unwrap().unwrap().state.due_ms, Some(500));
    // A sender that was paused says late that it failed.
    store.record_attempts(vec![delivered((A, 1), 2, 600)]).await.unwrap();
    other.record_attempts(vec![failed((A, 1), 2, 700, Some(900))]).await.unwrap();
    let state = other.delivery(A, 1).await.unwrap().unwrap().state;
    assert_eq!((state.delivered_ms, state.due_ms), (Some(600), None));
}

#[tokio::test]
async fn a_request_about_streams_is_answered_by_who_has_them() {
    if server().is_none() {
        return;
    }
    let home = Home::new(Engine::Postgres).await;
    let other = second(&home).await;
    let leadership = home.store().try_lead(Duty::Streams).await.unwrap().unwrap();
    let under = home.store().under(&leadership);
    let call = StreamCall {
        tenant: "t".into(),
        method: "PUT".into(),
        path: "/streams/evm?x=1".into(),
        content_type: None,
        body: vec![0, 255].into(),
    };
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let answer = StreamAnswer { status: 418, headers, body: "{}".into() };
    let answers = async {
        let taken = under.take_stream_calls().await.unwrap();
        assert_eq!(taken.iter().map(|(_, call)| call).collect::<Vec<_>>(), [&call]);
        under.answer_stream_call(&taken[0].0, &answer).await.unwrap();
    };
    let (answered, ()) = tokio::join!(other.call_streams(&call, PATIENCE), answers);
    assert_eq!(answered.unwrap(), Some(answer));
    // Whoever took it up has the duty no more: nobody knows what was done.
    let dies = async {
        under.take_stream_calls().await.unwrap();
        drop(leadership);
        until_led(&other, Duty::Streams).await
    };
    let (lost, _leadership) = tokio::join!(other.call_streams(&call, PATIENCE), dies);
    assert_eq!(lost.unwrap(), None);
}

#[tokio::test]
async fn keys_and_streams_that_one_process_writes_are_news_to_another() {
    if server().is_none() {
        return;
    }
    let home = Home::new(Engine::Postgres).await;
    let other = second(&home).await;
    let mut streams = other.watch_shared(Shared::Streams).unwrap();
    put_streams(home.store(), &[A]).await;
    timeout(PATIENCE, streams.changed()).await.unwrap().unwrap();
    let mut keys = other.watch_shared(Shared::Keys).unwrap();
    home.store().remove_api_key("none").await.unwrap();
    assert!(!keys.has_changed().unwrap());
    home.store().put_stream_settings("t", b"{}".to_vec()).await.unwrap();
    timeout(PATIENCE, streams.changed()).await.unwrap().unwrap();
    let _ = keys.borrow_and_update();
}
