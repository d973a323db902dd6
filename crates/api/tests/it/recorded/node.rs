//! A node that answers as a record does.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::routing::post;
use serde_json::{Value, json};

use super::round_trips::{RoundTrip, quantity};

/// Answers as the record does.
pub struct RecordedNode {
    chain_id: String,
    head: Value,
    answers: HashMap<String, Value>,
}

/// What an answer depends on. A block that is left out, `latest` and the head's number are the same.
pub fn key(method: &str, params: &Value, head: &Value) -> String {
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
    pub fn new(chain_id: u64, trips: &[RoundTrip]) -> Self {
        let number = |block: &Value| quantity(block["number"].as_str()?);
        let is_block = |trip: &&RoundTrip| trip.method().starts_with("eth_getBlockBy");
        let blocks = trips.iter().filter(is_block).map(|trip| &trip.response["result"]);
        let whole =
            blocks.filter(|block| block["hash"].is_string() && block["parentHash"].is_string());
        let head = whole.max_by_key(|block| number(block)).cloned().unwrap_or_else(|| {
            let zero = format!("0x{}", "0".repeat(64));
            json!({ "number": "0x0", "hash": zero, "parentHash": zero, "timestamp": "0x0", "transactions": [] })
        });
        let answers = trips.iter().map(|trip| {
            let asked = key(trip.method(), &trip.request["params"], &head);
            (asked, trip.response.clone())
        });
        RecordedNode { chain_id: format!("{chain_id:#x}"), answers: answers.collect(), head }
    }

    pub fn head(&self) -> u64 {
        quantity(self.head["number"].as_str().unwrap()).unwrap()
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

/// Its URL.
pub async fn start(node: RecordedNode) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = axum::Router::new().route("/", post(serve_record)).with_state(Arc::new(node));
    let routes = routes.layer(axum::extract::DefaultBodyLimit::disable());
    tokio::spawn(async { axum::serve(listener, routes).await.unwrap() });
    url
}
