//! Stopping and being stopped: what is in flight ends, and nothing is lost.

use std::sync::Arc;

use streams::delivery::Deliverer;

use crate::receiver::{Answer, Receiver, wait_until};
use crate::world::{SECRET, World, config};

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_what_is_in_flight_begins_nothing_and_the_next_start_goes_on() {
    let receiver = Receiver::start(|_| Answer::Hang).await;
    let (world, stream) = World::with_stream(&receiver, 3).await;
    let deliverer = world.start(config());
    receiver.wait_for_got(1).await;
    let stopping = tokio::spawn({
        let deliverer = deliverer.clone();
        async move { deliverer.stop().await }
    });
    tokio::task::yield_now().await;
    assert!(!stopping.is_finished(), "it waits for the answer");
    // Not before the word to stop was heard.
    wait_until("the refusal", || deliverer.is_stopping()).await;
    receiver.let_go();
    stopping.await.unwrap();
    assert!(world.delivery(stream, 1).await.state.delivered_ms.is_some(), "its result is stored");
    assert_eq!(receiver.got().len(), 1, "nothing was begun");
    deliverer.wake(stream);
    let deliverer = world.start(config());
    receiver.wait_for_taken(3).await;
    assert_eq!(receiver.got().len(), 3, "the first one is not sent again");
    receiver.prove(SECRET, &stream.to_string(), 3);
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sender_that_dies_in_the_middle_loses_nothing() {
    // Twenty of them: a quick sender makes all first retries one after the other, and after 31 failures without a
    // success between them it would rightly take the stream for broken.
    let receiver = Receiver::start(|got| {
        let fails = got.seq().is_multiple_of(20) && got.retries() < 2;
        Answer::Status(if fails { 500 } else { 200 })
    })
    .await;
    let (world, stream) = World::with_stream(&receiver, 400).await;
    for life in 1..=6 {
        let until = life * 60;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        // A runtime that is being torn down lets tasks fail that a dead process would not run. What they say then of
        // the stream counts for nobody.
        let directory = Arc::new(world.directory.copy());
        let deliverer = runtime
            .block_on_here(|| Deliverer::start(world.store.clone(), config(), directory).unwrap());
        wait_until("some of it", || receiver.got().len() >= until).await;
        // No stop: its tasks are gone where they stand, with results that nobody stored.
        std::mem::forget(deliverer);
        runtime.shutdown_background();
    }
    let deliverer = world.start(config());
    for seq in 1..=400 {
        world.wait_for(stream, seq, |delivery| delivery.state.delivered_ms.is_some()).await;
    }
    receiver.prove(SECRET, &stream.to_string(), 400);
    assert_eq!(world.directory.changes(), [], "the stream was sent all the time");
    deliverer.stop().await;
}

trait EnterRuntime {
    fn block_on_here<T>(&self, work: impl FnOnce() -> T) -> T;
}

impl EnterRuntime for tokio::runtime::Runtime {
    /// What is spawned within is the runtime's.
    fn block_on_here<T>(&self, work: impl FnOnce() -> T) -> T {
        let _guard = self.enter();
        work()
    }
}
