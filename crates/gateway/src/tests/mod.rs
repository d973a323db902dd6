//! Requests of every shape, right and wrong, without a node.

use alloy_primitives::B256;
use model::chain::{ChainId, ChainTable};
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, Header};
use proptest::prelude::*;
use serde_json::{Value, json};
use store::{Change, Origin, VerifiedBlock};

use super::*;

mod with_node;

fn gateway(folder: &std::path::Path) -> Gateway {
    let store = block_on(store::Store::open(&store::Options::new(folder), |_| {})).unwrap();
    let table = ChainTable::builtin().unwrap();
    let chain = std::sync::Arc::new(table.find("eth").unwrap().clone());
    Gateway::new(Config::default(), store, [ChainNode { chain, pool: None, is_ingested: false }])
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn ask(gateway: &Gateway, body: &str) -> Option<Value> {
    let answer = block_on(gateway.answer(ChainId(1), gateway.read(body.as_bytes())));
    answer.map(|bytes| serde_json::from_slice(&bytes).unwrap())
}

/// A future is moved several times before it runs, whatever it will wait for: one that grew would cost every call.
#[test]
fn the_future_of_a_call_stays_small() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, scope) = (gateway(folder.path()), RequestScope::default());
    let requests = gateway.read(br#"{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{}]}"#);
    let bytes = size_of_val(&gateway.answer_all(ChainId(1), requests, &scope));
    assert!(bytes <= 4096, "{bytes} bytes");
}

#[test]
fn every_shape_of_request_gets_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = gateway(folder.path());
    let table: Vec<(String, Option<Value>)> = vec![
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#.into(),
            Some(json!({"jsonrpc":"2.0","id":1,"result":"0x1"})),
        ),
        (
            r#"{"jsonrpc":"2.0","id":"a b","method":"net_version"}"#.into(),
            Some(json!({"jsonrpc":"2.0","id":"a b","result":"1"})),
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"web3_sha3","params":["0x"]}"#.into(),
            Some(
                json!({"jsonrpc":"2.0","id":3,"result":"0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"}),
            ),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"eth_chainId"}"#.into(),
            Some(json!({"jsonrpc":"2.0","id":null,"result":"0x1"})),
        ),
        (r#"{"jsonrpc":"2.0","method":"eth_chainId"}"#.into(), None),
        (r#"[{"jsonrpc":"2.0","method":"eth_chainId"}]"#.into(), None),
    ];
    for (body, expected) in table {
        assert_eq!(ask(&gateway, &body), expected, "{body}");
    }
}

#[test]
fn null_is_said_only_of_what_is_known_not_to_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = gateway(folder.path());
    let call = |method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        ask(&gateway, &body.to_string()).unwrap()
    };
    let by_hash = |hash: B256| call("eth_getBlockByHash", json!([hash, false]));
    let by_place =
        |block: &str| call("eth_getTransactionByBlockNumberAndIndex", json!([block, "0x0"]));
    let unknown = |answer: Value, held: &str| {
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().ends_with(held), "{answer}");
    };
    unknown(by_hash(B256::ZERO), "stored: no block yet");
    unknown(by_place("latest"), "stored: no block yet");

    // A store that begins at block 10, without a transaction in it.
    let (hash, parent_hash) = (B256::repeat_byte(2), B256::repeat_byte(1));
    let header = Header {
        number: Some(10),
        hash: Some(hash),
        parent_hash: Some(parent_hash),
        timestamp: Some(5),
        ..Header::default()
    };
    let block = Block { number: 10, hash, parent_hash, timestamp: 5, header, ..Block::default() };
    let verified = VerifiedBlock { block, proof: Proof::default(), facts: Facts::default() };
    let prepared = gateway.store.prepare(ChainId(1), verified);
    let change = Change::apply(Origin::Head, vec![prepared]);
    block_on(gateway.store.commit(ChainId(1), change)).unwrap();

    assert_eq!(by_hash(hash)["result"]["number"], "0xa");
    for block in ["0xa", "latest"] {
        let answer = by_place(block);
        assert!(answer.get("result").is_some_and(Value::is_null), "{block}: {answer}");
    }
    unknown(by_hash(parent_hash), "stored: blocks from 10 to 10");
    for block in ["0x9", "0xb", "earliest", "pending", "safe", "finalized"] {
        unknown(by_place(block), "stored: blocks from 10 to 10");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = gateway(folder.path());
    let call = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
    };
    let by_hash = |params: &str| call("eth_getBlockByHash", params);
    let by_place = |params: &str| call("eth_getTransactionByBlockNumberAndIndex", params);
    let table: Vec<(String, i64, &str)> = vec![
        ("".into(), -32700, "not JSON"),
        ("{".into(), -32700, "not JSON"),
        ("[1,".into(), -32700, "not JSON"),
        ("[]".into(), -32600, "empty batch"),
        ("7".into(), -32600, "JSON object"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"eth_chainId"}"#.into(), -32600, "jsonrpc must be"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"eth_chainId"}"#.into(), -32600, "id must be"),
        (r#"{"jsonrpc":"2.0","id":1}"#.into(), -32600, "method must be"),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#.into(), -32600, "method must be"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"eth_call","params":"x"}"#.into(),
            -32600,
            "params must be",
        ),
        (format!("[{}]", vec![call("eth_chainId", "[]"); 101].join(",")), -32600, "101 calls"),
        (call("admin_peers", "[]"), -32601, "admin_peers"),
        (call("anvil_mine", "[]"), -32601, "anvil_mine"),
        (call("debug_setHead", "[]"), -32601, "debug_setHead"),
        (call("eth_sendTransaction", "[]"), -32601, "eth_sendTransaction"),
        (by_hash("[]"), -32602, "2 parameters are needed, 0 were given"),
        (by_hash(r#"["0x1",true]"#), -32602, "argument 0 with value \"0x1\" is not a 32-byte hash"),
        (
            by_hash(&format!(r#"["0x{}",1]"#, "0".repeat(64))),
            -32602,
            "argument 1 with value 1 is not true or false",
        ),
        (by_place(r#"["lates","0x0"]"#), -32602, "argument 0 with value \"lates\""),
        (by_place(r#"["0x1",0]"#), -32602, "argument 1 with value 0 is not a hex quantity"),
        (by_place(r#"["0x1","0x"]"#), -32602, "argument 1"),
        (by_place(r#"{"a":1}"#), -32602, "an array of 2"),
        (call("foo_bar", "[]"), -32601, "foo_bar"),
        (call("web3_sha3", r#"["0x0"]"#), -32602, "argument 0 with value \"0x0\" is not hex bytes"),
        (call("eth_gasPrice", "[]"), -32000, "needs a node"),
    ];
    for (body, code, message) in table {
        let answer = ask(&gateway, &body).unwrap();
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains(message), "{body}: {text}");
    }
}

#[test]
fn a_batch_answers_in_order_and_leaves_notifications_out() {
    let folder = tempfile::tempdir().unwrap();
    let body = r#"[{"jsonrpc":"2.0","id":2,"method":"eth_chainId"},{"jsonrpc":"2.0","method":"eth_chainId"},5,{"jsonrpc":"2.0","id":"x","method":"net_version"}]"#;
    let answer = ask(&gateway(folder.path()), body).unwrap();
    let ids: Vec<&Value> = answer.as_array().unwrap().iter().map(|a| &a["id"]).collect();
    assert_eq!(ids, [&json!(2), &Value::Null, &json!("x")]);
}

#[test]
fn a_batch_weighs_as_much_as_its_calls_whatever_stands_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = gateway(folder.path());
    let call = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
    for (body, weight) in [
        (call("eth_getBlockByHash"), 12),
        (call("eth_getTransactionByBlockNumberAndIndex"), 3),
        (format!("[{},5,{}]", call("eth_getLogs"), call("debug_traceBlockByNumber")), 63),
        ("{".to_owned(), 1),
        ("[]".to_owned(), 1),
    ] {
        assert_eq!(gateway.read(body.as_bytes()).weight(), weight, "{body}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\",:a-z0-9 \\\\]{0,120}") {
        let _ = request::read(&bytes, 100);
        if let Ok(request::Body::One(Ok(request))) = request::read(text.as_bytes(), 100) {
            let _ = params::Params::read(request.params, 2).map(|p| { let _ = p.block(0); let _ = p.hash(0); });
        }
    }
}
