//! What probing finds out.

use crate::fake_node::{Behaviour, FakeNode, Fault, hash};
use crate::setup::*;
use alloy_primitives::B256;
use rpc::*;

async fn probed(behaviour: Behaviour, traces: TraceChoice) -> Capabilities {
    let node = FakeNode::start_with(0, behaviour).await;
    let mut upstream = UpstreamConfig::from_url(node.url());
    upstream.traces = traces;
    let pool = pool_with(vec![upstream], config());
    all_healthy(&pool).await;
    pool.capabilities(pool.upstreams()[0]).unwrap()
}

#[tokio::test]
async fn a_full_node_offers_everything() {
    let found = probed(Behaviour::default(), TraceChoice::Auto).await;
    let whole = Capabilities {
        client: "Geth/v1.16".into(),
        receipts: Receipts::Block,
        traces: Traces::DebugTraceBlock,
        oldest_block: 0,
        traces_old_blocks: true,
    };
    assert_eq!(found, whole);
}

#[tokio::test]
async fn a_plain_node_offers_less() {
    let methods_missing = vec![
        "eth_getBlockReceipts",
        "debug_traceBlockByNumber",
        "trace_block",
        "web3_clientVersion",
    ];
    let node = Behaviour { methods_missing, ..Behaviour::default() };
    let found = probed(node, TraceChoice::Auto).await;
    assert_eq!((found.receipts, found.traces), (Receipts::Transaction, Traces::None));
    assert_eq!((found.client.as_str(), found.traces_old_blocks), ("", false));
}

#[tokio::test]
async fn anvil_is_asked_for_trace_block() {
    let anvil = Behaviour { client: "anvil/v1.7.1", ..Behaviour::default() };
    assert_eq!(probed(anvil.clone(), TraceChoice::Auto).await.traces, Traces::TraceBlock);
    let forced = probed(anvil.clone(), TraceChoice::DebugTraceBlock).await;
    assert_eq!(forced.traces, Traces::DebugTraceBlock);
    assert_eq!(probed(anvil, TraceChoice::None).await.traces, Traces::None);
}

#[tokio::test]
async fn the_second_dialect_is_found_when_the_first_is_missing() {
    let methods_missing = vec!["debug_traceBlockByNumber"];
    let node = Behaviour { methods_missing, ..Behaviour::default() };
    assert_eq!(probed(node, TraceChoice::Auto).await.traces, Traces::TraceBlock);
}

#[tokio::test]
async fn a_pruned_node_says_where_its_history_begins() {
    let node = Behaviour { head: 1000, oldest: 637, traces_from: 900, ..Behaviour::default() };
    let found = probed(node, TraceChoice::Auto).await;
    assert_eq!((found.oldest_block, found.traces_old_blocks), (637, false));
    let young = Behaviour { head: 0, ..Behaviour::default() };
    assert_eq!(probed(young, TraceChoice::Auto).await.oldest_block, 0);
}

/// A node that is well after a while, and one upstream of it that was probed before.
async fn node_with(fault: Fault) -> (FakeNode, std::sync::Arc<Pool>) {
    let faults_of =
        ["debug_traceBlockByNumber", "trace_block"].map(|method| (method, fault.clone()));
    let behaviour = Behaviour { faults_of: faults_of.to_vec(), ..Behaviour::default() };
    let node = FakeNode::start_with(0, behaviour).await;
    let pool = pool_with(vec![UpstreamConfig::from_url(node.url())], hasty());
    all_healthy(&pool).await;
    (node, pool)
}

fn able(pool: &Pool) -> (Traces, bool) {
    let able = pool.capabilities(pool.upstreams()[0]).unwrap();
    (able.traces, able.traces_old_blocks)
}

fn trace_failure(pool: &Pool) -> String {
    pool.status().upstreams[0].trace_failure.clone().unwrap_or_default()
}

/// Right after mining, or with transactions of the chain's own kind, as on Polygon.
#[tokio::test]
async fn a_node_whose_traces_are_short_or_fail_when_it_is_probed_can_trace() {
    for (fault, why) in [
        (Fault::Result("[]"), "block 100: 0 traces of 1 transactions"),
        (Fault::Result("null"), "block 100: the traces are no list"),
        (Fault::Error(-32000, "header not ready"), "header not ready"),
        (Fault::Error(-32000, "missing trie node"), "missing trie node"),
    ] {
        let (_node, pool) = node_with(fault.clone()).await;
        assert_eq!(able(&pool).0, Traces::DebugTraceBlock, "{fault:?}");
        assert!(trace_failure(&pool).contains(why), "{}", trace_failure(&pool));
    }
}

#[tokio::test]
async fn of_two_methods_the_one_that_gives_all_is_taken() {
    let faults_of = vec![("debug_traceBlockByNumber", Fault::Error(-32000, "disabled"))];
    let node = Behaviour { faults_of, ..Behaviour::default() };
    assert_eq!(probed(node, TraceChoice::Auto).await.traces, Traces::TraceBlock);
}

#[tokio::test]
async fn a_node_that_could_not_trace_in_time_is_probed_again_until_it_can() {
    let (node, pool) = node_with(Fault::Hang).await;
    assert_eq!(able(&pool), (Traces::None, false));
    assert!(trace_failure(&pool).contains("300 ms"), "{}", trace_failure(&pool));
    let before = node.count("debug_traceBlockByNumber");
    eventually("it is asked again", || node.count("debug_traceBlockByNumber") > before).await;
    let mut changes = pool.changes();
    node.set(|node| node.faults_of.clear());
    // By the second method, where the node got well between the two.
    let traces = || able(&pool).0 != Traces::None && able(&pool).1;
    eventually("it traces", traces).await;
    assert!(changes.has_changed().unwrap(), "whoever waits for a tracer is told");
    changes.mark_unchanged();
    assert_eq!(pool.status().upstreams[0].trace_failure, None);
    let asked = node.count("debug_traceBlockByNumber");
    let polls = node.count("eth_getBlockByNumber");
    eventually("it is polled on", || node.count("eth_getBlockByNumber") > polls + 50).await;
    assert_eq!(node.count("debug_traceBlockByNumber"), asked, "what is sure is not asked again");
}

/// An upgrade behind the same address, which we may not notice otherwise.
#[tokio::test]
async fn a_node_that_does_not_know_the_methods_is_asked_again_rarely() {
    let methods_missing = vec!["debug_traceBlockByNumber", "trace_block"];
    let behaviour = Behaviour { methods_missing, ..Behaviour::default() };
    let node = FakeNode::start_with(0, behaviour).await;
    let pool = pool_with(vec![UpstreamConfig::from_url(node.url())], config());
    all_healthy(&pool).await;
    assert_eq!(able(&pool).0, Traces::None);
    assert!(trace_failure(&pool).contains("does not know"), "{}", trace_failure(&pool));
    node.set(|node| node.methods_missing.clear());
    eventually("it traces", || able(&pool) == (Traces::DebugTraceBlock, true)).await;
}

#[tokio::test]
async fn a_dev_chain_is_told_from_the_public_one_by_its_first_block() {
    let node = FakeNode::start().await;
    let own = hash(0, 0).parse().unwrap();
    let public = B256::repeat_byte(0xd4);
    let pool = healthy_pool(&[&node]).await;
    assert!(pool.is_dev_chain(public));
    assert!(!pool.is_dev_chain(own), "it is the public chain");
    // Whoever asks others, too, does not work on a chain of his own.
    let urls = [node.url(), "https://node.invalid".to_owned()];
    let beside_a_stranger = pool_with(urls.map(UpstreamConfig::from_url).into(), config());
    eventually("the near one is in use", || {
        beside_a_stranger.capabilities(beside_a_stranger.upstreams()[0]).is_some()
    })
    .await;
    assert!(!beside_a_stranger.is_dev_chain(public));
}
