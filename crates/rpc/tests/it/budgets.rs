//! How much of nodes' answers may be in memory.

use crate::fake_node::{FakeNode, Fault};
use crate::setup::*;
use rpc::*;
use std::sync::Arc;

/// Blocks of a hundred KB and a little more.
const LARGE: usize = 100_000;

async fn pool_of_large_blocks(node: &FakeNode, config: PoolConfig) -> Arc<Pool> {
    let pool = pool_with(vec![UpstreamConfig::from_url(node.url())], config);
    all_healthy(&pool).await;
    node.set(|b| b.padding_bytes = LARGE);
    pool
}

fn block() -> Call {
    Call::block_by_number(5, false)
}

fn bound(error: Error) -> Bound {
    match error {
        Error::TooLarge { bound, .. } => bound,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn clients_answers_are_bounded_together_and_room_comes_back() {
    let node = FakeNode::start().await;
    let config = PoolConfig { client_bytes_in_flight_max: 3 * LARGE, ..quiet() };
    let pool = pool_of_large_blocks(&node, config).await;
    let mut held = vec![];
    for _ in 0..3 {
        held.push(pool.forward(block()).await.unwrap());
    }
    let before = node.count("eth_getBlockByNumber");
    let error = pool.forward(block()).await.unwrap_err();
    assert!(error.is_retryable() && error.to_string().contains("300000 bytes"), "{error}");
    assert_eq!(bound(error), Bound::InFlight);
    assert_eq!(node.count("eth_getBlockByNumber"), before + 1, "asking again would not help");
    // Neither a small question nor ingest has to do with that.
    pool.forward(call("eth_chainId", "[]")).await.unwrap();
    assert_eq!(numbers(&pool.fetch(fetch_of(blocks(5..6))).await.unwrap()), [5]);
    // A view into an answer counts as all of it.
    let view = held.pop().unwrap().answer.unwrap().into_bytes().slice(..1);
    assert!(pool.forward(block()).await.is_err());
    drop(view);
    assert!(pool.forward(block()).await.is_ok());
    drop(held);
    assert_eq!((pool.status().client_bytes, pool.status().ingest_bytes), (0, 0));
    assert_eq!(pool.status().upstreams[0].state, State::Healthy);
}

#[tokio::test]
async fn one_answer_to_a_client_may_be_too_large_where_ingest_takes_it() {
    let node = FakeNode::start().await;
    let config = PoolConfig { client_response_bytes_max: LARGE / 2, ..quiet() };
    let pool = pool_of_large_blocks(&node, config).await;
    let before = pool.status().upstreams[0].concurrency_limit;
    let error = pool.forward(block()).await.unwrap_err();
    assert!(!error.is_retryable(), "{error}");
    assert_eq!(bound(error), Bound::Answer);
    assert_eq!(numbers(&pool.fetch(fetch_of(blocks(5..6))).await.unwrap()), [5]);
    let after = &pool.status().upstreams[0];
    assert_eq!((after.state, after.concurrency_limit), (State::Healthy, before));
}

#[tokio::test]
async fn the_answers_of_a_batch_are_bounded_together() {
    let node = FakeNode::start().await;
    let pool = pool_of_large_blocks(&node, quiet()).await;
    let batch = ByteBudget::new(Bound::Batch, 2 * LARGE);
    let forward = || Forward { call: block(), batch: Some(&batch), route: Route::default() };
    let first = pool.forward(forward()).await.unwrap();
    let second = pool.forward_once(forward(), Repeat::Never).await.unwrap();
    assert_eq!(batch.spent(), None);
    let error = pool.forward(forward()).await.unwrap_err();
    assert_eq!(bound(error), Bound::Batch);
    assert_eq!(batch.spent().map(|over| over.bytes_max), Some(2 * LARGE));
    assert!(pool.forward(block()).await.is_ok(), "others have room");
    drop((first, second));
    assert_eq!(batch.used(), 0);
}

#[tokio::test]
async fn history_past_its_budget_goes_on_with_fewer_at_once_and_the_head_has_room() {
    let node = FakeNode::start().await;
    let config = PoolConfig {
        response_bytes_max: 2 * LARGE,
        ingest_bytes_in_flight_max: 4 * LARGE,
        ..quiet()
    };
    let pool = pool_of_large_blocks(&node, config).await;
    let before = pool.status().upstreams[0].concurrency_limit;
    let held = [
        pool.fetch(fetch_of(blocks(1..2))).await.unwrap(),
        pool.fetch(fetch_of(blocks(2..3))).await.unwrap(),
    ];
    let error = pool.fetch(fetch_of(blocks(3..4))).await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert_eq!(bound(error), Bound::InFlight);
    let after = pool.status().upstreams[0].clone();
    assert!(after.concurrency_limit < before, "{} < {before}", after.concurrency_limit);
    assert_eq!((after.state, after.retry_in_ms), (State::Healthy, None));
    let head = Fetch { lane: Lane::Head, ..fetch_of(blocks(100..101)) };
    assert_eq!(numbers(&pool.fetch(head).await.unwrap()), [100]);
    drop(held);
    assert_eq!(numbers(&pool.fetch(fetch_of(blocks(3..4))).await.unwrap()), [3]);
}

#[tokio::test]
async fn a_packed_answer_is_counted_as_it_unpacks() {
    if ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
        .iter()
        .any(|v| std::env::var_os(v).is_some())
    {
        println!(
            "SKIPPED: a proxy is configured, so packed answers cannot be had from this machine"
        );
        return;
    }
    let node = FakeNode::start().await;
    // Nodes next door are not asked to pack; by this address it does not look like one.
    let url = format!("http://0.0.0.0:{}/", node.port);
    let config = PoolConfig { response_bytes_max: 1 << 20, ..quiet() };
    let pool = pool_with(vec![UpstreamConfig::from_url(url)], config);
    all_healthy(&pool).await;
    node.set(|b| b.fault = Fault::Gzip(50 << 20));
    let error = pool.fetch(fetch_of(blocks(1..2))).await.unwrap_err();
    assert_eq!(bound(error), Bound::Answer);
    assert_eq!(pool.status().ingest_bytes, 0);
}

#[tokio::test]
async fn answers_over_a_socket_are_counted_too() {
    let node = FakeNode::start().await;
    let config = PoolConfig { client_bytes_in_flight_max: 2 * LARGE, ..quiet() };
    let pool = pool_with(vec![UpstreamConfig::from_url(node.ws_url())], config);
    all_healthy(&pool).await;
    node.set(|b| b.padding_bytes = LARGE);
    let held = [pool.forward(block()).await.unwrap(), pool.forward(block()).await.unwrap()];
    assert!(pool.status().client_bytes > LARGE);
    assert_eq!(bound(pool.forward(block()).await.unwrap_err()), Bound::InFlight);
    drop(held);
    assert_eq!(pool.status().client_bytes, 0);
    assert!(pool.forward(block()).await.is_ok());
}
