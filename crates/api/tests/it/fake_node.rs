//! A node that says whatever it is told to: contracts with answers, state that is gone, silence.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use alloy_primitives::{Address, Bytes, U256, address, hex};
use axum::{Json, Router, extract::State, routing::post};
use serde_json::{Value, json};

pub const MULTICALL3: Address = address!("cA11bde05977b3631167028862bE2a173976CA11");

/// A contract's answer: bytes, or a refusal.
pub type Said = Result<Vec<u8>, &'static str>;

#[derive(Default)]
pub struct World {
    /// By contract and call data; a selector alone answers whatever comes behind it.
    pub answers: HashMap<(Address, Vec<u8>), Said>,
    pub has_multicall: bool,
    /// State of older blocks is gone.
    pub oldest_state: u64,
    pub head: u64,
    /// Calls seen, each with its block.
    pub calls: Vec<String>,
    /// What eth_call answers instead of anything else.
    pub instead: Option<Value>,
    /// Holds the next eth_call back.
    pub gate: Option<Gate>,
}

/// Tells that a call came, then keeps it waiting until it may go on.
pub struct Gate {
    pub came: std::sync::mpsc::Sender<()>,
    pub go_on: tokio::sync::oneshot::Receiver<()>,
}

pub struct FakeNode {
    pub url: String,
    pub world: Arc<Mutex<World>>,
}

type Shared = Arc<Mutex<World>>;

impl FakeNode {
    pub fn start(runtime: &tokio::runtime::Runtime, world: World) -> Self {
        let world = Arc::new(Mutex::new(world));
        let shared = world.clone();
        let address = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let router = Router::new().route("/", post(answer)).with_state(shared);
            tokio::spawn(async move { axum::serve(listener, router).await });
            address
        });
        FakeNode { url: format!("http://{address}"), world }
    }

    pub fn calls(&self) -> usize {
        self.world.lock().unwrap().calls.len()
    }

    pub fn change(&self, change: impl FnOnce(&mut World)) {
        change(&mut self.world.lock().unwrap());
    }
}

async fn answer(State(world): State<Shared>, Json(body): Json<Value>) -> Json<Value> {
    if body["method"] == "eth_call" {
        let gate = world.lock().unwrap().gate.take();
        if let Some(gate) = gate {
            gate.came.send(()).unwrap();
            let _ = gate.go_on.await;
        }
    }
    let mut world = world.lock().unwrap();
    Json(match body {
        Value::Array(list) => list.iter().map(|one| world.reply(one)).collect(),
        one => world.reply(&one),
    })
}

fn quantity(number: u64) -> String {
    format!("{number:#x}")
}

impl World {
    pub fn say(&mut self, contract: Address, data: &[u8], said: Said) {
        self.answers.insert((contract, data.to_vec()), said);
    }

    fn reply(&mut self, request: &Value) -> Value {
        let params = &request["params"];
        let outcome = match request["method"].as_str().unwrap_or_default() {
            "eth_chainId" => Ok(json!("0x1")),
            "web3_clientVersion" => Ok(json!("fake/1")),
            "eth_getBlockByNumber" => Ok(self.block(params[0].as_str().unwrap_or_default())),
            "eth_getBlockReceipts" => Ok(json!([])),
            "eth_call" => self.call(&params[0], params[1].as_str().unwrap_or_default()),
            _ => Err((-32601, "method not found".to_owned())),
        };
        let mut reply = json!({ "jsonrpc": "2.0", "id": request["id"] });
        match outcome {
            Ok(result) => reply["result"] = result,
            Err((code, message)) => reply["error"] = json!({ "code": code, "message": message }),
        }
        reply
    }

    fn number(&self, tag: &str) -> u64 {
        u64::from_str_radix(tag.trim_start_matches("0x"), 16).unwrap_or(self.head)
    }

    fn block(&self, tag: &str) -> Value {
        let number = self.number(tag);
        if number > self.head {
            return Value::Null;
        }
        let hash = |n: u64| format!("{:#066x}", n.wrapping_add(0xabc));
        json!({
            "number": quantity(number), "hash": hash(number), "parentHash": hash(number.wrapping_sub(1)),
            "timestamp": quantity(1_700_000_000 + number), "transactions": [],
        })
    }

    fn call(&mut self, call: &Value, tag: &str) -> Result<Value, (i64, String)> {
        let to: Address = call["to"].as_str().unwrap().parse().unwrap();
        let data = hex::decode(call["data"].as_str().unwrap()).unwrap();
        self.calls.push(format!("{to} {tag}"));
        if self.number(tag) < self.oldest_state {
            return Err((-32000, "missing trie node 0xabc".to_owned()));
        }
        if let Some(instead) = &self.instead {
            return Ok(instead.clone());
        }
        let said = match to == MULTICALL3 {
            true if self.has_multicall => Ok(self.multicall(&data)),
            true => Ok(Vec::new()),
            false => self.ask(to, &data),
        };
        said.map(|bytes| json!(hex::encode_prefixed(bytes)))
            .map_err(|why| (3, format!("execution reverted: {why}")))
    }

    fn ask(&self, to: Address, data: &[u8]) -> Said {
        let exact = self.answers.get(&(to, data.to_vec()));
        let any = || self.answers.get(&(to, data.get(..4)?.to_vec()));
        // Calling where there is no contract succeeds with nothing.
        exact.or_else(any).cloned().unwrap_or(Ok(Vec::new()))
    }

    fn multicall(&self, data: &[u8]) -> Vec<u8> {
        let number = |at: usize| U256::from_be_slice(&data[at..at + 32]).to::<usize>();
        // Selector, where the list is, how many, then where each is.
        let list = 4 + number(4) + 32;
        let count = number(list - 32);
        let mut items = Vec::new();
        for n in 0..count {
            let item = list + number(list + 32 * n);
            let to = Address::from_slice(&data[item + 12..item + 32]);
            let bytes = item + number(item + 64);
            let length = number(bytes);
            items.push(self.ask(to, &data[bytes + 32..bytes + 32 + length]));
        }
        let mut out = words(&[32, count]);
        let mut tail = Vec::new();
        for item in items {
            out.extend(words(&[32 * count + tail.len()]));
            let (ok, content) = match item {
                Ok(content) => (1, content),
                Err(_) => (0, Vec::new()),
            };
            tail.extend(words(&[ok, 64, content.len()]));
            tail.extend(&content);
            tail.resize(tail.len().div_ceil(32) * 32, 0);
        }
        out.extend(tail);
        out
    }
}

pub fn words(numbers: &[usize]) -> Vec<u8> {
    numbers.iter().flat_map(|it| U256::from(*it).to_be_bytes::<32>()).collect()
}

/// A string as contracts return it.
pub fn string(text: &[u8]) -> Vec<u8> {
    let mut out = words(&[32, text.len()]);
    out.extend_from_slice(text);
    out.resize(out.len().div_ceil(32) * 32, 0);
    out
}

pub const NAME: [u8; 4] = [0x06, 0xfd, 0xde, 0x03];
pub const SYMBOL: [u8; 4] = [0x95, 0xd8, 0x9b, 0x41];
pub const DECIMALS: [u8; 4] = [0x31, 0x3c, 0xe5, 0x67];

/// A token with its three answers.
pub fn token(world: &mut World, token: Address, name: Said, symbol: Said, decimals: Said) {
    world.say(token, &NAME, name);
    world.say(token, &SYMBOL, symbol);
    world.say(token, &DECIMALS, decimals);
}

pub fn call_data(selector: [u8; 4], arguments: &[Address], more: &[usize]) -> Vec<u8> {
    let mut data = selector.to_vec();
    arguments.iter().for_each(|it| data.extend_from_slice(it.into_word().as_slice()));
    data.extend(words(more));
    Bytes::from(data).to_vec()
}
