//! What somebody asks for: a delivery once more, a body without a number, a test call.

use bytes::Bytes;
use streams::delivery::{DeliveryConfig, DeliveryError};
use streams::signature::{Secrets, x_signature};

use crate::receiver::{Answer, Receiver};
use crate::world::{SECRET, World, config, stream_id};

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_keeps_number_and_id_and_counts_on() {
    let receiver = Receiver::start(|_| Answer::Status(500)).await;
    let (world, stream) = World::with_stream(&receiver, 1).await;
    let deliverer = world.start(DeliveryConfig { retry_s: vec![], ..config() });
    world.wait_for(stream, 1, |delivery| delivery.state.given_up).await;
    // Also where the stream itself is not sent.
    world.directory.change(stream, |target| target.is_sending = false);
    assert!(!deliverer.send_again(stream, 1).await.unwrap());
    receiver.behave(|_| Answer::Status(200));
    assert!(deliverer.send_again(stream, 1).await.unwrap());
    let state = world.delivery(stream, 1).await.state;
    assert!(state.delivered_ms.is_some() && !state.given_up && state.attempts == 3);
    assert!(deliverer.send_again(stream, 1).await.unwrap());
    let got = receiver.got();
    assert_eq!(got.iter().map(|got| got.retries()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(got.iter().all(|it| it.header("webhook-id") == got[0].header("webhook-id")));
    receiver.prove(SECRET, &stream.to_string(), 1);
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_replayed_is_said() {
    let receiver = Receiver::start(|_| Answer::Hang).await;
    let (world, stream) = World::with_stream(&receiver, 2).await;
    let deliverer = world.start(config());
    receiver.wait_for_got(1).await;
    let refused = |result: Result<bool, DeliveryError>| result.unwrap_err().to_string();
    assert!(refused(deliverer.send_again(stream, 1).await).contains("being sent right now"));
    assert!(refused(deliverer.send_again(stream, 2).await).contains("still waits"));
    assert!(refused(deliverer.send_again(stream, 99).await).contains("no such delivery"));
    assert!(refused(deliverer.send_again(stream_id(99), 1).await).contains("no such stream"));
    receiver.let_go();
    receiver.wait_for_taken(2).await;
    deliverer.stop().await;
    world.wait_for(stream, 2, |delivery| delivery.state.delivered_ms.is_some()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_a_number_is_signed_and_sent_once() {
    let receiver = Receiver::healthy().await;
    let (world, stream) = World::with_stream(&receiver, 0).await;
    let deliverer = world.start(config());
    deliverer.post_once(stream, Bytes::from_static(b"{\"a\":1}")).await.unwrap();
    let got = receiver.got().remove(0);
    assert_eq!(got.body, &b"{\"a\":1}"[..]);
    assert_eq!(got.header("x-signature"), x_signature(&got.body, SECRET));
    assert!(!got.headers.contains_key("x-sequence") && !got.headers.contains_key("x-digest"));
    assert_eq!(got.header("webhook-id").len(), 36);
    receiver.behave(|_| Answer::Status(500));
    let failed = deliverer.post_once(stream, Bytes::from_static(b"{}")).await.unwrap_err();
    assert_eq!(failed.to_string(), "The receiver answered 500");
    assert_eq!(receiver.got().len(), 2);
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_call_is_signed_and_any_2xx_passes() {
    let world = World::new().await;
    let deliverer = world.start(config());
    let secrets = Secrets::new(SECRET);
    for (status, passes) in [(200, true), (204, true), (302, false), (401, false), (500, false)] {
        let receiver = Receiver::start(move |_| Answer::Status(status)).await;
        let result = deliverer.test_call(&receiver.url, &secrets, "us-east-1").await;
        assert_eq!(result.is_ok(), passes, "{status}: {result:?}");
        let got = receiver.got().remove(0);
        assert_eq!(got.header("x-signature"), x_signature(&got.body, SECRET));
        assert_eq!(got.header("x-region"), "us-east-1");
        let body: serde_json::Value = serde_json::from_slice(&got.body).unwrap();
        assert_eq!((&body["streamId"], &body["retries"]), (&"".into(), &0.into()));
    }
    deliverer.stop().await;
    let refused = deliverer.test_call("http://127.0.0.1:1/", &secrets, "us-east-1").await;
    assert!(refused.unwrap_err().contains("stopping"));
}
