//! A small JSON-RPC client: HTTP and WebSocket, nothing hidden.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{SharedChain, SimConfig, SimNode};
use tokio::net::TcpStream;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};

/// A chain of some blocks and a node that serves it.
pub async fn node(blocks: usize) -> (SharedChain, SimNode) {
    let chain = testkit::shared(SimConfig { txs_per_block: 12, ..SimConfig::seeded(51) });
    testkit::write(&chain).extend(blocks);
    let node = SimNode::start(chain.clone()).await.unwrap();
    (chain, node)
}

pub struct HttpAnswer {
    pub status: u16,
    pub retry_after: Option<String>,
    pub body: Vec<u8>,
}

pub async fn post(node: &SimNode, body: &Value) -> HttpAnswer {
    let response =
        reqwest::Client::new().post(node.url()).body(body.to_string()).send().await.unwrap();
    let retry_after = response.headers().get("retry-after");
    HttpAnswer {
        status: response.status().as_u16(),
        retry_after: retry_after.map(|value| value.to_str().unwrap().to_owned()),
        body: response.bytes().await.unwrap().to_vec(),
    }
}

pub fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

/// The whole response object.
pub async fn respond(node: &SimNode, method: &str, params: Value) -> Value {
    let answer = post(node, &request(method, params)).await;
    assert_eq!(answer.status, 200);
    let response: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(response["id"], 7);
    response
}

pub async fn result(node: &SimNode, method: &str, params: Value) -> Value {
    let response = respond(node, method, params).await;
    assert!(response.get("error").is_none(), "{method}: {response}");
    response["result"].clone()
}

pub async fn error_code(node: &SimNode, method: &str, params: Value) -> i64 {
    respond(node, method, params).await["error"]["code"].as_i64().unwrap()
}

pub struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub async fn open(node: &SimNode) -> Self {
        Self(connect_async(node.ws_url()).await.unwrap().0)
    }

    pub async fn send(&mut self, method: &str, params: Value) {
        let text = request(method, params).to_string();
        self.0.send(Message::text(text)).await.unwrap();
    }

    /// The next message, or none when the node closes or stays silent for a while.
    pub async fn next(&mut self) -> Option<Value> {
        let message =
            tokio::time::timeout(Duration::from_millis(500), self.0.next()).await.ok()??;
        serde_json::from_str(message.ok()?.to_text().ok()?).ok()
    }

    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params).await;
        self.next().await.unwrap()["result"].clone()
    }
}
