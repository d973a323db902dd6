//! Plays a record through a server and counts what came back as it was.

use std::sync::Arc;
use std::time::Duration;

use api::{Parts, ServedChain};
use gateway::{ChainNode, Gateway};
use model::chain::{Chain, ChainId, ChainTable, PrivateChain, Verification};
use rpc::{Pool, PoolOptions, UpstreamConfig};
use serde_json::{Value, json};

use super::node::{self, RecordedNode};
use super::openrpc::OpenRpc;
use super::round_trips::{RoundTrip, said};
use crate::socket::Socket;
use crate::test_server::*;

/// The gateway's own filters: their ids, and what it says of ids that it did not give, are its own.
const FILTERS: [&str; 6] = [
    "eth_newFilter",
    "eth_newBlockFilter",
    "eth_newPendingTransactionFilter",
    "eth_getFilterChanges",
    "eth_getFilterLogs",
    "eth_uninstallFilter",
];

#[derive(Default)]
pub struct Score {
    pub trips: usize,
    /// Equal by POST, by POST in a batch, over a WebSocket, there in a batch.
    equal: [usize; 4],
    immutable: usize,
    cached: usize,
    described: usize,
    /// Filters.
    left_out: usize,
    pub wrong: Vec<String>,
    /// Where the result does not have the form that was described.
    pub odd: Vec<String>,
}

impl Score {
    pub const HEAD: &str = "| suite | round trips | POST | in a batch | WebSocket | in a batch | cannot change | again from the cache | described | of that form | filters, not asked |\n|---|---|---|---|---|---|---|---|---|---|---|";

    pub fn line(&self, suite: &str) -> String {
        let Score { trips, equal, immutable, cached, described, left_out, wrong, odd } = self;
        let [post, batch, socket, socket_batch] = equal;
        let formed = described - odd.len();
        let mut text = format!(
            "| {suite} | {trips} | {post} | {batch} | {socket} | {socket_batch} | {immutable} | {cached} | {described} | {formed} | {left_out} |"
        );
        wrong.iter().for_each(|line| text.push_str(&format!("\n  {line}")));
        odd.iter().for_each(|name| text.push_str(&format!("\n  of another form: {name}")));
        text
    }

    /// Whether an answer is the recorded one.
    fn is_equal(&mut self, form: usize, trip: &RoundTrip, answer: &Value) -> bool {
        let is_equal = said(answer) == said(&trip.response);
        if is_equal {
            self.equal[form] += 1;
        } else {
            let shown = |value: &Value| value.to_string().chars().take(300).collect::<String>();
            let (told, expected) = (shown(&said(answer)), shown(&said(&trip.response)));
            let form = ["POST", "POST, batch", "WebSocket", "WebSocket, batch"][form];
            self.wrong.push(format!("{} ({form}): {told} instead of {expected}", trip.name));
        }
        is_equal
    }
}

fn chain_of(chain_id: u64) -> (Arc<Chain>, ChainTable) {
    let mut table = ChainTable::builtin().unwrap();
    if table.get(ChainId(chain_id)).is_none() {
        let verification = Some(Verification::Full);
        let private =
            PrivateChain { verification, ..PrivateChain::new(ChainId(chain_id), "recorded") };
        table = table.with_private(private).unwrap();
    }
    (Arc::new(table.get(ChainId(chain_id)).unwrap().clone()), table)
}

/// A server with `ingest = "off"` for this chain before that node.
fn server(chain: Arc<Chain>, table: ChainTable, node: RecordedNode) -> TestServer {
    let chain_id = chain.id.0;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = open(&store::Options::new(folder.path()));
    let pool = runtime.block_on(async {
        let url = node::start(node).await;
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
    let gateway =
        Gateway::new(config, store, [ChainNode { chain, pool: Some(pool), is_ingested: false }]);
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

pub fn play(chain_id: u64, trips: &[RoundTrip], openrpc: &OpenRpc) -> Score {
    let node = RecordedNode::new(chain_id, trips);
    let (chain, table) = chain_of(chain_id);
    let (head, confirmations) = (node.head(), chain.confirmations);
    let is_final = |number: u64| number + confirmations <= head;
    let server = server(chain, table, node);
    let mut socket = Socket::connect(&format!("ws://{}/{chain_id:#x}/{KEY}", server.address));
    let other = json!({ "jsonrpc": "2.0", "id": 8, "method": "eth_chainId", "params": [] });
    let mut score = Score::default();
    for trip in trips {
        if FILTERS.contains(&trip.method()) {
            score.left_out += 1;
            continue;
        }
        score.trips += 1;
        let mut request = trip.request.clone();
        request["id"] = json!("alone");
        let (alone, _) = post_to(&server, chain_id, &request);
        assert_eq!(alone["id"], "alone");
        let is_equal = score.is_equal(0, trip, &alone);
        request["id"] = json!(7);
        let batch = json!([request, other]);
        for (form, answer) in [(1, post_to(&server, chain_id, &batch).0), (3, socket.ask(&batch))] {
            assert_eq!((&answer[0]["id"], &answer[1]["id"]), (&json!(7), &json!(8)), "{answer}");
            score.is_equal(form, trip, &answer[0]);
        }
        let over_socket = socket.ask(&request);
        assert_eq!(over_socket["id"], 7);
        score.is_equal(2, trip, &over_socket);
        if is_equal && trip.is_immutable(is_final) {
            score.immutable += 1;
            request["id"] = json!("again");
            let (again, from) = post_to(&server, chain_id, &request);
            if said(&again) == said(&trip.response) && from.as_deref() == Some("cache") {
                score.cached += 1;
            } else {
                score.wrong.push(format!("{}: again from {from:?}", trip.name));
            }
        }
        if let Some(result) = alone.get("result")
            && let Some(has_form) = openrpc.describes(trip.method(), result)
        {
            score.described += 1;
            score.odd.extend(Some(trip.name.clone()).filter(|_| !has_form));
        }
    }
    score
}
