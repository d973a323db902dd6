//! Every state an upstream can be in, and the way back.

use crate::fake_node::{Behaviour, FakeNode, Fault, hash};
use crate::setup::*;
use rpc::*;

fn lie() -> Evidence {
    Evidence {
        block: 7,
        check: "receipts root".into(),
        expected: "0xaa".into(),
        got: "0xbb".into(),
    }
}

#[tokio::test]
async fn a_healthy_upstream_shows_its_head_and_figures() {
    let node = FakeNode::start().await;
    let pool = healthy_pool(&[&node]).await;
    let mut heads = pool.heads();
    let head = heads.wait_for(Option::is_some).await.unwrap().unwrap();
    assert_eq!((head.number, head.hash.to_string()), (100, hash(0, 100)));
    node.mine(101);
    let head = heads.wait_for(|h| h.is_some_and(|h| h.number == 101)).await.unwrap().unwrap();
    assert_eq!((head.parent_hash.to_string(), head.timestamp), (hash(0, 100), 1212));
    let status = serde_json::to_value(pool.status()).unwrap();
    let upstream = &status["upstreams"][0];
    assert_eq!(upstream["state"], "healthy");
    assert_eq!(upstream["capabilities"]["receipts"], "block");
    assert_eq!(upstream["lag_blocks"], 0);
    assert!(upstream["latency_p95_ms"].is_number() && upstream["since"].is_string());
}

#[tokio::test]
async fn a_head_that_goes_back_is_told_as_it_is() {
    let node = FakeNode::start().await;
    let pool = healthy_pool(&[&node]).await;
    let mut heads = pool.heads();
    node.set(|b| (b.head, b.fork) = (97, 1));
    let back = heads.wait_for(|h| h.is_some_and(|h| h.number == 97)).await.unwrap().unwrap();
    assert_eq!(back.hash.to_string(), hash(1, 97));
}

#[tokio::test]
async fn a_node_of_another_chain_is_left_out_until_it_is_put_right() {
    let node = FakeNode::start_with(0, Behaviour { chain_id: 5, ..Behaviour::default() }).await;
    let pool = pool(&[&node]);
    let status = state_becomes(&pool, 0, State::WrongChain).await;
    assert_eq!(status.reason, "serves chain id 5, expected 1");
    let error = pool.fetch(fetch_of(blocks(1..2))).await.unwrap_err();
    assert!(matches!(error, Error::NoUpstream { .. }) && error.is_retryable(), "{error}");
    assert!(error.to_string().contains("chain id 5"), "{error}");
    node.set(|b| b.chain_id = 1);
    state_becomes(&pool, 0, State::Healthy).await;
}

#[tokio::test]
async fn a_dead_upstream_comes_back_when_its_node_does() {
    let port = FakeNode::free_port().await;
    let url = format!("http://127.0.0.1:{port}");
    let pool = pool_with(vec![UpstreamConfig::from_url(url)], config());
    let status = state_becomes(&pool, 0, State::Dead).await;
    assert!(status.reason.contains("could not connect"), "{}", status.reason);
    let node = FakeNode::start_with(port, Behaviour::default()).await;
    state_becomes(&pool, 0, State::Healthy).await;
    node.stop().await;
    state_becomes(&pool, 0, State::Dead).await;
    let anvil = Behaviour { client: "anvil", ..Behaviour::default() };
    let _node = FakeNode::start_with(port, anvil).await;
    state_becomes(&pool, 0, State::Healthy).await;
    // It was probed again: another client answers at the same place.
    assert_eq!(pool.capabilities(UpstreamId(0)).unwrap().traces, Traces::TraceBlock);
}

#[tokio::test]
async fn a_hanging_upstream_is_slow_and_requests_go_elsewhere() {
    let (hanging, other) = (FakeNode::start().await, FakeNode::start().await);
    let upstreams = [&hanging, &other].map(|n| UpstreamConfig::from_url(n.url()));
    let pool = pool_with(upstreams.to_vec(), hasty());
    all_healthy(&pool).await;
    hanging.set(|b| b.fault = Fault::Hang);
    let fetched = pool.fetch(fetch_of(blocks(1..3))).await.unwrap();
    assert_eq!(numbers(&fetched), [1, 2]);
    let status = state_becomes(&pool, 0, State::Slow).await;
    assert!(status.reason.contains("no answer within 300 ms"), "{}", status.reason);
    assert!(status.errors["timeout"] >= 3);
    hanging.set(|b| b.fault = Fault::None);
    state_becomes(&pool, 0, State::Healthy).await;
}

#[tokio::test]
async fn a_lagging_upstream_is_left_out_until_it_has_caught_up() {
    let (behind, ahead) = (FakeNode::start().await, FakeNode::start().await);
    ahead.set(|b| b.head = 120);
    let pool = pool(&[&behind, &ahead]);
    let status = state_becomes(&pool, 0, State::Lagging).await;
    assert_eq!(status.reason, "20 blocks behind the best head");
    assert_eq!(status.lag_blocks, Some(20));
    let fetched = pool.fetch(fetch_of(blocks(1..2))).await.unwrap();
    assert_eq!(fetched.upstream, UpstreamId(1));
    behind.mine(118);
    state_becomes(&pool, 0, State::Healthy).await;
}

#[tokio::test]
async fn a_liar_is_left_out_with_its_evidence_and_another_head_is_told() {
    let (liar, honest) = (FakeNode::start().await, FakeNode::start().await);
    liar.set(|b| (b.head, b.fork) = (105, 9));
    let slow_return = PoolConfig { backoff_min_ms: 60_000, ..config() };
    let upstreams = [&liar, &honest].map(|n| UpstreamConfig::from_url(n.url()));
    let pool = pool_with(upstreams.to_vec(), slow_return);
    all_healthy(&pool).await;
    let mut heads = pool.heads();
    heads.wait_for(|h| h.is_some_and(|h| h.number == 105)).await.unwrap();
    pool.report_lie(UpstreamId(0), lie());
    let head = heads.wait_for(|h| h.is_some_and(|h| h.number == 100)).await.unwrap().unwrap();
    assert_eq!(head.upstream, UpstreamId(1));
    let status = pool.status().upstreams[0].clone();
    assert_eq!(status.state, State::Lying);
    assert_eq!(status.reason, "sent block 7 with a wrong receipts root");
    assert_eq!(status.evidence[0].got, "0xbb");
    assert!(status.retry_in_ms.is_some_and(|ms| ms > 0));
}

#[tokio::test]
async fn a_liar_is_tried_again_later() {
    let node = FakeNode::start().await;
    let pool = healthy_pool(&[&node]).await;
    let before = node.count("eth_chainId");
    pool.report_lie(UpstreamId(0), lie());
    let status = state_becomes(&pool, 0, State::Healthy).await;
    assert!(node.count("eth_chainId") > before);
    assert_eq!(status.evidence.len(), 1);
}

#[tokio::test]
async fn a_rate_limited_upstream_rests_as_long_as_it_asked() {
    let (busy, other) = (FakeNode::start().await, FakeNode::start().await);
    let pool = healthy_pool(&[&busy, &other]).await;
    busy.set(|b| b.fault = Fault::Status(429, Some("3000")));
    let status = state_becomes(&pool, 0, State::RateLimited).await;
    assert!(status.retry_in_ms.is_some_and(|ms| ms > 30_000), "{:?}", status.retry_in_ms);
    let seen = busy.requests().len();
    for _ in 0..5 {
        let fetched = pool.fetch(fetch_of(blocks(1..2))).await.unwrap();
        assert_eq!(fetched.upstream, UpstreamId(1));
    }
    assert_eq!(busy.requests().len(), seen);
}

#[tokio::test]
async fn a_pause_without_a_time_ends_by_itself() {
    let node = FakeNode::start().await;
    let pool = healthy_pool(&[&node]).await;
    node.set(|b| b.fault = Fault::Error(-32005, "limit exceeded"));
    let status = state_becomes(&pool, 0, State::RateLimited).await;
    assert!(status.concurrency_limit < 4);
    node.set(|b| b.fault = Fault::None);
    assert_eq!(numbers(&pool.fetch(fetch_of(blocks(4..6))).await.unwrap()), [4, 5]);
}

#[tokio::test]
async fn a_pool_that_is_shut_down_says_so() {
    let node = FakeNode::start().await;
    let pool = healthy_pool(&[&node]).await;
    pool.shutdown();
    let error = pool.fetch(fetch_of(blocks(1..2))).await.unwrap_err();
    assert!(matches!(error, Error::Closed { .. }) && !error.is_retryable(), "{error}");
}

#[tokio::test]
async fn a_drained_upstream_gets_nothing_until_it_is_tried_again() {
    let (one, other) = (FakeNode::start().await, FakeNode::start().await);
    let pool = healthy_pool(&[&one, &other]).await;
    let first = pool.upstreams()[0];
    pool.drain(first);
    state_becomes(&pool, 0, State::Drained).await;
    // Neither what it says meanwhile nor what is said of it brings it back or changes why.
    pool.report_lie(first, lie());
    one.mine(105);
    for _ in 0..8 {
        let fetched = pool.fetch(fetch_of(blocks(1..2))).await.unwrap();
        assert_ne!(fetched.upstream, first);
    }
    assert_eq!(pool.status().upstreams[0].state, State::Drained);
    pool.retry(first);
    state_becomes(&pool, 0, State::Healthy).await;
}

fn hash_of(fork: u8, number: u64) -> alloy_primitives::B256 {
    hash(fork, number).parse().unwrap()
}

#[tokio::test]
async fn a_head_counts_when_its_block_was_given() {
    let (honest, far) = (FakeNode::start().await, FakeNode::start().await);
    let pool = healthy_pool(&[&honest, &far]).await;
    let (first, second) = (UpstreamId(0), UpstreamId(1));
    let mut heads = pool.heads();
    pool.expect_deliveries();
    pool.delivered(first, 100, hash_of(0, 100));
    far.mine(1_000_000_000);
    heads.wait_for(|h| h.is_some_and(|h| h.number == 1_000_000_000)).await.unwrap();
    let status = |at: usize| pool.status().upstreams[at].clone();
    assert_eq!((status(0).state, pool.head_number()), (State::Healthy, 100));
    for times in 1..5 {
        pool.not_delivered(second, 1_000_000_000);
        assert_eq!((status(1).state, status(1).heads_not_delivered), (State::Healthy, times));
    }
    heads.wait_for(|h| h.is_some_and(|h| h.upstream == first)).await.unwrap();
    pool.not_delivered(second, 1_000_000_000);
    let shown = status(1);
    assert_eq!((shown.state, shown.evidence[0].check.as_str()), (State::Lying, "announced head"));
    // Alone it is asked on.
    for _ in 0..9 {
        pool.not_delivered(first, 100);
    }
    assert_eq!((status(0).state, status(0).heads_not_delivered), (State::Healthy, 9));
    pool.delivered(first, 100, hash_of(0, 100));
    assert_eq!(status(0).heads_not_delivered, 0);
    // What was given counts.
    state_becomes(&pool, 1, State::Healthy).await;
    pool.delivered(second, 1_000_000_000, hash_of(0, 1_000_000_000));
    let status = state_becomes(&pool, 0, State::Lagging).await;
    assert_eq!(status.reason, "999999900 blocks behind the best head");
}

#[tokio::test]
async fn a_node_that_serves_another_chain_by_now_is_found_out_when_asked() {
    let node = FakeNode::start().await;
    let pool = healthy_pool(&[&node]).await;
    let id = pool.upstreams()[0];
    pool.check_chain(id).await.unwrap();
    node.set(|b| b.chain_id = 5);
    let error = pool.check_chain(id).await.unwrap_err();
    assert!(error.to_string().contains("serves chain id 5, expected 1"), "{error}");
    assert_eq!(pool.status().upstreams[0].state, State::WrongChain);
    node.set(|b| b.chain_id = 1);
    state_becomes(&pool, 0, State::Healthy).await;
}
