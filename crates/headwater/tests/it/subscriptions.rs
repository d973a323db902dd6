//! WebSocket at the RPC path: the same calls as by POST, and subscriptions and filters that see every block, also those that
//! are reverted again.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use testkit::{SimConfig, write};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::process::KEY;
use crate::world::{Live, SLUG};

const PATIENCE: Duration = Duration::from_secs(60);

pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// Events that came between answers, by subscription.
    told: HashMap<String, Vec<Value>>,
}

impl Socket {
    async fn open(live: &Live) -> Self {
        Self::open_at(live.server.url()).await
    }

    pub async fn open_at(server: &str) -> Self {
        let url = format!("{}/{SLUG}/{KEY}", server.replace("http://", "ws://"));
        let (stream, _) = connect_async(url).await.unwrap();
        Socket { stream, told: HashMap::new() }
    }

    async fn send(&mut self, text: String) {
        self.stream.send(Message::text(text)).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.stream.next()).await;
            match next.expect("nothing came").unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The next answer; events are put aside.
    async fn answer(&mut self) -> Value {
        loop {
            let message = self.receive().await;
            if message["method"] != "eth_subscription" {
                return message;
            }
            let params = &message["params"];
            let id = params["subscription"].as_str().unwrap().to_owned();
            self.told.entry(id).or_default().push(params["result"].clone());
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": "c", "method": method, "params": params });
        self.send(call.to_string()).await;
        self.answer().await
    }

    pub async fn subscribe(&mut self, params: Value) -> String {
        let answer = self.call("eth_subscribe", params).await;
        answer["result"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// So many events of a subscription.
    pub async fn events(&mut self, id: &str, count: usize) -> Vec<Value> {
        while self.told.get(id).map_or(0, Vec::len) < count {
            let message = self.receive().await;
            let params = &message["params"];
            let of = params["subscription"].as_str().unwrap_or_else(|| panic!("{message}"));
            self.told.entry(of.to_owned()).or_default().push(params["result"].clone());
        }
        self.told.remove(id).unwrap_or_default()
    }
}

async fn live() -> Live {
    Live::start(SimConfig { txs_per_block: 6, ..SimConfig::seeded(5) }, 8, |serve| serve).await
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_over_a_socket_are_answered_as_by_post() {
    let live = live().await;
    let mut socket = Socket::open(&live).await;
    let calls = [
        json!({"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}),
        json!({"jsonrpc":"2.0","id":"a","method":"eth_getBlockByNumber","params":["0x3",true]}),
        json!({"jsonrpc":"2.0","id":null,"method":"eth_getBlockReceipts","params":["0x3"]}),
        json!({"jsonrpc":"2.0","id":1.5,"method":"foo_bar"}),
        json!({"jsonrpc":"2.0","id":2,"method":"eth_getBlockByHash","params":[]}),
        json!([{"jsonrpc":"2.0","id":1,"method":"net_version"},{"jsonrpc":"2.0","id":2,"method":"eth_chainId"}]),
        json!([]),
        json!(7),
    ];
    for call in calls {
        socket.send(call.to_string()).await;
        let by_post = live.client.rpc_text(SLUG, call.to_string()).await.json();
        assert_eq!(socket.answer().await, by_post, "{call}");
    }
    socket.send("{".to_owned()).await;
    assert_eq!(socket.answer().await["error"]["code"], -32700);
    // A notification has no answer: the next one is that of the call after it.
    socket.send(r#"{"jsonrpc":"2.0","method":"eth_chainId"}"#.to_owned()).await;
    assert_eq!(socket.call("net_version", json!([])).await["result"], "1337");
    for params in [json!(["newPendingTransactions"]), json!([]), json!(["syncing"])] {
        let refused = socket.call("eth_subscribe", params).await;
        assert_eq!(refused["error"]["code"], -32601, "{refused}");
    }
    let refused = socket.call("eth_unsubscribe", json!(["0x99"])).await;
    assert_eq!(refused["error"]["message"], "subscription not found");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}"#;
    let by_post = live.client.rpc_text(SLUG, body.to_owned()).await.json();
    assert!(by_post["error"]["message"].as_str().unwrap().contains("over WebSocket"), "{by_post}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_needs_a_key_and_a_chain() {
    let live = live().await;
    let url = live.server.url().replace("http://", "ws://");
    for (path, status) in [(format!("{SLUG}/wrong"), 401), (format!("nowhere/{KEY}"), 404)] {
        let Err(Error::Http(refused)) = connect_async(format!("{url}/{path}")).await else {
            panic!("{path} was let in");
        };
        assert_eq!(refused.status().as_u16(), status, "{path}");
    }
    assert_eq!(live.client.get(&format!("/{SLUG}/{KEY}")).await.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribers_and_filters_see_blocks_come_and_go() {
    let live = live().await;
    let mut socket = Socket::open(&live).await;
    let heads = socket.subscribe(json!(["newHeads"])).await;
    let logs = socket.subscribe(json!(["logs", {}])).await;
    let filter = live.client.rpc(SLUG, "eth_newFilter", json!([{}])).await;
    let blocks = live.client.rpc(SLUG, "eth_newBlockFilter", json!([])).await;
    write(&live.chain).extend(3);
    live.until_indexed().await;
    let told = socket.events(&heads, 3).await;
    let numbers: Vec<&str> = told.iter().map(|head| head["number"].as_str().unwrap()).collect();
    assert_eq!(numbers, ["0x9", "0xa", "0xb"]);
    assert!(told[0].get("transactions").is_none() && told[0]["logsBloom"].is_string());
    let range = json!([{ "fromBlock": "0x9", "toBlock": "0xb" }]);
    let first = live.client.rpc(SLUG, "eth_getLogs", range.clone()).await;
    let first = first.as_array().unwrap().clone();
    assert!(!first.is_empty());
    assert_eq!(socket.events(&logs, first.len()).await, first);
    let changes = live.client.rpc(SLUG, "eth_getFilterChanges", json!([filter])).await;
    assert_eq!(changes.as_array().unwrap(), &first);
    let changed = live.client.rpc(SLUG, "eth_getFilterChanges", json!([blocks])).await;
    let hashes: Vec<&Value> = told.iter().map(|head| &head["hash"]).collect();
    assert_eq!(changed.as_array().unwrap().iter().collect::<Vec<_>>(), hashes);
    assert_eq!(live.client.rpc(SLUG, "eth_getFilterChanges", json!([filter])).await, json!([]));

    // Two blocks are replaced by three: their logs are told again as gone, then those of the new ones.
    let gone = json!([{ "fromBlock": "0xa", "toBlock": "0xb" }]);
    let gone = live.client.rpc(SLUG, "eth_getLogs", gone).await.as_array().unwrap().clone();
    write(&live.chain).reorg(2, 3);
    live.until_indexed().await;
    let range = json!([{ "fromBlock": "0xa", "toBlock": "0xc" }]);
    let new = live.client.rpc(SLUG, "eth_getLogs", range).await.as_array().unwrap().clone();
    let told = socket.events(&logs, gone.len() + new.len()).await;
    let (removed, added): (Vec<Value>, Vec<Value>) =
        told.into_iter().partition(|log| log["removed"] == true);
    let mut again: Vec<Value> = removed.clone();
    again.iter_mut().for_each(|log| log["removed"] = false.into());
    let by_place = |log: &Value| (log["blockNumber"].to_string(), log["logIndex"].to_string());
    let mut expected = gone;
    again.sort_by_key(by_place);
    expected.sort_by_key(by_place);
    assert_eq!(again, expected);
    assert_eq!(added, new);
    let changes = live.client.rpc(SLUG, "eth_getFilterChanges", json!([filter])).await;
    let (gone, came): (Vec<Value>, Vec<Value>) =
        changes.as_array().unwrap().iter().cloned().partition(|log| log["removed"] == true);
    assert_eq!((gone.len(), came), (removed.len(), new));
    // Everything that fits, whenever it came; a filter without a range means the newest block.
    let all = live.client.rpc(SLUG, "eth_getFilterLogs", json!([filter])).await;
    assert!(all.is_array());
    assert_eq!(live.client.rpc(SLUG, "eth_uninstallFilter", json!([filter])).await, true);
    assert_eq!(socket.call("eth_unsubscribe", json!([heads])).await["result"], true);
}
