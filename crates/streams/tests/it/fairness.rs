//! One receiver's trouble is nobody else's.

use streams::delivery::DeliveryConfig;

use crate::receiver::{Answer, Receiver};
use crate::world::{World, config};

#[tokio::test(flavor = "multi_thread")]
async fn one_receiver_that_hangs_delays_nobody_else() {
    let world = World::new().await;
    let dead = Receiver::start(|_| Answer::Hang).await;
    // More streams than it has places.
    for number in 0..80 {
        let stream = world.add_stream(number, &dead.url).await;
        world.deliver(stream, 3).await;
    }
    let mut healthy = Vec::new();
    for number in 100..150 {
        let receiver = Receiver::healthy().await;
        let stream = world.add_stream(number, &receiver.url).await;
        world.deliver(stream, 4).await;
        healthy.push(receiver);
    }
    let deliverer = world.start(DeliveryConfig { connections_max: 64, ..config() });
    for receiver in &healthy {
        receiver.wait_for_taken(4).await;
    }
    assert!(dead.taken().is_empty(), "it hangs still");
    assert_eq!(dead.got().len(), 32, "as many as one receiver gets at once");
    dead.let_go();
    dead.wait_for_taken(240).await;
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_retries_of_one_receiver_that_hangs_hold_up_no_others_retries() {
    let world = World::new().await;
    let hanging = Receiver::start(|got| match got.retries() {
        0 => Answer::Status(500),
        _ => Answer::Hang,
    })
    .await;
    let stuck = world.add_stream(1, &hanging.url).await;
    world.deliver(stuck, 25).await;
    let deliverer = world.start(config());
    hanging.wait_for_got(33).await;
    let receiver =
        Receiver::start(|got| Answer::Status(if got.retries() < 2 { 500 } else { 200 })).await;
    let stream = world.add_stream(2, &receiver.url).await;
    world.deliver(stream, 5).await;
    deliverer.wake(stream);
    receiver.wait_for_taken(5).await;
    assert_eq!(hanging.got().len(), 33, "of one stream eight at once");
    hanging.let_go();
    hanging.wait_for_taken(25).await;
    deliverer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_url_counts_also_for_what_already_waits_for_the_old_one() {
    let world = World::new().await;
    let (dead, healthy) = (Receiver::start(|_| Answer::Hang).await, Receiver::healthy().await);
    let blocking = world.add_stream(1, &dead.url).await;
    let moving = world.add_stream(2, &dead.url).await;
    world.deliver(blocking, 1).await;
    let deliverer = world.start(DeliveryConfig { connections_per_host_max: 1, ..config() });
    dead.wait_for_got(1).await;
    world.deliver(moving, 2).await;
    deliverer.wake(moving);
    world.directory.change(moving, |target| target.webhook_url.clone_from(&healthy.url));
    dead.let_go();
    healthy.wait_for_taken(2).await;
    assert_eq!(dead.got().len(), 1);
    deliverer.stop().await;
}
