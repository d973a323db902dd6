//! Traces that cannot be had: late, short, failed, too slow, too large. The block goes in without them and
//! gets them later; nobody is called a liar, and neither the head nor history stands still.

use std::time::Duration;

use ingest::ChainIngest;
use model::chain::Verification;
use testkit::lies::TraceLie;
use testkit::{Fault, Rule, Tamper, write};

use crate::setup::*;

const TRACES: [&str; 2] = ["debug_traceBlockByNumber", "trace_block"];

/// Two of history and one that is a head; not those on which a node is tried when it is probed.
const UNTRACED: [u64; 3] = [42, 31, 7];

fn on_some_blocks(rule: Rule) -> Rule {
    UNTRACED.into_iter().fold(rule.on_methods(TRACES), Rule::on_block)
}

fn no_evidence(ingest: &ChainIngest) {
    for upstream in ingest.pool.status().upstreams {
        assert!(upstream.evidence.is_empty(), "{:?}", upstream.evidence);
    }
}

/// History and head go in with these blocks untraced, and heal once the fault is gone.
async fn heals(seed: u64, fault: Rule, prepare: impl FnOnce(&mut Rig)) {
    let chain = sim(seed, 40);
    let node = node(&chain).await;
    node.faults.add(on_some_blocks(fault));
    let mut rig = Rig::new(&[&node]).await;
    prepare(&mut rig);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    for _ in 0..3 {
        write(&chain).extend(1);
        rig.reaches(&chain, &ingest).await;
    }
    // The others are traced, at the latest by the queue.
    let left = async || {
        let left = rig.untraced().await;
        if left == UNTRACED { Ok(()) } else { Err(format!("{left:?}")) }
    };
    eventually_gives("all but these are traced", left).await;
    for number in 1..=43 {
        let summary = rig.summary(number).await.unwrap();
        assert_eq!(summary.has_traces, !UNTRACED.contains(&number), "{number}");
    }
    let failure = || ingest.progress.snapshot().trace_failure;
    eventually("the reason is told", || failure().is_some(), || "none").await;
    assert!(UNTRACED.contains(&failure().unwrap().block));
    no_evidence(&ingest);
    node.faults.clear();
    rig.check(&chain, Dialect::Geth).await;
    no_evidence(&ingest);
    eventually("nothing is told any more", || failure().is_none(), || format!("{:?}", failure()))
        .await;
}

#[tokio::test]
async fn a_block_with_one_trace_less_is_untraced() {
    heals(301, Tamper::DroppedTrace.into(), |_| {}).await;
}

#[tokio::test]
async fn a_block_with_an_empty_list_of_traces_is_untraced() {
    heals(302, Tamper::EmptyTraces.into(), |_| {}).await;
}

#[tokio::test]
async fn a_block_with_one_failed_trace_is_untraced() {
    heals(303, Tamper::FailedTrace.into(), |_| {}).await;
}

#[tokio::test]
async fn a_block_whose_traces_are_null_is_untraced() {
    heals(304, Fault::NotFound.into(), |_| {}).await;
}

#[tokio::test]
async fn a_block_whose_tracer_fails_is_untraced() {
    let fails = Fault::RpcError { code: -32000, message: "intrinsic gas too low: have 0".into() };
    heals(305, fails.into(), |_| {}).await;
}

#[tokio::test]
async fn a_block_whose_traces_never_come_is_untraced() {
    heals(306, Fault::Hang.into(), |rig| {
        rig.pool.timeout_ms = 300;
        rig.pool.attempts_max = 2;
    })
    .await;
}

#[tokio::test]
async fn a_block_whose_traces_are_too_large_is_untraced() {
    heals(307, Tamper::LargeTraces.into(), |rig| rig.pool.response_bytes_max = 1_000_000).await;
}

#[tokio::test]
async fn rows_of_parity_are_held_to_the_same() {
    let chain = sim(308, 30);
    let node = node(&chain).await;
    node.faults.add(Rule::no_debug_trace());
    let missing = node.faults.add(Rule::from(Tamper::DroppedTrace).on_blocks(10..=12));
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    assert_eq!(rig.untraced().await, [12, 11, 10]);
    node.faults.remove(missing);
    rig.check(&chain, Dialect::Parity).await;
    no_evidence(&ingest);
}

/// Polygon, where the rules are lenient: what is missing is missing there, too.
#[tokio::test]
async fn on_a_lenient_chain_a_missing_trace_makes_the_block_untraced_as_well() {
    let chain = sim(309, 20);
    let node = node(&chain).await;
    node.faults.add(Rule::from(Tamper::DroppedTrace).on_block(5));
    let mut rig = Rig::new(&[&node]).await;
    rig.chain = crate::setup::chain(Verification::Lenient);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    assert!(!rig.summary(5).await.unwrap().has_traces);
    node.faults.clear();
    rig.is_traced().await;
    no_evidence(&ingest);
}

#[tokio::test]
async fn another_node_that_traces_is_asked_at_once() {
    let chain = sim(310, 40);
    let (short, whole) = (node(&chain).await, node(&chain).await);
    short.faults.add(Rule::from(Tamper::EmptyTraces));
    let rig = Rig::new(&[&short, &whole]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    for _ in 0..5 {
        write(&chain).extend(1);
        rig.reaches(&chain, &ingest).await;
    }
    rig.check(&chain, Dialect::Geth).await;
    no_evidence(&ingest);
    assert!(short.faults.requests("debug_traceBlockByNumber") > 0);
}

/// A tracer that is broken altogether: blocks go in without traces, and are traced when it is mended.
#[tokio::test]
async fn a_tracer_that_never_answers_holds_nothing_up() {
    let chain = sim(311, 100);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.pool.timeout_ms = 400;
    rig.pool.attempts_max = 2;
    rig.config.head_trace_ms = 200;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.is_traced().await;
    // From now on; a node that does not trace in time when it is probed is not asked until it does.
    node.faults.add(Rule::new(Fault::Hang).on_methods(TRACES));
    for _ in 0..4 {
        write(&chain).extend(20);
        rig.reaches(&chain, &ingest).await;
    }
    no_evidence(&ingest);
    node.faults.clear();
    rig.check(&chain, Dialect::Geth).await;
}

/// What is short right after mining is whole a moment later: tries at the head are enough for that.
#[tokio::test]
async fn traces_that_come_a_moment_late_are_waited_for() {
    let chain = sim(312, 10);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.is_traced().await;
    let amended = ingest.progress.snapshot().blocks_amended;
    for number in 11..=20 {
        node.faults.add(Rule::from(Tamper::EmptyTraces).on_block(number).times(1));
        write(&chain).extend(1);
        rig.reaches(&chain, &ingest).await;
        assert!(rig.summary(number).await.unwrap().has_traces, "{number}");
    }
    assert_eq!(ingest.progress.snapshot().blocks_amended, amended, "traced at once");
}

/// A trace that contradicts its transaction is a lie as before.
#[tokio::test]
async fn a_root_that_does_not_fit_its_transaction_is_a_lie() {
    let chain = sim(313, 30);
    let (liar, honest) = (node(&chain).await, node(&chain).await);
    liar.faults.add(Tamper::ChangedTraceRoot);
    let rig = Rig::new(&[&liar, &honest]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    for _ in 0..3 {
        write(&chain).extend(1);
        rig.reaches(&chain, &ingest).await;
    }
    rig.check(&chain, Dialect::Geth).await;
    let status = ingest.pool.status();
    assert!(status.upstreams[0].evidence.iter().all(|it| it.check == "trace root"));
    assert!(!status.upstreams[0].evidence.is_empty());
    assert!(status.upstreams[1].evidence.is_empty());
}

/// Whatever cannot be what happened is a lie: the block goes in without, and is traced by another.
#[tokio::test]
async fn a_trace_that_cannot_be_is_a_lie_and_another_node_is_asked() {
    // A tree a thousand calls deep is more than the simulated node can write.
    let kinds = TraceLie::ALL.into_iter().filter(|kind| *kind != TraceLie::TooDeep);
    for (i, kind) in kinds.enumerate() {
        let chain = busy_sim(340 + i as u64, 24);
        let (liar, honest) = (node(&chain).await, node(&chain).await);
        liar.faults.add(Tamper::Trace(kind));
        let rig = Rig::new(&[&liar, &honest]).await;
        let ingest = rig.start();
        rig.reaches(&chain, &ingest).await;
        rig.check(&chain, Dialect::Geth).await;
        let status = ingest.pool.status();
        let evidence = &status.upstreams[0].evidence;
        assert!(!evidence.is_empty(), "{kind:?} was not noticed");
        assert!(evidence.iter().all(|it| it.check.starts_with("trace ")), "{evidence:?}");
        assert!(status.upstreams[1].evidence.is_empty());
    }
}

/// Alone: the blocks are stored, untraced where the traces cannot be, and complete once they can.
#[tokio::test]
async fn blocks_of_a_lone_node_whose_traces_cannot_be_are_stored_without_them() {
    let chain = busy_sim(360, 12);
    let node = node(&chain).await;
    node.faults.add(Rule::from(Tamper::Trace(TraceLie::OtherCaller)).on_blocks(4..=6));
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let untraced = rig.untraced().await;
    assert!(!untraced.is_empty() && untraced.iter().all(|n| (4..=6).contains(n)), "{untraced:?}");
    let evidence = ingest.pool.status().upstreams[0].evidence.clone();
    assert!(evidence.iter().any(|it| it.check == "trace caller"), "{evidence:?}");
    node.faults.clear();
    rig.check(&chain, Dialect::Geth).await;
}

/// As older nodes of geth's dialect answer: they are asked by hash, which binds them as well.
#[tokio::test]
async fn traces_that_name_no_transaction_are_asked_for_by_hash() {
    let chain = busy_sim(361, 12);
    let node = node(&chain).await;
    node.faults.add(Tamper::UnnamedTraces);
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    assert!(node.faults.requests("debug_traceBlockByHash") > 0);
    no_evidence(&ingest);
}

/// The node's head moved between two calls, say: nobody lied, and the block waits for its own traces.
#[tokio::test]
async fn traces_of_another_block_are_none_of_this_one() {
    heals(362, Tamper::OtherBlocksTraces.into(), |_| {}).await;
}

/// A node late by a while: every new block is stored at once, and traced when the node can.
#[tokio::test]
async fn a_tracer_that_lags_behind_its_own_head_is_caught_up_with() {
    let chain = sim(314, 20);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    for _ in 0..6 {
        let head = testkit::read(&chain).head_number();
        let late = Fault::RpcError { code: -32000, message: "header not found".into() };
        let rule =
            node.faults.add(Rule::new(late).on_methods(TRACES).on_blocks(head + 1..=head + 1));
        write(&chain).extend(1);
        rig.reaches(&chain, &ingest).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        node.faults.remove(rule);
    }
    rig.check(&chain, Dialect::Geth).await;
    no_evidence(&ingest);
}

/// The newest block has fewer traces than transactions when the node is probed, as on Polygon.
#[tokio::test]
async fn a_node_whose_traces_are_short_at_start_is_asked_on() {
    let chain = sim(315, 30);
    let node = node(&chain).await;
    node.faults.add(Rule::from(Tamper::DroppedTrace));
    let mut rig = Rig::new(&[&node]).await;
    // The other method has more rows than transactions, and passes for whole.
    rig.upstreams[0].traces = rpc::TraceChoice::DebugTraceBlock;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let failure = || ingest.progress.snapshot().trace_failure;
    eventually("the reason is told", || failure().is_some(), || "none").await;
    node.faults.clear();
    rig.check(&chain, Dialect::Geth).await;
    no_evidence(&ingest);
}

#[tokio::test]
async fn a_node_that_does_not_trace_at_start_is_probed_again_and_the_reason_is_told() {
    let chain = sim(316, 30);
    let node = node(&chain).await;
    // Parity's dialect stays away, so that a probe under way when the other comes back finds no other.
    node.faults.add(Rule::new(Fault::Hang).on_methods(["trace_block"]));
    let debug = ["debug_traceBlockByNumber", "debug_traceBlockByHash"];
    let hangs = node.faults.add(Rule::new(Fault::Hang).on_methods(debug));
    let mut rig = Rig::new(&[&node]).await;
    rig.pool.timeout_ms = 400;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let failure = || ingest.progress.snapshot().trace_failure.map(|it| it.reason);
    let says = |part: &str| failure().is_some_and(|reason| reason.contains(part));
    eventually("it is told", || says("no node in use traces"), || format!("{:?}", failure())).await;
    assert!(says("400 ms"), "and why: {:?}", failure());
    node.faults.remove(hangs);
    rig.check(&chain, Dialect::Geth).await;
}

/// The node's own timeout is far away: only the bound of history's traces can help.
#[tokio::test]
async fn a_trace_that_never_comes_does_not_hold_history_and_is_counted_while_it_is_asked_for() {
    let chain = sim(317, 40);
    let node = node(&chain).await;
    node.faults.add(Rule::new(Fault::Hang).on_methods(TRACES).on_block(7));
    let mut rig = Rig::new(&[&node]).await;
    rig.pool.timeout_ms = 3_600_000;
    rig.config.history_trace_ms = 200;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let untraced = || ingest.progress.snapshot().blocks_untraced;
    // It is being asked for, and that does not end.
    eventually("it is counted", || untraced() == Some(1), || format!("{:?}", untraced())).await;
    assert_eq!(rig.untraced().await, [7]);
    no_evidence(&ingest);
}

#[tokio::test]
async fn a_block_of_history_that_does_not_come_is_told_of() {
    let chain = sim(318, 40);
    let node = node(&chain).await;
    let hangs = Rule::new(Fault::Hang).on_methods(["eth_getBlockByNumber"]);
    let rig = Rig::new(&[&node]).await;
    // Not while the node is probed, which looks at the block in the middle.
    let hangs = node.faults.add(hangs.on_block(7));
    let ingest = rig.start();
    let waiting = || ingest.progress.snapshot().waiting.unwrap_or_default();
    // The highest block of the request that has it.
    let told = || waiting().starts_with("block ") && waiting().contains("was asked for");
    eventually("the block is named", told, waiting).await;
    node.faults.remove(hangs);
    rig.reaches(&chain, &ingest).await;
    eventually("nothing is told any more", || waiting().is_empty(), waiting).await;
}
