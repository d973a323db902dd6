//! Turns at the gate: order, the head's place, shares, pauses, giving up.

use super::*;
use futures_util::FutureExt;
use proptest::prelude::*;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::yield_now;

fn gate(max_concurrency: usize, requests_per_second: Option<f64>) -> Arc<Gate> {
    Arc::new(Gate::new(GateOptions { max_concurrency, requests_per_second }))
}

/// A request that waits in a lane, says so when it is let in, and leaves at once.
async fn waits(gate: &Arc<Gate>, lane: Lane, told: &mpsc::UnboundedSender<Lane>) {
    let (gate, told) = (gate.clone(), told.clone());
    tokio::spawn(async move {
        let _permit = gate.enter(lane, 1).await;
        told.send(lane).unwrap();
    });
    yield_now().await;
}

#[tokio::test]
async fn history_leaves_one_place_which_the_head_gets_at_once() {
    let gate = gate(4, None);
    let history: Vec<_> = [gate.enter(Lane::History, 1).await, gate.enter(Lane::History, 1).await]
        .into_iter()
        .chain([gate.enter(Lane::History, 1).await])
        .collect();
    assert!(gate.enter(Lane::History, 1).now_or_never().is_none(), "the fourth place is kept");
    assert!(gate.enter(Lane::Interactive, 1).now_or_never().is_none(), "for the head alone");
    let head = gate.enter(Lane::Head, 1).now_or_never().unwrap();
    assert_eq!((gate.in_flight(), gate.waiting(), gate.load()), (4, 0, 1.0));
    assert!(gate.enter(Lane::Head, 1).now_or_never().is_none());
    drop(head);
    drop(history);
    assert_eq!(gate.in_flight(), 0);
}

#[tokio::test]
async fn the_head_has_a_place_even_right_after_the_limit_shrank() {
    let gate = gate(4, None);
    let mut history = vec![];
    for _ in 0..3 {
        history.push(gate.enter(Lane::History, 1).await);
    }
    history.pop().unwrap().finish(Verdict::TooMuch);
    assert_eq!((gate.limit(), gate.in_flight()), (2, 2));
    let head = gate.enter(Lane::Head, 1).now_or_never();
    assert!(head.is_some());
}

#[tokio::test]
async fn with_one_place_the_head_is_next_and_lanes_keep_their_order() {
    let gate = gate(1, None);
    let (told, mut order) = mpsc::unbounded_channel();
    let held = gate.enter(Lane::History, 1).await;
    for lane in [Lane::History, Lane::Stream, Lane::Interactive, Lane::Head, Lane::Interactive] {
        waits(&gate, lane, &told).await;
    }
    drop(held);
    let mut seen = vec![];
    for _ in 0..5 {
        seen.push(order.recv().await.unwrap());
    }
    use Lane::*;
    assert_eq!(seen, [Head, Interactive, Interactive, Stream, History]);
}

#[tokio::test]
async fn a_lane_that_was_passed_over_often_enough_gets_a_turn() {
    let gate = gate(1, None);
    let (told, mut order) = mpsc::unbounded_channel();
    let held = gate.enter(Lane::Interactive, 1).await;
    for lane in [vec![Lane::History; 3], vec![Lane::Interactive; 30]].concat() {
        waits(&gate, lane, &told).await;
    }
    drop(held);
    let mut seen = vec![];
    for _ in 0..33 {
        seen.push(order.recv().await.unwrap());
    }
    let turns = seen.iter().enumerate().filter(|(_, lane)| **lane == Lane::History);
    let turns: Vec<usize> = turns.map(|(at, _)| at).collect();
    assert_eq!(turns, [8, 17, 26]);
}

#[tokio::test]
async fn every_waiter_gets_its_turn_even_if_others_give_up() {
    let gate = gate(1, None);
    let held = gate.enter(Lane::History, 1).await;
    let waiters: Vec<_> = (0..50)
        .map(|n| {
            let gate = gate.clone();
            let lane = Lane::ALL[n % 4];
            tokio::spawn(async move { drop(gate.enter(lane, 1).await) })
        })
        .collect();
    yield_now().await;
    for waiter in waiters.iter().step_by(2) {
        waiter.abort();
    }
    drop(held);
    for waiter in waiters.into_iter().skip(1).step_by(2) {
        waiter.await.unwrap();
    }
    assert_eq!(gate.load(), 0.0);
}

#[tokio::test]
async fn one_that_gives_up_just_when_it_is_let_in_leaves_its_place() {
    let gate = gate(1, None);
    let held = gate.enter(Lane::History, 1).await;
    let mut waiting = Box::pin(gate.enter(Lane::History, 1));
    assert!(waiting.as_mut().now_or_never().is_none());
    drop(held);
    assert_eq!(gate.in_flight(), 1, "let in, though it does not know yet");
    drop(waiting);
    assert_eq!((gate.in_flight(), gate.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_ingest_meets_keeps_every_lane_out() {
    for met_by in [Lane::Head, Lane::History] {
        let gate = gate(8, None);
        let start = Instant::now();
        let retry_after = Some(Duration::from_secs(7));
        gate.enter(met_by, 1).await.finish(Verdict::Refused { retry_after });
        for lane in Lane::ALL {
            assert!(gate.enter(lane, 1).now_or_never().is_none(), "{lane:?}");
            assert!(gate.paused_until(lane).is_some());
        }
        drop(gate.enter(Lane::Head, 1).await);
        assert_eq!(start.elapsed().as_secs(), 7);
        assert!(gate.enter(Lane::History, 1).now_or_never().is_some());
        assert_eq!(gate.limit(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_a_client_meets_keeps_out_its_own_lane_only() {
    for met_by in [Lane::Interactive, Lane::Stream] {
        let gate = gate(8, None);
        let start = Instant::now();
        let retry_after = Some(Duration::from_secs(7));
        gate.enter(met_by, 1).await.finish(Verdict::Refused { retry_after });
        for lane in Lane::ALL {
            let entered = gate.enter(lane, 1).now_or_never();
            assert_eq!(entered.is_some(), lane != met_by, "{lane:?} after {met_by:?}");
        }
        assert_eq!(gate.limit(), 4, "the common limit stays");
        drop(gate.enter(met_by, 1).await);
        assert_eq!(start.elapsed().as_secs(), 7);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_begins_while_others_wait_ends_for_them() {
    let gate = gate(1, None);
    let (told, mut order) = mpsc::unbounded_channel();
    let held = gate.enter(Lane::History, 1).await;
    for lane in [Lane::History, Lane::Interactive, Lane::History] {
        waits(&gate, lane, &told).await;
    }
    held.finish(Verdict::Refused { retry_after: Some(Duration::from_secs(3)) });
    for expected in [Lane::Interactive, Lane::History, Lane::History] {
        assert_eq!(order.recv().await, Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn the_rate_is_kept() {
    let gate = gate(8, Some(10.0));
    let start = Instant::now();
    for _ in 0..10 {
        gate.enter(Lane::History, 5).await.finish(Verdict::Unrelated);
    }
    // 50 calls, 10 saved up; the last batch may start with one token in hand.
    let seconds = start.elapsed().as_secs_f64();
    assert!((3.4..4.1).contains(&seconds), "{seconds}");
    // The head need not wait for that, up to a second's worth.
    assert!(gate.enter(Lane::Head, 1).now_or_never().is_some());
    drop(gate.enter(Lane::Head, 20).await);
    assert!(gate.enter(Lane::Head, 1).now_or_never().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever comes in whatever order and gives up whenever: nobody is stuck, no place is lost.
    #[test]
    fn no_order_of_coming_and_going_loses_a_place(
        max in 1usize..6,
        steps in proptest::collection::vec((0usize..4, 0u8..4, 0u8..6), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let gate = gate(max, Some(50.0));
            let mut tasks = vec![];
            for (lane, end, pause) in steps {
                let (gate, lane) = (gate.clone(), Lane::ALL[lane]);
                let task = tokio::spawn(async move {
                    let permit = gate.enter(lane, 3).await;
                    tokio::time::sleep(Duration::from_millis(u64::from(pause) * 7)).await;
                    permit.finish(match end {
                        0 => Verdict::Refused { retry_after: None },
                        1 => Verdict::TooMuch,
                        2 => Verdict::Done { latency: Some(Duration::from_millis(5)) },
                        _ => Verdict::Unrelated,
                    });
                });
                tokio::time::sleep(Duration::from_millis(u64::from(pause))).await;
                if end == 3 && pause > 2 {
                    task.abort();
                }
                tasks.push(task);
            }
            for task in tasks {
                // Time runs by itself here: a stuck waiter would let it run out.
                let ended = tokio::time::timeout(Duration::from_secs(864_000), task).await;
                assert!(ended.is_ok(), "stuck");
            }
            assert_eq!((gate.in_flight(), gate.waiting()), (0, 0));
        });
    }
}
