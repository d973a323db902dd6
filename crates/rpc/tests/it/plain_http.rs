//! Connections to a node next door: kept, used again, and replaced without anybody noticing.

use crate::setup::*;
use rpc::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What a node does with a connection after an answer.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Keep,
    /// Says so in the answer.
    SayClose,
    /// Does not say so.
    Close,
}

/// A node that writes its own HTTP, and counts connections.
struct RawNode {
    url: String,
    connections: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl RawNode {
    async fn start(after: After, is_chunked: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/rpc/v1?key=a%20b", listener.local_addr().unwrap());
        let (connections, heads) = (Arc::<AtomicUsize>::default(), Arc::default());
        let (counted, seen) = (connections.clone(), Arc::clone(&heads));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(converse(stream, after, is_chunked, Arc::clone(&seen)));
            }
        });
        RawNode { url, connections, heads }
    }

    async fn pool(&self) -> Arc<Pool> {
        let config = UpstreamConfig { max_batch: Some(1), ..UpstreamConfig::from_url(&self.url) };
        let pool = pool_with(vec![config], config_without_polls());
        all_healthy(&pool).await;
        pool
    }
}

fn config_without_polls() -> PoolConfig {
    PoolConfig { poll_ms: Some(3_600_000), ..config() }
}

async fn converse(
    stream: TcpStream,
    after: After,
    is_chunked: bool,
    heads: Arc<Mutex<Vec<String>>>,
) {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        heads.lock().unwrap().push(head);
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let answer = answer(&serde_json::from_slice(&body).unwrap());
        let close = if after == After::SayClose { "connection: close\r\n" } else { "" };
        let text = if is_chunked {
            let (one, other) = answer.split_at(answer.len() / 2);
            let chunks =
                format!("{:x}\r\n{one}\r\n{:x}\r\n{other}\r\n0\r\n\r\n", one.len(), other.len());
            format!("HTTP/1.1 200 OK\r\n{close}transfer-encoding: chunked\r\n\r\n{chunks}")
        } else {
            format!("HTTP/1.1 200 OK\r\n{close}content-length: {}\r\n\r\n{answer}", answer.len())
        };
        stream.write_all(text.as_bytes()).await.unwrap();
        if after != After::Keep {
            return;
        }
    }
}

fn answer(request: &serde_json::Value) -> String {
    let block = serde_json::json!({ "number": "0x64", "hash": format!("0x{:064x}", 100),
        "parentHash": format!("0x{:064x}", 99), "timestamp": "0x1" });
    let result = match request["method"].as_str().unwrap() {
        "eth_chainId" => "0x1".into(),
        "eth_getBlockByNumber" => block,
        "eth_call" => request["params"][0]["data"].clone(),
        _ => serde_json::Value::Null,
    };
    serde_json::json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string()
}

fn call(number: u64) -> (Call, String) {
    let data = format!("{number:#x}");
    (Call::listed("eth_call", format!(r#"[{{"data":"{data}"}},"latest"]"#)), format!("\"{data}\""))
}

/// One after the other; each answer must be its own.
async fn ask(pool: &Pool, calls: std::ops::Range<u64>) {
    for number in calls {
        let (call, expected) = call(number);
        let forwarded = pool.forward(call).await.unwrap();
        assert_eq!(forwarded.answer.unwrap().json(), expected.as_bytes());
    }
}

#[tokio::test]
async fn a_connection_is_used_again_whatever_form_answers_have() {
    for is_chunked in [false, true] {
        let node = RawNode::start(After::Keep, is_chunked).await;
        let pool = node.pool().await;
        ask(&pool, 0..1).await;
        let before = node.connections.load(Ordering::Relaxed);
        ask(&pool, 1..100).await;
        assert_eq!(node.connections.load(Ordering::Relaxed), before, "chunked: {is_chunked}");
    }
}

#[tokio::test]
async fn calls_at_the_same_time_have_connections_of_their_own() {
    let node = RawNode::start(After::Keep, false).await;
    let pool = node.pool().await;
    let asking = (0..32).map(|at| ask(&pool, at * 100..at * 100 + 20));
    futures_util::future::join_all(asking).await;
}

#[tokio::test]
async fn a_node_that_closes_after_each_answer_is_asked_all_the_same() {
    for after in [After::SayClose, After::Close] {
        let node = RawNode::start(after, false).await;
        let pool = node.pool().await;
        for number in 0..50 {
            ask(&pool, number..number + 1).await;
            // So that it is seen that the node has closed.
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        let calls = pool.status().upstreams[0].clone();
        assert!(calls.errors.is_empty(), "{:?}", calls.errors);
    }
}

#[tokio::test]
async fn path_query_and_host_are_those_of_the_url() {
    let node = RawNode::start(After::Keep, false).await;
    let pool = node.pool().await;
    ask(&pool, 0..1).await;
    let head = node.heads.lock().unwrap().last().unwrap().to_ascii_lowercase();
    assert!(head.starts_with("post /rpc/v1?key=a%20b http/1.1\r\n"), "{head}");
    let host = node.url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    assert!(head.contains(&format!("\r\nhost: {host}\r\n")), "{head}");
    assert!(head.contains("\r\ncontent-type: application/json\r\n"), "{head}");
}
