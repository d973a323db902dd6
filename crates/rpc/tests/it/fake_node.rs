//! A node that does as it is told: a chain of empty headers over HTTP and WebSocket, with faults.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{broadcast, oneshot};
use tokio::time::sleep;

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Fault {
    #[default]
    None,
    Hang,
    Status(u16, Option<&'static str>),
    Truncate,
    Body(&'static str),
    RefuseBatch,
    BatchMax(usize),
    ReverseBatch,
    /// This text as the result.
    Result(&'static str),
    /// Every call but `eth_chainId` fails like this.
    Error(i64, &'static str),
    /// Reads the request, then closes without an answer.
    Close,
    /// So many zeros, packed.
    Gzip(usize),
}

/// How the node behaves; changed while it runs.
#[derive(Clone, Debug)]
pub struct Behaviour {
    pub chain_id: u64,
    pub head: u64,
    pub oldest: u64,
    pub client: &'static str,
    pub fault: Fault,
    /// Faults of single methods.
    pub faults_of: Vec<(&'static str, Fault)>,
    /// These are answered when they are no longer listed here.
    pub held: Vec<&'static str>,
    pub methods_missing: Vec<&'static str>,
    pub traces_from: u64,
    /// Subscriptions are taken but nothing is told.
    pub mute: bool,
    /// Makes this node's hashes differ from another's.
    pub fork: u8,
    pub padding_bytes: usize,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            chain_id: 1,
            head: 100,
            oldest: 0,
            client: "Geth/v1.16",
            fault: Fault::None,
            faults_of: vec![],
            held: vec![],
            methods_missing: vec![],
            traces_from: 0,
            mute: false,
            fork: 0,
            padding_bytes: 0,
        }
    }
}

struct Inner {
    behaviour: Mutex<Behaviour>,
    requests: Mutex<Vec<Value>>,
    tell: broadcast::Sender<Event>,
}

#[derive(Clone)]
enum Event {
    Head(u64),
    Text(String),
    Hangup,
}

pub struct FakeNode {
    inner: Arc<Inner>,
    pub port: u16,
    stop: Option<oneshot::Sender<()>>,
    server: tokio::task::JoinHandle<()>,
}

impl FakeNode {
    pub async fn start() -> Self {
        Self::start_with(0, Behaviour::default()).await
    }

    pub async fn start_with(port: u16, behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let inner = Arc::new(Inner {
            behaviour: Mutex::new(behaviour),
            requests: Mutex::default(),
            tell: broadcast::channel(64).0,
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let routes = Router::new()
            .route("/", get(socket).post(post))
            .route("/{*key}", get(socket).post(post))
            .with_state(inner.clone());
        let server = axum::serve(listener, routes).with_graceful_shutdown(async {
            let _ = stopped.await;
        });
        let server = tokio::spawn(async { server.await.unwrap() });
        Self { inner, port, stop: Some(stop), server }
    }

    /// A port where nobody listens.
    pub async fn free_port() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().port()
    }

    /// Closes the port and all connections.
    pub async fn stop(mut self) -> u16 {
        let _ = self.inner.tell.send(Event::Hangup);
        drop(self.stop.take());
        (&mut self.server).await.unwrap();
        self.port
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    pub fn ws_url(&self) -> String {
        format!("ws://127.0.0.1:{}/", self.port)
    }

    pub fn set(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.inner.behaviour.lock().unwrap());
    }

    /// Moves the head and tells subscribers.
    pub fn mine(&self, head: u64) {
        self.set(|b| b.head = head);
        let _ = self.inner.tell.send(Event::Head(head));
    }

    /// Says this on every socket, unasked.
    pub fn say(&self, text: &str) {
        let _ = self.inner.tell.send(Event::Text(text.to_owned()));
    }

    pub fn hang_up(&self) {
        let _ = self.inner.tell.send(Event::Hangup);
    }

    /// All requests so far, batches as arrays.
    pub fn requests(&self) -> Vec<Value> {
        self.inner.requests.lock().unwrap().clone()
    }

    pub fn count(&self, method: &str) -> usize {
        let flat = |request: Value| match request {
            Value::Array(list) => list,
            one => vec![one],
        };
        self.requests().into_iter().flat_map(flat).filter(|r| r["method"] == method).count()
    }
}

impl Drop for FakeNode {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn post(State(node): State<Arc<Inner>>, body: Bytes) -> Response<Body> {
    let request: Value = serde_json::from_slice(&body).unwrap();
    node.requests.lock().unwrap().push(request.clone());
    while node.is_held(&request) {
        sleep(Duration::from_millis(2)).await;
    }
    let mut behaviour = node.behaviour.lock().unwrap().clone();
    behaviour.narrow_to(&request);
    match behaviour.fault {
        Fault::Gzip(bytes) => gzip(bytes),
        Fault::Hang => std::future::pending().await,
        Fault::Status(status, retry_after) => {
            let response = Response::builder().status(status);
            let response = match retry_after {
                Some(value) => response.header("retry-after", value),
                None => response,
            };
            response.body(Body::empty()).unwrap()
        }
        Fault::Truncate => broken(behaviour.answer(&request).to_string().split_at(30).0.to_owned()),
        Fault::Close => broken(String::new()),
        Fault::Body(text) => Response::new(Body::from(text)),
        Fault::RefuseBatch if request.is_array() => StatusCode::BAD_REQUEST.into_response(),
        _ => Response::new(Body::from(behaviour.answer(&request).to_string())),
    }
}

fn gzip(bytes: usize) -> Response<Body> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&vec![b'0'; bytes]).unwrap();
    let body = Body::from(packer.finish().unwrap());
    Response::builder().header("content-encoding", "gzip").body(body).unwrap()
}

impl Inner {
    fn is_held(&self, request: &Value) -> bool {
        let method = |request: &Value| request["method"].as_str().unwrap_or_default().to_owned();
        let methods = match request {
            Value::Array(list) => list.iter().map(method).collect(),
            one => vec![method(one)],
        };
        let behaviour = self.behaviour.lock().unwrap();
        methods.iter().any(|method| behaviour.held.contains(&method.as_str()))
    }
}

/// Announces more than it sends, then breaks the connection.
fn broken(text: String) -> Response<Body> {
    let parts = [Ok(text), Err(std::io::Error::other("broken"))];
    Response::builder()
        .header("content-length", 100_000)
        .body(Body::from_stream(stream::iter(parts)))
        .unwrap()
}

async fn socket(State(node): State<Arc<Inner>>, upgrade: WebSocketUpgrade) -> Response<Body> {
    upgrade.on_upgrade(move |socket| talk(node, socket))
}

async fn talk(node: Arc<Inner>, mut socket: WebSocket) {
    let mut events = node.tell.subscribe();
    let mut subscribed = false;
    let mut held: Vec<Value> = vec![];
    loop {
        let text = tokio::select! {
            () = sleep(Duration::from_millis(2)), if !held.is_empty() => {
                let Some(at) = held.iter().position(|request| !node.is_held(request)) else {
                    continue;
                };
                let request = held.remove(at);
                node.behaviour.lock().unwrap().clone().answer(&request).to_string()
            }
            event = events.recv() => match event {
                Ok(Event::Text(text)) => text,
                Ok(Event::Head(number)) => {
                    let behaviour = node.behaviour.lock().unwrap().clone();
                    if !subscribed || behaviour.mute {
                        continue;
                    }
                    let params = json!({"subscription": "0x1", "result": behaviour.block(number)});
                    json!({"jsonrpc": "2.0", "method": "eth_subscription", "params": params})
                        .to_string()
                }
                _ => return,
            },
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => {
                    let request: Value = serde_json::from_str(&text).unwrap();
                    node.requests.lock().unwrap().push(request.clone());
                    subscribed |= request["method"] == "eth_subscribe";
                    let behaviour = node.behaviour.lock().unwrap().clone();
                    if node.is_held(&request) {
                        held.push(request);
                        continue;
                    }
                    if behaviour.fault == Fault::Hang {
                        continue;
                    }
                    behaviour.answer(&request).to_string()
                }
                Some(Ok(_)) => continue,
                _ => return,
            },
        };
        if socket.send(Message::text(text)).await.is_err() {
            return;
        }
    }
}

impl Behaviour {
    /// A fault of the method that is asked for comes before one of the node.
    fn narrow_to(&mut self, request: &Value) {
        let fault = self.faults_of.iter().find(|(method, _)| request["method"] == *method);
        if let Some((_, fault)) = fault {
            self.fault = fault.clone();
        }
    }

    fn answer(&self, request: &Value) -> Value {
        let Value::Array(list) = request else { return self.answer_one(request) };
        if let Fault::BatchMax(max) = self.fault
            && list.len() > max
        {
            let error = json!({"code": -32600, "message": "batch too large"});
            return json!({"jsonrpc": "2.0", "id": null, "error": error});
        }
        let mut answers: Vec<Value> = list.iter().map(|one| self.answer_one(one)).collect();
        if self.fault == Fault::ReverseBatch {
            answers.reverse();
        }
        Value::Array(answers)
    }

    fn answer_one(&self, request: &Value) -> Value {
        let method = request["method"].as_str().unwrap();
        let failed = |code: i64, message: &str| {
            let error = json!({"code": code, "message": message, "data": "0x08c379a0"});
            json!({"jsonrpc": "2.0", "id": request["id"], "error": error})
        };
        if self.methods_missing.contains(&method) {
            return failed(-32601, "method not found");
        }
        if let Fault::Error(code, message) = self.fault
            && method != "eth_chainId"
        {
            return failed(code, message);
        }
        if let Fault::Result(text) = self.fault {
            let result: Value = serde_json::from_str(text).unwrap();
            return json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        }
        let number = self.block_number(&request["params"][0]);
        let traced = number >= self.traces_from;
        let result = match method {
            "eth_chainId" => json!(format!("{:#x}", self.chain_id)),
            "web3_clientVersion" => json!(self.client),
            "eth_getBlockByNumber" if number < self.oldest || number > self.head => Value::Null,
            "eth_getBlockByNumber" => self.block(number),
            "eth_getBlockReceipts" => json!([{"transactionHash": "0x1"}]),
            "debug_traceBlockByNumber" | "trace_block" if !traced => {
                return failed(-32000, "missing trie node");
            }
            "debug_traceBlockByNumber" | "trace_block" => json!([{"result": {"type": "CALL"}}]),
            "eth_subscribe" => json!("0x1"),
            "eth_sendRawTransaction" => json!("0xabc"),
            _ => return failed(-32601, "method not found"),
        };
        json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
    }

    fn block_number(&self, param: &Value) -> u64 {
        match param.as_str() {
            Some(hex) if hex.starts_with("0x") => u64::from_str_radix(&hex[2..], 16).unwrap(),
            _ => self.head,
        }
    }

    fn block(&self, number: u64) -> Value {
        json!({
            "number": format!("{number:#x}"),
            "hash": hash(self.fork, number),
            "parentHash": hash(self.fork, number.saturating_sub(1)),
            "timestamp": format!("{:#x}", number * 12),
            "transactions": ["0x1"],
            "extraData": "0".repeat(self.padding_bytes),
        })
    }
}

pub fn hash(fork: u8, number: u64) -> String {
    format!("0x{fork:02x}{number:062x}")
}
