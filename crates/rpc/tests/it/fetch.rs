//! Fetching: batches, limits, broken answers, failover.

use crate::fake_node::{FakeNode, Fault};
use crate::setup::*;
use rpc::*;

#[tokio::test]
async fn answers_come_in_the_order_of_the_calls() {
    let node = FakeNode::start().await;
    let pool = healthy_pool(&[&node]).await;
    node.set(|b| b.fault = Fault::ReverseBatch);
    let fetched = pool.fetch(fetch_of(blocks(10..40))).await.unwrap();
    assert_eq!(numbers(&fetched), (10..40).collect::<Vec<_>>());
    assert!(node.requests().iter().any(|r| r.as_array().is_some_and(|list| list.len() == 20)));
}

#[tokio::test]
async fn a_node_that_refuses_batches_gets_single_calls() {
    let node = FakeNode::start().await;
    let pool = healthy_pool(&[&node]).await;
    node.set(|b| b.fault = Fault::RefuseBatch);
    for _ in 0..2 {
        assert_eq!(numbers(&pool.fetch(fetch_of(blocks(1..6))).await.unwrap()), [1, 2, 3, 4, 5]);
    }
    let batches = node.requests().iter().filter(|r| r.is_array()).count();
    assert_eq!(batches, 1, "learned from the first refusal");
    assert_eq!(pool.status().upstreams[0].batch_max, 1);
}

#[tokio::test]
async fn the_batch_size_is_learned() {
    let node = FakeNode::start().await;
    let pool = healthy_pool(&[&node]).await;
    node.set(|b| b.fault = Fault::BatchMax(6));
    let fetched = pool.fetch(fetch_of(blocks(1..21))).await.unwrap();
    assert_eq!(numbers(&fetched), (1..21).collect::<Vec<_>>());
    assert_eq!(pool.status().upstreams[0].batch_max, 5);
}

#[tokio::test]
async fn a_batch_whose_answer_is_too_large_is_split() {
    let node = FakeNode::start().await;
    let small = PoolConfig { response_bytes_max: 10_000, ..config() };
    let pool = pool_with(vec![UpstreamConfig::from_url(node.url())], small);
    all_healthy(&pool).await;
    node.set(|b| b.padding_bytes = 3_000);
    let fetched = pool.fetch(fetch_of(blocks(1..9))).await.unwrap();
    assert_eq!(numbers(&fetched), (1..9).collect::<Vec<_>>());
}

#[tokio::test]
async fn one_answer_that_is_too_large_is_an_error_without_retry() {
    let node = FakeNode::start().await;
    let small = PoolConfig { response_bytes_max: 10_000, poll_ms: Some(60_000), ..config() };
    let pool = pool_with(vec![UpstreamConfig::from_url(node.url())], small);
    all_healthy(&pool).await;
    node.set(|b| b.padding_bytes = 20_000);
    let before = node.count("eth_getBlockByNumber");
    let error = pool.fetch(fetch_of(blocks(1..2))).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { bytes_max: 10_000, .. }), "{error}");
    assert!(!error.is_retryable());
    assert_eq!(node.count("eth_getBlockByNumber"), before + 1);
    assert_eq!(pool.status().upstreams[0].state, State::Healthy);
}

#[tokio::test]
async fn broken_answers_go_to_the_next_upstream_in_order() {
    for fault in [
        Fault::Truncate,
        Fault::Close,
        Fault::Status(502, None),
        Fault::Status(401, None),
        Fault::Body("<html>"),
        Fault::Body(""),
        Fault::Body(r#"{"jsonrpc":"2.0","id":99999,"result":null}"#),
        Fault::Body(r#"{"jsonrpc":"2.0","id":1,"resu"#),
    ] {
        let nodes = [FakeNode::start().await, FakeNode::start().await, FakeNode::start().await];
        let pool = healthy_pool(&[&nodes[0], &nodes[1], &nodes[2]]).await;
        nodes[0].set(|b| b.fault = fault.clone());
        let fetched = pool.fetch(fetch_of(blocks(1..3))).await.unwrap();
        assert_eq!(fetched.upstream, UpstreamId(1), "{fault:?}");
        assert_eq!(numbers(&fetched), [1, 2]);
        let status = state_becomes(&pool, 0, State::Dead).await;
        assert!(status.last_error.is_some() && status.retry_in_ms.is_some());
    }
}

#[tokio::test]
async fn a_single_upstream_is_asked_again() {
    let node = FakeNode::start().await;
    let calm = PoolConfig { poll_ms: Some(60_000), ..config() };
    let pool = pool_with(vec![UpstreamConfig::from_url(node.url())], calm);
    all_healthy(&pool).await;
    node.set(|b| b.fault = Fault::Truncate);
    let before = node.requests().len();
    let fetching = tokio::spawn({
        let pool = pool.clone();
        async move { pool.fetch(fetch_of(blocks(1..2))).await }
    });
    eventually("the first request is broken", || node.requests().len() > before).await;
    node.set(|b| b.fault = Fault::None);
    assert_eq!(numbers(&fetching.await.unwrap().unwrap()), [1]);
}

#[tokio::test]
async fn attempts_are_bounded() {
    let node = FakeNode::start().await;
    let calm = PoolConfig { poll_ms: Some(60_000), attempts_max: 2, ..config() };
    let pool = pool_with(vec![UpstreamConfig::from_url(node.url())], calm);
    all_healthy(&pool).await;
    node.set(|b| b.fault = Fault::Truncate);
    let before = node.requests().len();
    let error = pool.fetch(fetch_of(blocks(1..2))).await.unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }) && error.is_retryable(), "{error}");
    assert_eq!(node.requests().len(), before + 2);
}

#[tokio::test]
async fn upstreams_can_be_avoided_and_needs_are_met() {
    let (plain, tracing) = (FakeNode::start().await, FakeNode::start().await);
    plain.set(|b| b.methods_missing = vec!["debug_traceBlockByNumber", "trace_block"]);
    let pool = healthy_pool(&[&plain, &tracing]).await;
    let ids = pool.upstreams();
    let avoiding = Fetch { not: &ids[..1], ..fetch_of(blocks(1..2)) };
    assert_eq!(pool.fetch(avoiding).await.unwrap().upstream, ids[1]);
    let needs = Needs { traces: true, ..Needs::default() };
    let traces = Fetch { needs, ..fetch_of(vec![Call::debug_trace_block(5)]) };
    assert_eq!(pool.fetch(traces.clone()).await.unwrap().upstream, ids[1]);
    assert!(pool.can(&needs));
    let error = pool.fetch(Fetch { not: &ids[1..], ..traces }).await.unwrap_err();
    assert!(matches!(error, Error::NoUpstream { .. }), "{error}");
}

#[tokio::test]
async fn a_node_that_lacks_the_state_is_not_the_last_word() {
    let (pruned, archive) = (FakeNode::start().await, FakeNode::start().await);
    let pool = healthy_pool(&[&pruned, &archive]).await;
    pruned.set(|b| b.traces_from = 90);
    let fetched = pool.fetch(fetch_of(vec![Call::debug_trace_block(5)])).await.unwrap();
    assert_eq!(fetched.upstream, UpstreamId(1));
    archive.set(|b| b.traces_from = 90);
    let fetched = pool.fetch(fetch_of(vec![Call::debug_trace_block(5)])).await.unwrap();
    assert_eq!(fetched.upstream, UpstreamId(0), "the first refusal is the answer");
    let refusal = fetched.answers[0].as_ref().unwrap_err();
    assert_eq!(refusal.kind(), RpcFailureKind::StateMissing);
}

#[tokio::test]
async fn many_fetches_at_once_all_end() {
    let node = FakeNode::start().await;
    let mut upstream = UpstreamConfig::from_url(node.url());
    (upstream.max_concurrency, upstream.requests_per_second) = (Some(8), Some(2_000.0));
    let pool = pool_with(vec![upstream], config());
    all_healthy(&pool).await;
    let fetches = (0..200).map(|n| pool.fetch(fetch_of(blocks(n % 90..n % 90 + 3))));
    let fetched = futures_util::future::join_all(fetches).await;
    assert!(fetched.iter().all(Result::is_ok));
    let status = pool.status().upstreams[0].clone();
    assert!(status.concurrency_limit > 4, "grew to {}", status.concurrency_limit);
    eventually("nothing is under way", || pool.status().upstreams[0].in_flight == 0).await;
}

#[tokio::test]
async fn without_upstreams_the_error_says_so() {
    let pool = pool_with(vec![], config());
    let error = pool.fetch(fetch_of(blocks(1..2))).await.unwrap_err();
    assert_eq!(error.to_string(), "no upstream of eth can answer: none is configured");
}
