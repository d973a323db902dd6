//! Forwarding a user's calls, writes, and what may be shown.

use crate::fake_node::{FakeNode, Fault};
use crate::setup::*;
use rpc::*;

fn transaction() -> Call {
    call("eth_sendRawTransaction", r#"["0x02f8"]"#)
}

#[tokio::test]
async fn results_and_errors_pass_unchanged() {
    let node = FakeNode::start().await;
    let pool = healthy_pool(&[&node]).await;
    let forwarded = pool.forward(call("eth_chainId", "[]")).await.unwrap();
    assert_eq!(forwarded.answer.unwrap().json(), br#""0x1""#);
    node.set(|b| b.fault = Fault::Error(3, "execution reverted"));
    let forwarded = pool.forward(call("eth_call", "[{}]")).await.unwrap();
    let error: serde_json::Value =
        serde_json::from_slice(forwarded.answer.unwrap_err().json()).unwrap();
    let sent =
        serde_json::json!({"code": 3, "message": "execution reverted", "data": "0x08c379a0"});
    assert_eq!(error, sent);
}

#[tokio::test]
async fn a_method_one_node_lacks_is_asked_of_the_next() {
    let (plain, full) = (FakeNode::start().await, FakeNode::start().await);
    plain.set(|b| b.methods_missing = vec!["trace_block"]);
    let pool = healthy_pool(&[&plain, &full]).await;
    let forwarded = pool.forward(call("trace_block", r#"["0x5"]"#)).await.unwrap();
    assert_eq!(forwarded.upstream, UpstreamId(1));
    let forwarded = pool.forward(call("eth_unknown", "[]")).await.unwrap();
    assert_eq!(forwarded.answer.unwrap_err().code, -32601);
}

#[tokio::test]
async fn transport_failures_go_to_the_next() {
    let (first, second) = (FakeNode::start().await, FakeNode::start().await);
    let pool = healthy_pool(&[&first, &second]).await;
    first.stop().await;
    let forwarded = pool.forward(call("eth_chainId", "[]")).await.unwrap();
    assert_eq!(forwarded.upstream, UpstreamId(1));
}

#[tokio::test]
async fn users_cannot_take_an_upstream_from_the_others() {
    let node = FakeNode::start().await;
    let calm = PoolConfig { poll_ms: Some(60_000), attempts_max: 1, ..config() };
    let pool = pool_with(vec![UpstreamConfig::from_url(node.url())], calm);
    all_healthy(&pool).await;
    let before = pool.status().upstreams[0].concurrency_limit;
    node.set(|b| b.fault = Fault::Status(400, None));
    for _ in 0..5 {
        assert!(pool.forward(call("eth_call", "[{}]")).await.is_err());
    }
    let status = pool.status().upstreams[0].clone();
    assert_eq!((status.state, status.concurrency_limit), (State::Healthy, before));
    assert!(status.last_error.is_some());
}

#[tokio::test]
async fn a_write_that_may_have_arrived_is_not_sent_again() {
    let (first, second) = (FakeNode::start().await, FakeNode::start().await);
    let calm = PoolConfig { poll_ms: Some(60_000), ..config() };
    let upstreams = [&first, &second].map(|n| UpstreamConfig::from_url(n.url()));
    let pool = pool_with(upstreams.to_vec(), calm);
    all_healthy(&pool).await;
    first.set(|b| b.fault = Fault::Close);
    let error = pool.forward_once(transaction(), Repeat::Never).await.unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert_eq!(first.count("eth_sendRawTransaction"), 1);
    assert_eq!(second.count("eth_sendRawTransaction"), 0);
}

#[tokio::test]
async fn a_write_that_could_not_be_sent_goes_to_the_next() {
    let (first, second) = (FakeNode::start().await, FakeNode::start().await);
    let calm = PoolConfig { poll_ms: Some(60_000), ..config() };
    let upstreams = [&first, &second].map(|n| UpstreamConfig::from_url(n.url()));
    let pool = pool_with(upstreams.to_vec(), calm);
    all_healthy(&pool).await;
    first.stop().await;
    let forwarded = pool.forward_once(transaction(), Repeat::Never).await.unwrap();
    assert_eq!(forwarded.upstream, UpstreamId(1));
    assert_eq!(second.count("eth_sendRawTransaction"), 1);
}

#[tokio::test]
async fn secrets_of_a_url_are_never_shown() {
    let node = FakeNode::start().await;
    let url = format!("http://hunter2:hunter2@127.0.0.1:{}/v3/hunter2?k=hunter2", node.port);
    let mut upstream = UpstreamConfig::from_url(url);
    upstream.ws_url = Some(format!("ws://127.0.0.1:{}/hunter2", node.port));
    upstream.headers.insert("authorization".into(), "hunter2".into());
    let pool = pool_with(vec![upstream.clone()], config());
    all_healthy(&pool).await;
    node.stop().await;
    state_becomes(&pool, 0, State::Dead).await;
    let error = pool.fetch(fetch_of(blocks(1..2))).await.unwrap_err();
    let shown = format!(
        "{error} {error:?} {} {:?}",
        serde_json::to_string(&pool.status()).unwrap(),
        upstream
    );
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("http://127.0.0.1:"), "{shown}");
}

#[tokio::test]
async fn a_configuration_that_cannot_work_is_refused_without_telling_it() {
    for url in ["ftp://host/hunter2", "hunter2", "http://", "wss//hunter2"] {
        let options = PoolOptions {
            chain_id: 1,
            chain_label: "eth".into(),
            upstreams: vec![UpstreamConfig::from_url(url)],
            config: config(),
            poll_interval: std::time::Duration::from_secs(1),
        };
        let Err(error) = Pool::start(options) else { panic!("{url} was taken") };
        assert!(matches!(error, Error::Config { .. }) && !error.is_retryable());
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
}
