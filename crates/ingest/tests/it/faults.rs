//! Nodes that cannot do everything, or not always.

use std::time::Duration;

use rpc::{Receipts, Traces};
use testkit::{Fault, Rule, SharedChain, SimNode, write};

use crate::setup::*;

/// Follows a chain of 40 blocks, five more and a reorg through nodes with these faults.
async fn survives(seed: u64, dialect: Dialect, faults: Vec<Rule>) -> (SharedChain, SimNode) {
    let chain = sim(seed, 40);
    let node = node(&chain).await;
    for rule in faults {
        node.faults.add(rule);
    }
    let mut rig = Rig::new(&[&node]).await;
    rig.pool.timeout_ms = 2_000;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    write(&chain).extend(5);
    rig.reaches(&chain, &ingest).await;
    write(&chain).reorg(3, 5);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, dialect).await;
    let status = ingest.pool.status();
    assert!(status.upstreams[0].evidence.is_empty(), "{:?}", status.upstreams[0].evidence);
    let able = status.upstreams[0].capabilities.clone().unwrap();
    assert_eq!(able.traces == Traces::None, dialect == Dialect::None);
    if dialect == Dialect::Parity {
        assert_eq!(able.traces, Traces::TraceBlock);
    }
    (chain, node)
}

#[tokio::test]
async fn a_node_without_block_receipts() {
    let (_, node) = survives(41, Dialect::Geth, vec![Rule::no_block_receipts()]).await;
    assert!(node.faults.requests("eth_getTransactionReceipt") > 40 * 4);
}

#[tokio::test]
async fn a_node_with_neither_block_receipts_nor_traces() {
    let rules = vec![Rule::no_block_receipts(), Rule::no_debug_trace(), Rule::no_parity_trace()];
    survives(42, Dialect::None, rules).await;
}

#[tokio::test]
async fn a_node_without_traces() {
    survives(43, Dialect::None, vec![Rule::no_debug_trace(), Rule::no_parity_trace()]).await;
}

#[tokio::test]
async fn a_node_with_trace_block_only() {
    survives(44, Dialect::Parity, vec![Rule::no_debug_trace()]).await;
}

#[tokio::test]
async fn a_node_with_trace_block_and_single_receipts() {
    survives(45, Dialect::Parity, vec![Rule::no_debug_trace(), Rule::no_block_receipts()]).await;
}

#[tokio::test]
async fn a_node_that_refuses_batches() {
    survives(46, Dialect::Geth, vec![Fault::RefuseBatches.into()]).await;
}

#[tokio::test]
async fn a_node_that_takes_small_batches() {
    survives(47, Dialect::Geth, vec![Fault::MaxBatch(4).into()]).await;
}

#[tokio::test]
async fn a_node_that_asks_to_slow_down() {
    let limited = Rule::new(Fault::RateLimit { retry_after_s: 0 }).with_probability(0.1);
    survives(48, Dialect::Geth, vec![limited]).await;
}

#[tokio::test]
async fn a_node_that_hangs_now_and_then() {
    let hanging = Rule::new(Fault::Hang).with_probability(0.02).times(4);
    survives(49, Dialect::Geth, vec![hanging]).await;
}

#[tokio::test]
async fn a_node_whose_answers_break_off() {
    let broken = Rule::new(Fault::TruncatedBody).with_probability(0.05);
    survives(50, Dialect::Geth, vec![broken]).await;
}

#[tokio::test]
async fn a_node_with_errors_of_its_own() {
    let internal = Fault::RpcError { code: -32603, message: "internal error".into() };
    let rules = vec![
        Rule::new(internal).with_probability(0.02),
        Rule::new(Fault::HttpError(502)).with_probability(0.03),
    ];
    survives(51, Dialect::Geth, rules).await;
}

#[tokio::test]
async fn a_slow_node() {
    let slow = Rule::new(Fault::Delay(Duration::from_millis(80)));
    survives(52, Dialect::Geth, vec![slow]).await;
}

/// geth without an archive: the state of old blocks is gone, so they cannot be traced.
#[tokio::test]
async fn a_node_that_cannot_trace_old_blocks_gives_the_rest() {
    let chain = sim(53, 250);
    let node = node(&chain).await;
    let pruned = Fault::RpcError { code: -32000, message: "missing trie node 0xab".into() };
    let methods = ["debug_traceBlockByNumber", "trace_block"];
    node.faults.add(Rule::new(pruned).on_methods(methods).on_blocks(0..=140));
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    for number in 1..=140 {
        assert!(!rig.summary(number).await.unwrap().has_traces, "{number}");
    }
    for number in 200..=250 {
        assert!(rig.summary(number).await.unwrap().has_traces, "{number}");
    }
    let waiting = || ingest.progress.snapshot().waiting.unwrap_or_default();
    eventually("nobody waits", || waiting().is_empty(), waiting).await;
}

#[tokio::test]
async fn the_node_that_traces_is_asked_where_another_cannot() {
    let chain = sim(54, 40);
    let (plain, tracing) = (node(&chain).await, node(&chain).await);
    plain.faults.add(Rule::no_debug_trace());
    plain.faults.add(Rule::no_parity_trace());
    plain.faults.add(Rule::no_block_receipts());
    let rig = Rig::new(&[&plain, &tracing]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    for _ in 0..6 {
        write(&chain).extend(1);
        rig.reaches(&chain, &ingest).await;
    }
    rig.check(&chain, Dialect::Geth).await;
    let able = ingest.pool.capabilities(rpc::UpstreamId(0)).unwrap();
    assert_eq!((able.receipts, able.traces), (Receipts::Transaction, Traces::None));
}
