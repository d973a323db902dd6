//! What probing finds out.

use crate::fake_node::{Behaviour, FakeNode};
use crate::setup::*;
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
