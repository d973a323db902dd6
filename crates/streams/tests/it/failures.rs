//! What receivers do wrong, and what follows from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::FailedQuery;
use streams::delivery::{DeliveryConfig, StatusChange};

use crate::receiver::{Answer, Receiver, closing_receiver, wait_until};
use crate::world::{SECRET, World, config};

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_tried_again_under_the_same_number_and_id_and_holds_nothing_up() {
    let receiver = Receiver::start(|got| {
        let fails = got.seq() == 1 && got.retries() < 3;
        Answer::Status(if fails { 500 } else { 200 })
    })
    .await;
    let (world, stream) = World::with_stream(&receiver, 3).await;
    let deliverer = world.start(config());
    receiver.wait_for_taken(3).await;
    let done = world.wait_for(stream, 1, |delivery| delivery.state.delivered_ms.is_some()).await;
    assert_eq!((done.state.attempts, done.state.due_ms, done.state.error), (4, None, None));
    let first: Vec<_> = receiver.got().into_iter().filter(|got| got.seq() == 1).collect();
    assert_eq!(first.iter().map(|got| got.retries()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    for name in ["webhook-id", "x-digest", "x-previous-digest"] {
        assert!(first.iter().all(|got| got.header(name) == first[0].header(name)), "{name}");
    }
    assert_ne!(first[0].header("x-signature"), first[1].header("x-signature"));
    receiver.prove(SECRET, &stream.to_string(), 3);
    let attempts = world.attempts(stream).await;
    let failed: Vec<_> = attempts.iter().filter(|(_, log)| log.error.is_some()).collect();
    assert_eq!((attempts.len(), failed.len()), (6, 3));
    assert_eq!(failed[0].1.error.as_deref(), Some("The receiver answered 500"));
    assert_eq!(failed[0].1.webhook_url, receiver.url);
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_last_retry_it_is_given_up_and_listed() {
    let receiver = Receiver::start(|_| Answer::Status(503)).await;
    let (world, stream) = World::with_stream(&receiver, 1).await;
    let deliverer = world.start(DeliveryConfig { retry_s: vec![0, 0], ..config() });
    let given_up = world.wait_for(stream, 1, |delivery| delivery.state.given_up).await;
    assert_eq!((given_up.state.attempts, given_up.state.due_ms), (3, None));
    assert_eq!(receiver.got().len(), 3);
    let query = FailedQuery { tenant: "ours".into(), limit: 10, ..FailedQuery::default() };
    assert_eq!(world.store.failed_page(query).await.unwrap().len(), 1);
    assert_eq!(world.store.stream_queue(stream).await.unwrap().waiting, 0);
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_failure_says_what_it_was() {
    let status = |status| move |_: &_| Answer::Status(status);
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    let answers = [
        (Receiver::start(status(400)).await.url, "The receiver answered 400"),
        (Receiver::start(status(500)).await.url, "The receiver answered 500"),
        (Receiver::start(status(304)).await.url, "304; redirects are not followed"),
        (
            Receiver::start(|_| Answer::With(301, "location", "http://example.com/".into()))
                .await
                .url,
            "301; redirects are not followed",
        ),
        (Receiver::start(|_| Answer::Hang).await.url, "No answer within 1000 ms"),
        (closing_receiver().await, "The connection ended without an answer"),
        (nobody, "Could not connect: Connection refused"),
        ("http://no-such-host.invalid/".into(), "Could not connect"),
        ("http://10.0.0.1/".into(), "10.0.0.1 is a private address"),
        ("ftp://example.com/".into(), "its scheme is 'ftp'"),
    ];
    let world = World::new().await;
    let mut expected = Vec::new();
    for (number, (url, says)) in (1..).zip(&answers) {
        let stream = world.add_stream(number, url).await;
        world.deliver(stream, 1).await;
        expected.push((stream, says));
    }
    let config = DeliveryConfig { timeout_ms: 1_000, retry_s: vec![3_600], ..config() };
    let deliverer = world.start(config);
    for (stream, says) in expected {
        let failed = world.wait_for(stream, 1, |delivery| delivery.state.attempts == 1).await;
        let error = failed.state.error.unwrap();
        assert!(error.contains(*says), "'{error}' should say '{says}'");
        assert!(failed.state.due_ms.is_some() && !failed.state.given_up);
    }
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_an_end_is_an_answer() {
    let receiver = Receiver::start(|_| Answer::Endless).await;
    let (world, stream) = World::with_stream(&receiver, 3).await;
    let deliverer = world.start(config());
    receiver.wait_for_taken(3).await;
    world.wait_for(stream, 3, |delivery| delivery.state.delivered_ms.is_some()).await;
    assert_eq!(receiver.got().len(), 3);
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_is_gone_pauses_the_stream_and_nothing_is_lost() {
    let is_back = Arc::new(AtomicBool::new(false));
    let back = is_back.clone();
    let receiver = Receiver::start(move |_| {
        Answer::Status(if back.load(Ordering::SeqCst) { 204 } else { 410 })
    })
    .await;
    let (world, stream) = World::with_stream(&receiver, 3).await;
    let deliverer = world.start(config());
    wait_until("the pause", || !world.directory.changes().is_empty()).await;
    let waiting = world.wait_for(stream, 1, |delivery| delivery.state.attempts == 1).await;
    assert!(waiting.state.due_ms.is_some() && !waiting.state.given_up);
    let (_, to, message) = world.directory.changes().remove(0);
    assert_eq!(to, StatusChange::Paused);
    assert!(message.contains("answered 410"), "{message}");
    assert_eq!(receiver.got().len(), 1, "the others wait");
    is_back.store(true, Ordering::SeqCst);
    world.activate(&deliverer, stream);
    receiver.wait_for_taken(3).await;
    receiver.prove(SECRET, &stream.to_string(), 3);
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_failures_are_an_error_of_the_stream_and_all_arrives_once_it_is_active_again() {
    let receiver = Receiver::start(|_| Answer::Status(500)).await;
    let (world, stream) = World::with_stream(&receiver, 40).await;
    let deliverer = world.start(config());
    wait_until("the error", || !world.directory.changes().is_empty()).await;
    let (id, to, message) = world.directory.changes().remove(0);
    assert_eq!((id, to), (stream, StatusChange::Error));
    assert!(message.contains("success rate 69") && message.contains("answered 500"), "{message}");
    assert!(world.store.stream_queue(stream).await.unwrap().waiting == 40, "all of them wait");
    receiver.behave(|_| Answer::Status(200));
    world.activate(&deliverer, stream);
    receiver.wait_for_taken(40).await;
    receiver.prove(SECRET, &stream.to_string(), 40);
    assert_eq!(world.directory.streams.lock().unwrap()[&stream].success_rate, 100);
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_asks_for_time_gets_it() {
    let asks = |status| move |_: &_| Answer::With(status, "retry-after", "7200".into());
    let world = World::new().await;
    let mut due = Vec::new();
    for (number, status) in [(1, 429), (2, 503), (3, 500)] {
        let receiver = Receiver::start(asks(status)).await;
        let stream = world.add_stream(number, &receiver.url).await;
        world.deliver(stream, 1).await;
        due.push((stream, status));
    }
    let before_ms = now_ms();
    let deliverer = world.start(DeliveryConfig { retry_s: vec![60], ..config() });
    for (stream, status) in due {
        let failed = world.wait_for(stream, 1, |delivery| delivery.state.attempts == 1).await;
        let waits_s = (failed.state.due_ms.unwrap() - before_ms) / 1_000;
        // 500 is no answer that says when.
        assert_eq!(waits_s >= 7_200, status != 500, "{status}: {waits_s}");
    }
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stream_has_to_send_waits_untouched_while_it_is_not_sent() {
    let receiver = Receiver::healthy().await;
    let (world, stream) = World::with_stream(&receiver, 2).await;
    world.directory.change(stream, |target| target.is_sending = false);
    let other = world.add_stream(2, &receiver.url).await;
    world.deliver(other, 1).await;
    let deliverer = world.start(config());
    deliverer.wake(stream);
    world.wait_for(other, 1, |delivery| delivery.state.delivered_ms.is_some()).await;
    assert_eq!(receiver.got().len(), 1);
    assert_eq!(world.delivery(stream, 1).await.state, Default::default());
    world.activate(&deliverer, stream);
    receiver.wait_for_taken(3).await;
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_that_are_due_later_come_by_themselves() {
    let receiver =
        Receiver::start(|got| Answer::Status(if got.retries() == 0 { 500 } else { 200 })).await;
    let (world, stream) = World::with_stream(&receiver, 5).await;
    let deliverer = world.start(DeliveryConfig { retry_s: vec![1, 1], ..config() });
    receiver.wait_for_taken(5).await;
    world.wait_for(stream, 5, |delivery| delivery.state.delivered_ms.is_some()).await;
    assert_eq!(receiver.got().len(), 10);
    tokio::time::timeout(Duration::from_secs(30), deliverer.stop()).await.unwrap();
}

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_millis() as u64
}
