//! A server over a small simulated chain, and a client that sends whatever it is told to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use api::cursor::CursorKey;
use api::keys::KeyRing;
use api::{
    App, Config, Connections, ContractList, Hosts, Labels, Limits, ListenConfig, Parts,
    ServedChain, Stage,
};
use gateway::{ChainNode, Gateway};
use model::chain::{ChainId, ChainTable, Operation, PrivateChain};
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, read_parity_traces};
use store::{Change, Options, Origin, Store, VerifiedBlock};
use testkit::{SimChain, SimConfig};
use tokio::sync::watch;

pub const KEY: &str = "key";
pub const CHAIN: ChainId = ChainId(1337);
pub const VERIFIED: &str = "verified.csv";
const BLOCKS: u64 = 6;

pub struct TestServer {
    pub address: SocketAddr,
    pub wallet: String,
    app: App,
    stage: watch::Sender<Stage>,
    serving: tokio::task::JoinHandle<()>,
    runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

impl TestServer {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// The small chain, with other settings.
    pub fn with(change: impl FnOnce(&mut Parts)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&Options::new(folder.path()));
        let mut chain = SimChain::new(SimConfig::seeded(5));
        chain.extend(BLOCKS as usize);
        for number in 0..=BLOCKS {
            let apply = vec![prepared(&store, &chain, number, true)];
            block_on(store.commit(CHAIN, Change::apply(Origin::Head, apply))).unwrap();
        }
        let wallet = format!("{:#x}", chain.address_of("exchange").unwrap());
        let mut parts = parts(store, folder.path(), &["sim", "silent"]);
        change(&mut parts);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        TestServer { wallet, ..TestServer::serve(runtime, folder, parts) }
    }

    /// A server of these chains over a store in that folder.
    pub fn over(store: Store, folder: tempfile::TempDir, chains: &[&str]) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let parts = parts(store, folder.path(), chains);
        TestServer::serve(runtime, folder, parts)
    }

    /// One that keeps no responses.
    pub fn without_cache(store: Store, chains: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut parts = parts(store, folder.path(), chains);
        parts.config.answer_cache_bytes = 0;
        TestServer::serve(tokio::runtime::Runtime::new().unwrap(), folder, parts)
    }

    /// A server put together from other parts.
    pub fn serve(
        runtime: tokio::runtime::Runtime,
        folder: tempfile::TempDir,
        parts: Parts,
    ) -> Self {
        let (stage, stages) = watch::channel(Stage::Serving);
        let connections = Connections::new(Limits::new(&parts.listen, usize::MAX));
        let app = App::new(parts);
        let (address, serving) = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(connections.clone().sweep());
            let serving = api::serve(listener, app.clone(), Hosts::ALL, connections, stages);
            (address, tokio::spawn(serving))
        });
        let wallet = String::new();
        TestServer { address, wallet, app, stage, serving, runtime, _folder: folder }
    }

    /// What the listener does when the server is to stop.
    pub fn step(&self, stage: Stage) {
        if stage > Stage::Serving {
            self.app.stop();
        }
        self.stage.send_replace(stage);
    }

    /// Waits until the last connection is gone.
    pub fn until_drained(&mut self) {
        let TestServer { runtime, serving, .. } = self;
        let drained = async { tokio::time::timeout(Duration::from_secs(20), serving).await };
        runtime.block_on(drained).unwrap().unwrap();
    }

    /// GET with the right key.
    pub fn get(&self, target: &str) -> Answer {
        self.send(&format!("GET {target} HTTP/1.1\r\nx-api-key: {KEY}\r\n"), b"")
    }

    /// GET with the right key, in that profile.
    pub fn get_as(&self, profile: &str, target: &str) -> Answer {
        let head =
            format!("GET {target} HTTP/1.1\r\nx-api-key: {KEY}\r\nx-wire-profile: {profile}\r\n");
        self.send(&head, b"")
    }

    pub fn send(&self, head: &str, body: &[u8]) -> Answer {
        send(self.address, head, body)
    }
}

pub fn send(address: SocketAddr, head: &str, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let length = body.len();
    let head = format!("{head}host: test\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let _ = stream.write_all(body);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Answer { status: status.unwrap_or(0), head: head.to_lowercase(), body: body.to_owned() }
}

#[derive(Debug)]
pub struct Answer {
    /// 0 where there was none.
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    pub fn message(&self) -> String {
        let json: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_default();
        json.get("message").and_then(|m| m.as_str()).unwrap_or_default().to_owned()
    }
}

pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

pub fn open(options: &Options) -> Store {
    block_on(Store::open(options, |_| {})).unwrap()
}

/// A block of the simulated chain, ready to be committed; without traces as from a node that has none.
pub fn prepared(
    store: &Store,
    chain: &SimChain,
    number: u64,
    with_traces: bool,
) -> store::PreparedBlock {
    let mut block = Block::read(&chain.block_json(number, true).unwrap()).unwrap().unwrap();
    let receipts = serde_json::from_slice(&chain.receipts_json(number).unwrap()).unwrap();
    block.set_receipts(receipts).unwrap();
    if with_traces {
        let traces = String::from_utf8(chain.traces_parity_json(number).unwrap().to_vec()).unwrap();
        block.traces = Some(read_parity_traces(&traces, &block.txs).unwrap());
    }
    let verified = VerifiedBlock { block, proof: Proof::default(), facts: Facts::default() };
    store.prepare(CHAIN, verified)
}

fn parts(store: Store, folder: &std::path::Path, chains: &[&str]) -> Parts {
    let silent = PrivateChain {
        operations: Some(vec![Operation::Rpc]),
        ..PrivateChain::new(ChainId(77), "silent")
    };
    let table = ChainTable::builtin().unwrap();
    let table =
        table.with_private(PrivateChain::new(CHAIN, "sim")).unwrap().with_private(silent).unwrap();
    let served = |name: &str| {
        let chain = Arc::new(table.find(name).unwrap().clone());
        ServedChain { chain, pool: None, ingest: None, redecode: None, audit: None }
    };
    let chains = chains.iter().map(|name| served(name)).collect();
    // Stands for whatever goes wrong inside.
    let metrics = Box::new(|| panic!("no metrics today"));
    Parts { metrics, ..assembled(store, folder, table, chains) }
}

/// Nothing is decoded again in these tests.
struct NoRedecode;

impl api::RedecodeControl for NoRedecode {
    fn request(&self, _: api::RedecodeRequest) -> Result<Vec<u64>, String> {
        Err("not here".into())
    }

    fn status(&self) -> serde_json::Value {
        serde_json::json!([])
    }
}

/// What every server of these tests has in common.
pub fn assembled(
    store: Store,
    folder: &std::path::Path,
    table: ChainTable,
    chains: Vec<ServedChain>,
) -> Parts {
    // Tests that want verified collections leave a list in the folder.
    let lists: Vec<_> =
        Some(folder.join(VERIFIED)).into_iter().filter(|path| path.exists()).collect();
    let nodes: Vec<_> = chains
        .iter()
        .map(|c| ChainNode { chain: c.chain.clone(), pool: c.pool.clone(), is_ingested: true })
        .collect();
    Parts {
        config: Config { body_bytes_max: 1 << 16, ..Config::default() },
        console: api::ConsoleConfig::default(),
        listen: ListenConfig::default(),
        gateway: Gateway::new(gateway::Config::default(), store.clone(), nodes),
        keys: block_on(KeyRing::open(&store, KEY, 0)).unwrap(),
        store,
        streams: None,
        chains,
        status_access: api::StatusAccess::Open,
        redecode: Box::new(NoRedecode),
        problems: Box::new(Vec::new),
        cursor_key: CursorKey::new([7; 32]),
        labels: Labels::default(),
        verified: ContractList::read("verified collections", &lists, &table).unwrap(),
        table: Arc::new(table),
        price: api::PriceConfig::default(),
        token_lists: api::TokenLists::default(),
        metrics: Box::new(String::new),
        version: "test",
        disk_budget: None,
    }
}
