//! The order of first attempts, and that a receiver can prove that it has everything.

use std::collections::BTreeMap;

use streams::delivery::{delivery_id, seq_of};

use crate::receiver::{Answer, Receiver};
use crate::world::{SECRET, World, config};

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_says_who_sent_it_and_where_it_stands() {
    let receiver = Receiver::healthy().await;
    let (world, stream) = World::with_stream(&receiver, 2).await;
    let deliverer = world.start(config());
    let got = receiver.wait_for_taken(2).await;
    for (name, value) in [
        ("content-type", "application/json"),
        ("user-agent", concat!("headwater/", env!("CARGO_PKG_VERSION"))),
        ("x-region", "eu-central-1"),
        ("x-queue-size", "2"),
        ("x-records-charged", "6"),
        ("x-sequence", "1"),
        ("webhook-id", &delivery_id(stream, 1)),
        ("x-previous-digest", &format!("0x{}", "0".repeat(64))),
    ] {
        assert_eq!(got[0].header(name), value, "{name}");
    }
    assert_eq!(seq_of(stream, got[1].header("webhook-id")), Some(2));
    assert_eq!(got[1].header("x-previous-digest"), got[0].header("x-digest"));
    assert_eq!(got[1].header("x-queue-size"), "1");
    assert!(!got[0].headers.contains_key("x-part"));
    receiver.prove(SECRET, &stream.to_string(), 2);
    world.wait_for(stream, 2, |delivery| delivery.state.delivered_ms.is_some()).await;
    let queue = world.store.stream_queue(stream).await.unwrap();
    assert_eq!((queue.tried_seq, queue.waiting, queue.waiting_bytes), (2, 0, 0));
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn first_attempts_are_in_order_and_one_at_a_time_whatever_fails_and_all_arrives() {
    let world = World::new().await;
    // Every third fails once, every seventh three times.
    let fails = |seq: u64, retries: u64| {
        (seq.is_multiple_of(3) && retries < 1) || (seq.is_multiple_of(7) && retries < 3)
    };
    let mut receivers = BTreeMap::new();
    for number in 0..10 {
        let receiver = Receiver::start(move |got| {
            Answer::Status(if fails(got.seq(), got.retries()) { 502 } else { 200 })
        })
        .await;
        receivers.insert(world.add_stream(number, &receiver.url).await, receiver);
    }
    let deliverer = world.start(config());
    // Written while they are sent, as blocks come.
    for _ in 0..20 {
        for stream in receivers.keys() {
            world.deliver(*stream, 5).await;
            deliverer.wake(*stream);
        }
    }
    for (stream, receiver) in &receivers {
        receiver.wait_for_taken(100).await;
        let first: Vec<u64> =
            receiver.got().iter().filter(|got| got.retries() == 0).map(|got| got.seq()).collect();
        assert_eq!(first, (1..=100).collect::<Vec<_>>());
        receiver.prove(SECRET, &stream.to_string(), 100);
    }
    deliverer.stop().await;
    for stream in receivers.keys() {
        let queue = world.store.stream_queue(*stream).await.unwrap();
        assert_eq!((queue.tried_seq, queue.waiting), (100, 0), "what was sent is noted");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_woken_at_any_moment_sends_everything() {
    let receiver = Receiver::healthy().await;
    let (world, stream) = World::with_stream(&receiver, 0).await;
    let deliverer = world.start(config());
    for written in 1..=300_usize {
        world.deliver(stream, 1).await;
        deliverer.wake(stream);
        if written.is_multiple_of(10) {
            receiver.wait_for_taken(written).await;
        }
    }
    receiver.prove(SECRET, &stream.to_string(), 300);
    assert_eq!(receiver.got().len(), 300, "none of them twice");
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_of_every_size_that_waited_are_sent_in_order() {
    let receiver = Receiver::healthy().await;
    let (world, stream) = World::with_stream(&receiver, 0).await;
    // Some that are signed side by side, some too large for that, some too large to be read with others.
    let sizes = [0, 10, 300 << 10, 700 << 10, 700 << 10, 9, 3 << 19, 8, 7, 0, 1 << 20, 5];
    for _ in 0..4 {
        world.deliver_padded(stream, &sizes).await;
    }
    let deliverer = world.start(config());
    let got = receiver.wait_for_taken(4 * sizes.len()).await;
    assert!(got.iter().zip(1..).all(|(got, seq)| got.seq() == seq));
    receiver.prove(SECRET, &stream.to_string(), 4 * sizes.len() as u64);
    deliverer.stop().await;
}
