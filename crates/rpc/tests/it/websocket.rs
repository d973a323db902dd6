//! Requests and new heads over WebSocket.

use crate::fake_node::{FakeNode, Fault, hash};
use crate::setup::*;
use rpc::*;
use tokio::sync::watch::Receiver;

/// Polls so rarely that only the subscription can tell of a head in time.
fn subscribing() -> PoolConfig {
    PoolConfig { poll_ms: Some(600_000), ..config() }
}

fn both(node: &FakeNode) -> UpstreamConfig {
    UpstreamConfig { ws_url: Some(node.ws_url()), ..UpstreamConfig::from_url(node.url()) }
}

async fn head_becomes(heads: &mut Receiver<Option<Head>>, number: u64) {
    let waiting = heads.wait_for(|head| head.is_some_and(|head| head.number == number));
    tokio::time::timeout(std::time::Duration::from_secs(120), waiting).await.unwrap().unwrap();
}

#[tokio::test]
async fn new_heads_are_told_and_survive_a_broken_socket() {
    let node = FakeNode::start().await;
    let pool = pool_with(vec![both(&node)], subscribing());
    let mut heads = pool.heads();
    head_becomes(&mut heads, 100).await;
    eventually("subscribed", || node.count("eth_subscribe") == 1).await;
    node.mine(101);
    head_becomes(&mut heads, 101).await;
    node.hang_up();
    eventually("subscribed again", || node.count("eth_subscribe") == 2).await;
    node.mine(102);
    head_becomes(&mut heads, 102).await;
    assert_eq!(pool.status().upstreams[0].state, State::Healthy);
}

#[tokio::test]
async fn heads_missed_while_the_socket_was_broken_are_found() {
    let node = FakeNode::start().await;
    let pool = pool_with(vec![both(&node)], subscribing());
    let mut heads = pool.heads();
    eventually("subscribed", || node.count("eth_subscribe") == 1).await;
    // Nobody is told of this one: the poll after the loss must find it.
    node.set(|b| b.head = 105);
    node.hang_up();
    head_becomes(&mut heads, 105).await;
}

#[tokio::test]
async fn a_subscription_that_tells_nothing_is_made_anew() {
    let node = FakeNode::start().await;
    node.set(|b| b.mute = true);
    let pool = pool_with(vec![both(&node)], config());
    let mut heads = pool.heads();
    eventually("subscribed", || node.count("eth_subscribe") == 1).await;
    node.mine(101);
    head_becomes(&mut heads, 101).await;
    let mut head = 101;
    eventually("subscribed again", || {
        head += 1;
        node.mine(head);
        node.count("eth_subscribe") >= 2
    })
    .await;
}

#[tokio::test]
async fn a_node_with_only_a_socket_serves_everything() {
    let node = FakeNode::start().await;
    let pool = pool_with(vec![UpstreamConfig::from_url(node.ws_url())], subscribing());
    all_healthy(&pool).await;
    node.set(|b| b.fault = Fault::ReverseBatch);
    let fetches = (0..20).map(|n| pool.fetch(fetch_of(blocks(n..n + 3))));
    for (n, fetched) in (0..).zip(futures_util::future::join_all(fetches).await) {
        assert_eq!(numbers(&fetched.unwrap()), [n, n + 1, n + 2]);
    }
    node.set(|b| b.fault = Fault::BatchMax(2));
    assert_eq!(numbers(&pool.fetch(fetch_of(blocks(1..6))).await.unwrap()), [1, 2, 3, 4, 5]);
    let mut heads = pool.heads();
    node.mine(101);
    head_becomes(&mut heads, 101).await;
    node.hang_up();
    assert_eq!(numbers(&pool.fetch(fetch_of(blocks(1..3))).await.unwrap()), [1, 2]);
}

#[tokio::test]
async fn a_socket_that_hangs_is_slow_and_comes_back() {
    let node = FakeNode::start().await;
    let pool = pool_with(vec![UpstreamConfig::from_url(node.ws_url())], hasty());
    all_healthy(&pool).await;
    node.set(|b| b.fault = Fault::Hang);
    for _ in 0..3 {
        let _ = pool.fetch(fetch_of(blocks(1..2))).await;
    }
    state_becomes(&pool, 0, State::Slow).await;
    node.set(|b| b.fault = Fault::None);
    state_becomes(&pool, 0, State::Healthy).await;
}

#[tokio::test]
async fn an_error_that_names_no_request_is_nobodys_answer() {
    let node = FakeNode::start().await;
    let pool = pool_with(vec![UpstreamConfig::from_url(node.ws_url())], subscribing());
    all_healthy(&pool).await;
    node.set(|b| b.held = vec!["trace_block", "eth_getBlockReceipts"]);
    let ask = |call: Call| {
        let pool = pool.clone();
        tokio::spawn(async move { pool.fetch(fetch_of(vec![call])).await })
    };
    let asked = || [node.count("trace_block"), node.count("eth_getBlockReceipts")];
    let before = asked();
    let (first, second) = (ask(Call::trace_block(5)), ask(Call::block_receipts(5)));
    eventually("both are under way", || asked() == before.map(|n| n + 1)).await;
    node.say(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}"#);
    let again = || asked().iter().zip(before).all(|(now, before)| *now >= before + 2);
    eventually("both are asked again", again).await;
    node.set(|b| b.held.clear());
    for asked in [first, second] {
        let fetched = asked.await.unwrap().unwrap();
        assert!(fetched.answers[0].is_ok(), "{:?}", fetched.answers);
    }
    let shown = pool.status().upstreams[0].last_error.clone().unwrap().error;
    assert!(shown.contains("parse error"), "{shown}");
}

/// One event on a connection is one failure, however many requests were under way there.
#[tokio::test]
async fn a_socket_that_breaks_once_leaves_nobody_out() {
    let node = FakeNode::start().await;
    let pool = pool_with(vec![UpstreamConfig::from_url(node.ws_url())], subscribing());
    all_healthy(&pool).await;
    let healthy_since = pool.status().upstreams[0].since.clone();
    for event in ["error", "hang up"] {
        node.set(|b| b.held = vec!["trace_block"]);
        let before = node.count("trace_block");
        let fetches = (0..3).map(|block| {
            let pool = pool.clone();
            tokio::spawn(async move { pool.fetch(fetch_of(vec![Call::trace_block(block)])).await })
        });
        let fetches: Vec<_> = fetches.collect();
        eventually("all are under way", || node.count("trace_block") >= before + 3).await;
        match event {
            "error" => {
                node.say(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#);
            }
            _ => node.hang_up(),
        }
        // Some of them: how many are under way at once depends on how they fare.
        eventually("they are asked again", || node.count("trace_block") > before + 3).await;
        node.set(|b| b.held.clear());
        for fetch in fetches {
            assert!(fetch.await.unwrap().unwrap().answers[0].is_ok(), "after {event}");
        }
        let upstream = pool.status().upstreams[0].clone();
        assert_eq!((upstream.state, &upstream.since), (State::Healthy, &healthy_since), "{event}");
    }
}

#[tokio::test]
async fn a_clients_answer_that_breaks_its_socket_breaks_nothing_of_ingest() {
    let node = FakeNode::start().await;
    let config = PoolConfig { client_response_bytes_max: 50_000, ..subscribing() };
    let pool = pool_with(vec![UpstreamConfig::from_url(node.ws_url())], config);
    all_healthy(&pool).await;
    node.set(|b| (b.held, b.padding_bytes) = (vec!["trace_block"], 100_000));
    let before = node.count("trace_block");
    let ingest = tokio::spawn({
        let pool = pool.clone();
        async move { pool.fetch(fetch_of(vec![Call::trace_block(5)])).await }
    });
    eventually("it is under way", || node.count("trace_block") == before + 1).await;
    for _ in 0..4 {
        let error = pool.forward(Call::block_by_number(5, false)).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge { bound: Bound::Answer, .. }), "{error}");
    }
    node.set(|b| b.held.clear());
    assert!(ingest.await.unwrap().unwrap().answers[0].is_ok());
    assert_eq!(node.count("trace_block"), before + 1, "asked once");
    assert_eq!(pool.status().upstreams[0].state, State::Healthy);
}

#[tokio::test]
async fn a_reorg_at_the_same_height_is_seen_although_the_subscription_tells_nothing() {
    let node = FakeNode::start().await;
    let pool = pool_with(vec![both(&node)], config());
    let mut heads = pool.heads();
    eventually("subscribed", || node.count("eth_subscribe") == 1).await;
    node.mine(101);
    head_becomes(&mut heads, 101).await;
    eventually("it is shown", || pool.status().upstreams[0].subscribed == Some(true)).await;
    node.set(|b| b.fork = 7);
    let other = hash(7, 101);
    let waiting = heads.wait_for(|head| head.is_some_and(|head| head.hash.to_string() == other));
    tokio::time::timeout(std::time::Duration::from_secs(120), waiting).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_lost_subscription_is_shown_with_its_reason() {
    let node = FakeNode::start().await;
    let mut upstream = UpstreamConfig::from_url(node.url());
    upstream.ws_url = Some(format!("ws://127.0.0.1:{}/", FakeNode::free_port().await));
    let pool = pool_with(vec![upstream], subscribing());
    let shown = || pool.status().upstreams[0].clone();
    eventually("why is shown", || {
        shown().last_error.is_some_and(|it| it.error.contains("new heads over the socket"))
    })
    .await;
    assert_eq!((shown().subscribed, shown().watcher_restarts), (Some(false), 0));
    assert_eq!(shown().state, State::Healthy, "heads are polled instead");
}
