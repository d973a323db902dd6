//! Round trips that others recorded, through a server that stores nothing and forwards to a node which answers as the
//! record does: alone and in a batch, and what cannot change again from the cache.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use api::{Parts, ServedChain};
use axum::extract::State;
use axum::routing::post;
use flate2::read::GzDecoder;
use gateway::{ChainNode, Gateway};
use model::chain::{ChainId, ChainTable, PrivateChain, Verification};
use rpc::{Pool, PoolOptions, UpstreamConfig};
use serde_json::{Value, json};

use crate::test_server::*;

/// One request and what was answered.
struct RoundTrip {
    name: String,
    request: Value,
    response: Value,
}

/// Answers as the record does.
struct RecordedNode {
    chain_id: String,
    head: Value,
    answers: HashMap<String, Value>,
}

/// What an answer depends on. A block that is left out, `latest` and the head's number are the same.
fn key(method: &str, params: &Value, head: &Value) -> String {
    let mut params = params.as_array().cloned().unwrap_or_default();
    for param in &mut params {
        if *param == head["number"] {
            *param = json!("latest");
        }
        for end in ["fromBlock", "toBlock"] {
            if param.get(end).is_some_and(|it| *it == head["number"]) {
                param[end] = json!("latest");
            }
        }
    }
    while params.last().is_some_and(|last| *last == json!("latest")) {
        params.pop();
    }
    format!("{method} {}", Value::from(params))
}

impl RecordedNode {
    fn new(chain_id: u64, trips: &[RoundTrip]) -> Self {
        let number = |block: &Value| {
            u64::from_str_radix(block["number"].as_str()?.trim_start_matches("0x"), 16).ok()
        };
        let is_block = |trip: &&RoundTrip| {
            trip.request["method"].as_str().unwrap().starts_with("eth_getBlockBy")
        };
        let blocks = trips.iter().filter(is_block).map(|trip| &trip.response["result"]);
        let whole =
            blocks.filter(|block| block["hash"].is_string() && block["parentHash"].is_string());
        let head = whole.max_by_key(|block| number(block)).cloned().unwrap_or_else(|| {
            let zero = format!("0x{}", "0".repeat(64));
            json!({ "number": "0x0", "hash": zero, "parentHash": zero, "timestamp": "0x0", "transactions": [] })
        });
        let answers = trips.iter().map(|trip| {
            let asked =
                key(trip.request["method"].as_str().unwrap(), &trip.request["params"], &head);
            (asked, trip.response.clone())
        });
        RecordedNode { chain_id: format!("{chain_id:#x}"), answers: answers.collect(), head }
    }

    fn answer(&self, request: &Value) -> Value {
        let (method, params) = (request["method"].as_str().unwrap_or_default(), &request["params"]);
        let mut answer = match self.answers.get(&key(method, params, &self.head)) {
            Some(recorded) => recorded.clone(),
            None => match method {
                "eth_chainId" => json!({ "result": self.chain_id }),
                "eth_getBlockByNumber" => json!({ "result": self.head }),
                "eth_getBlockByHash" if params[0] == self.head["hash"] => {
                    json!({ "result": self.head })
                }
                "eth_getBlockByHash" => json!({ "result": null }),
                _ => json!({ "error": { "code": -32601, "message": "not recorded" } }),
            },
        };
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = request["id"].clone();
        answer
    }
}

async fn serve_record(State(node): State<Arc<RecordedNode>>, body: axum::body::Bytes) -> String {
    match serde_json::from_slice::<Value>(&body).unwrap() {
        Value::Array(calls) => {
            Value::from(calls.iter().map(|it| node.answer(it)).collect::<Vec<_>>()).to_string()
        }
        call => node.answer(&call).to_string(),
    }
}

/// A server with `ingest = "off"` for this chain before that node.
fn server(chain_id: u64, node: RecordedNode) -> TestServer {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = open(&store::Options::new(folder.path()));
    let mut table = ChainTable::builtin().unwrap();
    if table.get(ChainId(chain_id)).is_none() {
        let verification = Some(Verification::Full);
        let private =
            PrivateChain { verification, ..PrivateChain::new(ChainId(chain_id), "recorded") };
        table = table.with_private(private).unwrap();
    }
    let chain = Arc::new(table.get(ChainId(chain_id)).unwrap().clone());
    let pool = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let routes = axum::Router::new().route("/", post(serve_record)).with_state(Arc::new(node));
        let routes = routes.layer(axum::extract::DefaultBodyLimit::disable());
        tokio::spawn(async { axum::serve(listener, routes).await.unwrap() });
        let options = PoolOptions {
            chain_id,
            chain_label: "recorded".into(),
            upstreams: vec![UpstreamConfig::from_url(url)],
            config: rpc::PoolConfig::default(),
            poll_interval: Duration::from_secs(600),
        };
        let pool = Pool::start(options).unwrap();
        tokio::spawn(gateway::keep_head_account(pool.clone(), chain.clone()));
        let mut heads = pool.heads();
        heads.wait_for(Option::is_some).await.unwrap();
        pool
    });
    let served = ServedChain {
        chain: chain.clone(),
        pool: Some(pool.clone()),
        ingest: None,
        redecode: None,
        audit: None,
    };
    let parts = assembled(store.clone(), folder.path(), table, vec![served]);
    let config = gateway::Config { allow: vec!["*".into()], ..gateway::Config::default() };
    let gateway = Gateway::new(config, store, [ChainNode { chain, pool: Some(pool) }]);
    let parts = Parts { gateway, config: api::Config::default(), ..parts };
    TestServer::serve(runtime, folder, parts)
}

fn post_to(server: &TestServer, chain_id: u64, body: &Value) -> (Value, Option<String>) {
    let head = format!("POST /{chain_id:#x}/{KEY} HTTP/1.1\r\ncontent-type: application/json\r\n");
    let answer = server.send(&head, body.to_string().as_bytes());
    let text = if answer.header("transfer-encoding") == Some("chunked") {
        unchunked(&answer.body)
    } else {
        answer.body.clone()
    };
    let json =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {}", answer.head));
    (json, answer.header("x-answered-from").map(str::to_owned))
}

fn unchunked(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap_or(0);
        text.push_str(&rest[..length]);
        body = rest[length..].trim_start_matches("\r\n");
    }
    text
}

/// Only what means something: an envelope's members are written in any order, and some leave out what is null.
fn said(answer: &Value) -> Value {
    match answer.get("error") {
        Some(error) => json!({ "error": error }),
        None => json!({ "result": answer["result"] }),
    }
}

#[derive(Default)]
struct Score {
    trips: usize,
    alone: usize,
    batch: usize,
    cached: usize,
    wrong: Vec<String>,
}

/// By a block's hash: what came once comes again from the cache.
fn is_immutable(trip: &RoundTrip) -> bool {
    let by_hash = [
        "eth_getBlockByHash",
        "eth_getUncleByBlockHashAndIndex",
        "eth_getTransactionByBlockHashAndIndex",
    ];
    let result = &trip.response["result"];
    by_hash.contains(&trip.request["method"].as_str().unwrap()) && !result.is_null()
}

/// Answered by the gateway itself, with what it is configured to be or to do.
const HERE: [&str; 9] = [
    "eth_chainId",
    "net_version",
    "web3_sha3",
    "eth_newFilter",
    "eth_newBlockFilter",
    "eth_newPendingTransactionFilter",
    "eth_getFilterChanges",
    "eth_getFilterLogs",
    "eth_uninstallFilter",
];

fn play(chain_id: u64, trips: &[RoundTrip]) -> Score {
    let server = server(chain_id, RecordedNode::new(chain_id, trips));
    let mut score = Score::default();
    for trip in trips {
        let method = trip.request["method"].as_str().unwrap();
        if HERE.contains(&method) && method != "eth_chainId" {
            continue;
        }
        score.trips += 1;
        let mut request = trip.request.clone();
        request["id"] = json!("alone");
        let (alone, _) = post_to(&server, chain_id, &request);
        let expected = said(&trip.response);
        score.alone += usize::from(said(&alone) == expected);
        if said(&alone) != expected {
            let shown = |value: &Value| value.to_string().chars().take(300).collect::<String>();
            score.wrong.push(format!(
                "{}: {} instead of {}",
                trip.name,
                shown(&said(&alone)),
                shown(&expected)
            ));
        }
        request["id"] = json!(7);
        let other = json!({ "jsonrpc": "2.0", "id": 8, "method": "eth_chainId", "params": [] });
        let (batch, _) = post_to(&server, chain_id, &json!([request, other]));
        let is_equal = said(&batch[0]) == expected && batch[0]["id"] == 7 && batch[1]["id"] == 8;
        score.batch += usize::from(is_equal);
        if !is_equal && said(&alone) == expected {
            score.wrong.push(format!("{}: another answer in a batch", trip.name));
        }
        if is_immutable(trip) && said(&alone) == expected {
            let (again, from) = post_to(&server, chain_id, &request);
            score.cached += 1;
            if said(&again) != expected || from.as_deref() != Some("cache") {
                score.wrong.push(format!("{}: again from {from:?}", trip.name));
            }
        }
    }
    score
}

fn tell(suite: &str, score: &Score) {
    let Score { trips, alone, batch, cached, wrong } = score;
    println!(
        "{suite}: {alone} of {trips} equal alone, {batch} in a batch, {cached} again from the cache"
    );
    wrong.iter().for_each(|line| println!("  {line}"));
}

fn execution_apis(folder: &Path) -> Vec<RoundTrip> {
    let mut trips = Vec::new();
    let mut folders: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    folders.sort();
    for folder in folders.iter().filter(|path| path.is_dir()) {
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let mut request = None;
            for line in text.lines() {
                if let Some(asked) = line.strip_prefix(">> ") {
                    request = serde_json::from_str::<Value>(asked).ok();
                } else if let (Some(told), Some(request)) =
                    (line.strip_prefix("<< "), request.take())
                {
                    let name =
                        file.strip_prefix(folder.parent().unwrap()).unwrap().display().to_string();
                    trips.push(RoundTrip {
                        name,
                        request,
                        response: serde_json::from_str(told).unwrap(),
                    });
                }
            }
        }
    }
    trips
}

fn erigon(folder: &Path) -> Vec<RoundTrip> {
    let mut trips = Vec::new();
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|it| it == "gz")) {
        let mut text = String::new();
        GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let (request, response) = (row["request"].clone(), row["response"].clone());
            // Null is no expectation there.
            let has_expectation = !response["error"].is_null() || !response["result"].is_null();
            if has_expectation && request["method"].is_string() {
                let name =
                    format!("{} {}", file.file_stem().unwrap().to_string_lossy(), row["test"]);
                trips.push(RoundTrip { name, request, response });
            }
        }
    }
    // One record cannot give two answers to one question.
    let mut seen: HashMap<String, Value> = HashMap::new();
    trips.retain(|trip| {
        let asked =
            key(trip.request["method"].as_str().unwrap(), &trip.request["params"], &json!({}));
        *seen.entry(asked).or_insert_with(|| trip.response.clone()) == trip.response
    });
    trips
}

#[test]
fn recorded_round_trips_of_execution_apis_come_back_as_they_were() {
    let Some(fixtures) = testkit::fixtures::fixtures_dir() else {
        return testkit::fixtures::skip("recorded round trips");
    };
    let score = play(0xc72dd9d5e883e, &execution_apis(&fixtures.join("rpc/execution-apis/tests")));
    tell("execution-apis", &score);
    assert!(
        score.trips > 200 && score.wrong.is_empty(),
        "{} of {}",
        score.wrong.len(),
        score.trips
    );
}

#[test]
fn round_trips_that_erigon_recorded_come_back_as_they_were() {
    let Some(fixtures) = testkit::fixtures::fixtures_dir() else {
        return testkit::fixtures::skip("recorded round trips");
    };
    let chains = [
        ("mainnet", 1),
        ("sepolia", 11_155_111),
        ("gnosis", 100),
        ("polygon-pos", 137),
        ("arb-sepolia", 421_614),
    ];
    let mut wrong = 0;
    for (name, chain_id) in chains {
        let score = play(chain_id, &erigon(&fixtures.join("rpc/erigon-recorded").join(name)));
        tell(name, &score);
        wrong += score.wrong.len();
    }
    assert_eq!(wrong, 0);
}
