//! Requests and new heads over WebSocket.

use crate::fake_node::{FakeNode, Fault};
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
    tokio::time::timeout(std::time::Duration::from_secs(30), waiting).await.unwrap().unwrap();
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
