//! Each knob does what it says, where it says, and no more.

use crate::{
    client::{Socket, error_code, node, post, request, respond, result},
    json::parse,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{Fault, Rule, SimNode, write};

async fn status(node: &SimNode) -> u16 {
    post(node, &request("eth_blockNumber", json!([]))).await.status
}

#[tokio::test]
async fn an_answer_can_be_late() {
    let (_chain, node) = node(1).await;
    node.faults.add(Fault::Delay(Duration::from_millis(150)));
    let start = Instant::now();
    result(&node, "eth_chainId", json!([])).await;
    assert!(start.elapsed() >= Duration::from_millis(150));
}

#[tokio::test]
async fn a_request_can_fail_over_http_and_as_an_rpc_error() {
    let (_chain, node) = node(1).await;
    let id = node.faults.add(Fault::HttpError(500));
    assert_eq!(status(&node).await, 500);
    node.faults.remove(id);
    assert_eq!(status(&node).await, 200);
    node.faults.add(Fault::RpcError { code: -32000, message: "out of luck".into() });
    let response = respond(&node, "eth_blockNumber", json!([])).await;
    assert_eq!(response["error"], json!({ "code": -32000, "message": "out of luck" }));
}

#[tokio::test]
async fn a_rate_limit_says_when_to_come_back() {
    let (_chain, node) = node(1).await;
    node.faults.add(Rule::new(Fault::RateLimit { retry_after_s: 3 }).times(2));
    for _ in 0..2 {
        let answer = post(&node, &request("eth_chainId", json!([]))).await;
        assert_eq!((answer.status, answer.retry_after.as_deref()), (429, Some("3")));
    }
    assert_eq!(status(&node).await, 200);
    assert_eq!(node.faults.hits(), 2);
}

#[tokio::test]
async fn a_body_can_be_cut() {
    let (_chain, node) = node(1).await;
    node.faults.add(Fault::TruncatedBody);
    let answer = post(&node, &request("eth_getBlockByNumber", json!(["0x1", true]))).await;
    assert!(serde_json::from_slice::<Value>(&answer.body).is_err());
}

#[tokio::test]
async fn a_node_can_hang_and_still_be_stopped() {
    let (_chain, node) = node(1).await;
    node.faults.add(Fault::Hang);
    let request = request("eth_chainId", json!([]));
    let asked = tokio::time::timeout(Duration::from_millis(200), post(&node, &request)).await;
    assert!(asked.is_err());
    tokio::time::timeout(Duration::from_secs(60), node.stop()).await.unwrap();
}

#[tokio::test]
async fn the_chain_id_can_be_wrong() {
    let (_chain, node) = node(1).await;
    node.faults.add(Fault::WrongChainId(56));
    assert_eq!(result(&node, "eth_chainId", json!([])).await, "0x38");
    assert_eq!(result(&node, "net_version", json!([])).await, "56");
    assert_eq!(result(&node, "eth_blockNumber", json!([])).await, "0x1");
}

#[tokio::test]
async fn the_head_can_flap() {
    let (_chain, node) = node(10).await;
    node.faults.add(Fault::FlappingHead);
    let mut heads = Vec::new();
    for _ in 0..4 {
        heads.push(result(&node, "eth_blockNumber", json!([])).await);
    }
    assert_eq!(heads, ["0xa", "0x7", "0xa", "0x7"]);
}

#[tokio::test]
async fn a_node_can_lag() {
    let (chain, node) = node(10).await;
    let mut socket = Socket::open(&node).await;
    socket.call("eth_subscribe", json!(["newHeads"])).await;
    node.faults.add(Fault::Lag(4));
    assert_eq!(result(&node, "eth_blockNumber", json!([])).await, "0x6");
    assert!(result(&node, "eth_getBlockByNumber", json!(["0x7", false])).await.is_null());
    let latest = result(&node, "eth_getBlockByNumber", json!(["latest", false])).await;
    assert_eq!(latest["number"], "0x6");
    write(&chain).extend(1);
    assert_eq!(socket.next().await.unwrap()["params"]["result"]["number"], "0x7");
}

#[tokio::test]
async fn methods_can_be_missing() {
    let (_chain, node) = node(2).await;
    node.faults.add(Rule::no_block_receipts());
    node.faults.add(Rule::no_debug_trace());
    node.faults.add(Rule::no_parity_trace());
    for method in ["eth_getBlockReceipts", "debug_traceBlockByNumber", "trace_block"] {
        assert_eq!(error_code(&node, method, json!(["0x1"])).await, -32601);
    }
    assert_eq!(result(&node, "eth_blockNumber", json!([])).await, "0x2");
}

#[tokio::test]
async fn batches_can_be_refused_or_bounded() {
    let (_chain, node) = node(2).await;
    let batch = |n: usize| Value::Array(vec![request("eth_chainId", json!([])); n]);
    let id = node.faults.add(Fault::MaxBatch(3));
    assert!(parse(&post(&node, &batch(3)).await.body).is_array());
    assert!(parse(&post(&node, &batch(4)).await.body)["error"].is_object());
    node.faults.remove(id);
    node.faults.add(Fault::RefuseBatches);
    assert!(parse(&post(&node, &batch(1)).await.body)["error"].is_object());
    assert_eq!(result(&node, "eth_chainId", json!([])).await, "0x539");
}

#[tokio::test]
async fn subscriptions_can_be_silent_and_sockets_cut() {
    let (chain, node) = node(2).await;
    let mut socket = Socket::open(&node).await;
    socket.call("eth_subscribe", json!(["newHeads"])).await;
    let id = node.faults.add(Fault::SilentSubscription);
    write(&chain).extend(1);
    assert!(socket.next().await.is_none());
    node.faults.remove(id);
    write(&chain).extend(1);
    assert!(socket.next().await.is_some());
    node.faults.add(Fault::HttpError(500));
    socket.send("eth_blockNumber", json!([])).await;
    assert!(socket.next().await.is_none());
}

#[tokio::test]
async fn a_rule_strikes_only_where_it_is_limited_to() {
    let (_chain, node) = node(9).await;
    let fault = Fault::RpcError { code: -1, message: "no".into() };
    node.faults.add(Rule::new(fault).on_blocks(3..=4).on_block(7).on_methods(["trace_block"]));
    for number in 1..=9 {
        let params = json!([format!("{number:#x}")]);
        let response = respond(&node, "trace_block", params.clone()).await;
        let is_struck = response.get("error").is_some();
        assert_eq!(is_struck, [3, 4, 7].contains(&number));
        result(&node, "eth_getBlockReceipts", params).await;
    }
}

#[tokio::test]
async fn a_likely_fault_strikes_sometimes() {
    let (_chain, node) = node(1).await;
    node.faults.add(Rule::new(Fault::HttpError(503)).with_probability(0.5));
    let mut failures = 0;
    for _ in 0..40 {
        failures += u32::from(status(&node).await == 503);
    }
    assert!((8..=32).contains(&failures), "{failures} of 40");
}
