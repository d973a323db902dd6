//! Pools with short waits, and waiting for conditions.

use crate::fake_node::FakeNode;
use rpc::*;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;

/// Generous: only a broken test waits this long.
const PATIENCE: Duration = Duration::from_secs(120);

pub fn config() -> PoolConfig {
    PoolConfig {
        timeout_ms: 20_000,
        backoff_min_ms: 20,
        backoff_max_ms: 100,
        poll_ms: Some(20),
        ..PoolConfig::default()
    }
}

/// For tests of nodes that hang.
pub fn hasty() -> PoolConfig {
    PoolConfig { timeout_ms: 300, ..config() }
}

pub fn pool(nodes: &[&FakeNode]) -> Arc<Pool> {
    pool_with(nodes.iter().map(|node| UpstreamConfig::from_url(node.url())).collect(), config())
}

pub fn pool_with(upstreams: Vec<UpstreamConfig>, config: PoolConfig) -> Arc<Pool> {
    Pool::start(PoolOptions {
        chain_id: 1,
        chain_label: "eth".into(),
        upstreams,
        config,
        poll_interval: Duration::from_secs(3600),
    })
    .unwrap()
}

/// A pool whose upstreams have all been probed and are in use.
pub async fn healthy_pool(nodes: &[&FakeNode]) -> Arc<Pool> {
    let pool = pool(nodes);
    all_healthy(&pool).await;
    pool
}

pub async fn all_healthy(pool: &Pool) {
    let states = || pool.status().upstreams.into_iter().map(|u| u.state);
    eventually("all upstreams are healthy", || states().all(|s| s == State::Healthy)).await;
}

pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waiting).await.is_ok(), "never happened: {what}");
}

pub async fn state_becomes(pool: &Pool, at: usize, state: State) -> UpstreamStatus {
    let status = || pool.status().upstreams[at].clone();
    eventually(&format!("upstream {at} is {state:?}"), || status().state == state).await;
    status()
}

pub fn fetch_of(calls: Vec<Call>) -> Fetch<'static> {
    Fetch { calls, not: &[], needs: Needs::default(), lane: Lane::History }
}

pub fn blocks(numbers: std::ops::Range<u64>) -> Vec<Call> {
    numbers.map(|number| Call::block_by_number(number, false)).collect()
}

/// The block numbers of answers, in their order.
pub fn numbers(fetched: &Fetched) -> Vec<u64> {
    let number = |answer: &CallResult| {
        let block: serde_json::Value = answer.as_ref().unwrap().parse().unwrap();
        u64::from_str_radix(block["number"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
    };
    fetched.answers.iter().map(number).collect()
}

pub fn call(method: &'static str, params: &str) -> Call {
    Call::new(method, RawValue::from_string(params.to_owned()).unwrap())
}

/// Without polls, so that only the test asks.
pub fn quiet() -> PoolConfig {
    PoolConfig { poll_ms: Some(600_000), ..config() }
}
