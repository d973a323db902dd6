//! Large answers and odd methods, with a node of a few lines behind a real socket.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use model::chain::{ChainId, ChainTable};
use rpc::{Pool, PoolConfig, PoolOptions, UpstreamConfig};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};

use crate::{ChainNode, Config, Gateway};

/// `trace_filter` gives so many bytes, and a little more.
const LARGE: usize = 100_000;

#[derive(Default)]
struct Node {
    logs_asked: AtomicUsize,
}

async fn answer(State(node): State<Arc<Node>>, body: Bytes) -> String {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let zero = format!("0x{}", "0".repeat(64));
    let block = json!({"number": "0x1", "hash": zero, "parentHash": zero, "timestamp": "0x1", "transactions": []});
    let result = match request["method"].as_str().unwrap() {
        "eth_chainId" => json!("0x1"),
        "eth_getBlockByNumber" => block,
        "trace_filter" => {
            node.logs_asked.fetch_add(1, Ordering::Relaxed);
            json!(["x".repeat(LARGE)])
        }
        "eth_gasPrice" => json!("0x5"),
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string();
        }
    };
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string()
}

struct Rig {
    gateway: Gateway,
    node: Arc<Node>,
    _folder: tempfile::TempDir,
}

async fn rig(config: Config, pool: PoolConfig) -> Rig {
    let node = Arc::new(Node::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = axum::Router::new().route("/", post(answer)).with_state(node.clone());
    tokio::spawn(async { axum::serve(listener, routes).await.unwrap() });
    let folder = tempfile::tempdir().unwrap();
    let store = store::Store::open(&store::Options::new(folder.path()), |_| {}).await.unwrap();
    let chain = Arc::new(ChainTable::builtin().unwrap().find("eth").unwrap().clone());
    let pool = Pool::start(PoolOptions {
        chain_id: 1,
        chain_label: "eth".into(),
        upstreams: vec![UpstreamConfig::from_url(url)],
        config: PoolConfig { backoff_min_ms: 20, attempts_max: 1, ..pool },
        poll_interval: Duration::from_secs(600),
    });
    let node_of = ChainNode { chain, pool: Some(pool.unwrap()), is_ingested: true };
    Rig { gateway: Gateway::new(config, store, [node_of]), node, _folder: folder }
}

impl Rig {
    async fn pieces(&self, body: &str) -> Vec<Bytes> {
        let requests = self.gateway.read(body.as_bytes());
        self.gateway.answer_in_pieces(ChainId(1), requests).await.unwrap().into_pieces()
    }

    async fn ask(&self, body: &str) -> Value {
        serde_json::from_slice(&self.pieces(body).await.concat()).unwrap()
    }
}

fn call(id: usize, method: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": []}).to_string()
}

fn batch(calls: usize) -> String {
    let calls: Vec<String> = (0..calls).map(|id| call(id, "trace_filter")).collect();
    format!("[{}]", calls.join(","))
}

#[tokio::test]
async fn a_batch_is_answered_as_far_as_its_budget_goes() {
    let config = Config { batch_bytes_max: 2 * LARGE, ..Config::default() };
    let rig = rig(config, PoolConfig::default()).await;
    let answers = rig.ask(&batch(100)).await;
    let answers = answers.as_array().unwrap();
    let ids: Vec<u64> = answers.iter().map(|a| a["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (0..100).collect::<Vec<_>>());
    let (good, bad): (Vec<_>, Vec<_>) = answers.iter().partition(|a| a.get("result").is_some());
    assert_eq!(good.len(), 2, "as many as fit");
    for refused in bad {
        assert_eq!(refused["error"]["code"], -32005);
        let text = refused["error"]["message"].as_str().unwrap();
        assert!(text.contains("batch together larger than 200000 bytes"), "{text}");
    }
    let asked = rig.node.logs_asked.load(Ordering::Relaxed);
    assert!(asked < 100, "the rest is not even asked for: {asked}");
    assert_eq!(rig.gateway.bytes_in_flight(), 0);
}

#[tokio::test]
async fn large_results_are_pieces_that_hold_their_room_until_they_are_sent() {
    let config = Config { bytes_in_flight_max: 3 * LARGE, ..Config::default() };
    let rig = rig(config, PoolConfig::default()).await;
    let mut pieces = rig.pieces(&batch(3)).await;
    let whole: Value = serde_json::from_slice(&pieces.concat()).unwrap();
    assert_eq!(whole.as_array().unwrap().len(), 3);
    assert_eq!(pieces.iter().filter(|piece| piece.len() > LARGE).count(), 3, "uncopied");
    assert!(rig.gateway.bytes_in_flight() > 2 * LARGE);
    let refused = rig.ask(&call(1, "trace_filter")).await;
    assert_eq!(refused["error"]["code"], -32005);
    let text = refused["error"]["message"].as_str().unwrap();
    assert!(text.contains("300000 bytes; try again later"), "{text}");
    assert_eq!(rig.ask(&call(1, "eth_gasPrice")).await["result"], "0x5", "small ones go on");
    pieces.truncate(2);
    assert!(rig.ask(&call(1, "trace_filter")).await["result"].is_array());
    drop(pieces);
    assert_eq!(rig.gateway.bytes_in_flight(), 0);
}

#[tokio::test]
async fn one_answer_that_is_too_large_says_what_to_do() {
    let pool = PoolConfig { client_response_bytes_max: LARGE / 2, ..PoolConfig::default() };
    let rig = rig(Config::default(), pool).await;
    let refused = rig.ask(&call(1, "trace_filter")).await;
    let expected =
        json!({"code": -32005, "message": "answer larger than 50000 bytes; narrow the request"});
    assert_eq!(refused["error"], expected);
}

#[tokio::test]
async fn all_in_one_is_the_same_text() {
    let rig = rig(Config::default(), PoolConfig::default()).await;
    let body = batch(2);
    let whole = rig.gateway.answer(ChainId(1), rig.gateway.read(body.as_bytes())).await;
    assert_eq!(whole.unwrap(), rig.pieces(&body).await.concat());
}

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        let is_ours = metadata.target().starts_with("gateway");
        metadata.is_event() && is_ours && *metadata.level() <= tracing::Level::DEBUG
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut Fields(&mut self.0.lock().unwrap()));
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

#[tokio::test]
async fn what_is_not_in_the_table_does_not_reach_a_node() {
    let strict = rig(Config::default(), PoolConfig::default()).await;
    for method in ["foo_bar", "txpool_content", "debug_traceBlockFromFile", "Eth_gasPrice"] {
        let refused = strict.ask(&call(1, method)).await;
        let why = format!("the method {method} does not exist or is not offered here");
        assert_eq!(refused["error"], json!({ "code": -32601, "message": why }));
    }
    let allow = vec!["foo_*".to_owned()];
    let allowing = rig(Config { allow, ..Config::default() }, PoolConfig::default()).await;
    let of_node = allowing.ask(&call(1, "foo_bar")).await;
    assert_eq!(of_node["error"]["message"], "no such method", "the node was asked");
}

#[tokio::test]
async fn a_method_cannot_forge_a_log_line() {
    let pool = PoolConfig { client_response_bytes_max: 10, ..PoolConfig::default() };
    let rig = rig(Config { allow: vec!["eth_x*".into()], ..Config::default() }, pool).await;
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    // Other tests meet the same line without a subscriber at the same time, which may hide it once.
    let mut logged = String::new();
    for _ in 0..50 {
        rig.ask(&call(1, "eth_x\nERROR forged\u{1b}[31m")).await;
        logged.clone_from(&log.0.lock().unwrap());
        if logged.contains("method=") {
            break;
        }
        tracing::callsite::rebuild_interest_cache();
    }
    assert!(logged.contains(r"method=eth_x\nERROR forged\u{1b}[31m"), "{logged}");
    assert!(!logged.chars().any(char::is_control), "{logged}");
}
