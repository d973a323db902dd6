//! Whose turn it is at a node, and what clients provoke there.

use crate::fake_node::{FakeNode, Fault};
use crate::setup::*;
use rpc::*;
use std::sync::Arc;

async fn one_node(node: &FakeNode, max_concurrency: usize, config: PoolConfig) -> Arc<Pool> {
    let mut upstream = UpstreamConfig::from_url(node.url());
    upstream.max_concurrency = Some(max_concurrency);
    let pool = pool_with(vec![upstream], config);
    all_healthy(&pool).await;
    pool
}

fn fetch_in(lane: Lane, calls: Vec<Call>) -> Fetch<'static> {
    Fetch { lane, ..fetch_of(calls) }
}

/// So many fetches that wait until somebody releases them.
fn spawn_traces(pool: &Arc<Pool>, count: u64) -> Vec<tokio::task::JoinHandle<Fetched>> {
    let fetch = |n: u64| {
        let pool = pool.clone();
        tokio::spawn(async move {
            pool.fetch(fetch_in(Lane::History, vec![Call::debug_trace_block(n)])).await.unwrap()
        })
    };
    (0..count).map(fetch).collect()
}

fn status(pool: &Pool) -> UpstreamStatus {
    pool.status().upstreams[0].clone()
}

#[tokio::test]
async fn a_head_block_comes_at_once_however_much_history_waits() {
    let node = FakeNode::start().await;
    let pool = one_node(&node, 4, quiet()).await;
    node.set(|b| b.held = vec!["debug_traceBlockByNumber"]);
    let history = spawn_traces(&pool, 144);
    eventually("history fills what it may", || status(&pool).in_flight == 3).await;
    eventually("the rest waits", || status(&pool).waiting == 141).await;
    // None of these ends before it is released, so this one cannot have waited for them.
    let head = pool.fetch(fetch_in(Lane::Head, blocks(100..101))).await.unwrap();
    assert_eq!(numbers(&head), [100]);
    assert!(history.iter().all(|fetch| !fetch.is_finished()));
    node.set(|b| b.held.clear());
    for fetch in history {
        fetch.await.unwrap();
    }
}

#[tokio::test]
async fn with_one_request_at_a_time_head_and_clients_are_next() {
    let node = FakeNode::start().await;
    let pool = one_node(&node, 1, quiet()).await;
    node.set(|b| b.held = vec!["debug_traceBlockByNumber"]);
    let history = spawn_traces(&pool, 144);
    eventually("history waits", || status(&pool).waiting == 143).await;
    let client = tokio::spawn({
        let pool = pool.clone();
        async move { pool.forward(call("eth_sendRawTransaction", "[]")).await.unwrap() }
    });
    eventually("the client waits", || status(&pool).waiting == 144).await;
    let head = tokio::spawn({
        let pool = pool.clone();
        async move { pool.fetch(fetch_in(Lane::Head, blocks(100..101))).await.unwrap() }
    });
    eventually("the head waits", || status(&pool).waiting == 145).await;
    let before = node.requests().len();
    node.set(|b| b.held.clear());
    head.await.unwrap();
    client.await.unwrap();
    for fetch in history {
        fetch.await.unwrap();
    }
    let methods: Vec<String> = node.requests()[before..]
        .iter()
        .map(|request| request["method"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(methods[..2], ["eth_getBlockByNumber", "eth_sendRawTransaction"]);
}

#[tokio::test]
async fn what_a_client_provokes_pauses_only_clients() {
    for fault in [
        Fault::Error(-32005, "query exceeds the limit"),
        Fault::Status(429, Some("3000")),
        Fault::Status(429, None),
    ] {
        let node = FakeNode::start().await;
        let pool = one_node(&node, 8, PoolConfig { attempts_max: 1, ..quiet() }).await;
        let before = status(&pool);
        node.set(|b| b.faults_of = vec![("eth_getLogs", fault.clone())]);
        let refused = pool.forward(call("eth_getLogs", "[{}]")).await;
        if let Fault::Error(code, message) = fault {
            let failure = refused.unwrap().answer.unwrap_err();
            assert_eq!((failure.code, failure.message.as_str()), (code, message), "its own words");
        } else {
            assert!(matches!(refused, Err(Error::RateLimited { .. })));
        }
        let after = status(&pool);
        assert_eq!((after.state, after.retry_in_ms), (State::Healthy, None), "{fault:?}");
        assert_eq!(after.concurrency_limit, before.concurrency_limit);
        if fault == Fault::Status(429, Some("3000")) {
            // The clients' pause is on for half a minute at least, and ingest does not keep it.
            assert!(after.clients_retry_in_ms.is_some_and(|ms| ms > 30_000), "{after:?}");
        }
        for lane in [Lane::History, Lane::Head] {
            let fetched = pool.fetch(fetch_in(lane, blocks(1..4))).await.unwrap();
            assert_eq!(numbers(&fetched), [1, 2, 3]);
        }
    }
}

#[tokio::test]
async fn a_refusal_that_ingest_meets_pauses_clients_too() {
    let (busy, other) = (FakeNode::start().await, FakeNode::start().await);
    let upstreams = [&busy, &other].map(|n| UpstreamConfig::from_url(n.url()));
    let pool = pool_with(upstreams.to_vec(), quiet());
    all_healthy(&pool).await;
    busy.set(|b| b.faults_of = vec![("eth_getBlockByNumber", Fault::Status(429, Some("3000")))]);
    let fetched = pool.fetch(fetch_in(Lane::History, blocks(1..2))).await.unwrap();
    assert_eq!(fetched.upstream, UpstreamId(1));
    let after = status(&pool);
    assert_eq!(after.state, State::RateLimited);
    assert!(after.clients_retry_in_ms.is_some_and(|ms| ms > 30_000), "{after:?}");
    let seen = busy.requests().len();
    for _ in 0..5 {
        let forwarded = pool.forward(call("eth_chainId", "[]")).await.unwrap();
        assert_eq!(forwarded.upstream, UpstreamId(1));
    }
    assert_eq!(busy.requests().len(), seen);
}

#[tokio::test]
async fn a_clients_slow_and_broken_calls_cost_ingest_nothing() {
    for fault in [Fault::Hang, Fault::Close, Fault::Truncate, Fault::Body("<html>")] {
        let node = FakeNode::start().await;
        let config = PoolConfig { timeout_ms: 300, attempts_max: 1, ..quiet() };
        let pool = one_node(&node, 8, config).await;
        let before = status(&pool);
        node.set(|b| b.faults_of = vec![("eth_call", fault.clone())]);
        for _ in 0..5 {
            assert!(pool.forward(call("eth_call", "[{}]")).await.is_err());
        }
        let after = status(&pool);
        assert_eq!((after.state, after.retry_in_ms), (State::Healthy, None), "{fault:?}");
        assert_eq!(after.concurrency_limit, before.concurrency_limit);
        assert!(after.last_error.is_some(), "an operator can see it");
    }
}

#[tokio::test]
async fn a_clients_good_calls_do_not_make_up_for_blocks_that_cannot_be_had() {
    let node = FakeNode::start().await;
    let pool = one_node(&node, 8, PoolConfig { attempts_max: 1, ..quiet() }).await;
    node.set(|b| b.faults_of = vec![("eth_getBlockByNumber", Fault::Close)]);
    for _ in 0..3 {
        pool.forward(call("eth_chainId", "[]")).await.unwrap();
        assert!(pool.fetch(fetch_in(Lane::History, blocks(1..2))).await.is_err());
    }
    state_becomes(&pool, 0, State::Dead).await;
}

/// Others' refusals make the node ask for a pause that is longer than a client waits.
#[tokio::test]
async fn a_call_whose_turn_comes_too_late_is_refused_at_once_with_the_time_to_wait() {
    let node = FakeNode::start().await;
    let config = PoolConfig { timeout_ms: 3_600_000, client_wait_ms: 5_000, ..quiet() };
    let pool = one_node(&node, 4, config).await;
    let refused = vec![("eth_getBalance", Fault::Status(429, Some("30")))];
    node.set(|b| b.faults_of = refused);
    let provoked = pool.forward(call("eth_getBalance", "[]")).await.unwrap_err();
    assert!(matches!(provoked, Error::RateLimited { .. }), "{provoked}");
    let waiting = pool.forward(call("eth_sendRawTransaction", "[]"));
    // Waiting for a turn would take as long as the node's pause, and longer.
    let error = tokio::time::timeout(std::time::Duration::from_secs(20), waiting)
        .await
        .expect("it is refused, not kept")
        .unwrap_err();
    let Error::RateLimited { retry_after: Some(wait), .. } = error else { panic!("{error}") };
    assert!(wait.as_secs() >= 5, "{wait:?}");
    assert_eq!(node.count("eth_sendRawTransaction"), 0);
    assert!(status(&pool).clients_retry_in_ms.is_some());
    assert_eq!(status(&pool).retry_in_ms, None, "ingest goes on");
}
