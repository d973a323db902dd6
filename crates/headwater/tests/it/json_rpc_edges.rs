//! JSON-RPC at its edges, over HTTP: every kind of id, notifications, batches, odd JSON, odd parameters. One row each.

use serde_json::{Value, json};

use crate::process::KEY;
use crate::raw::{Request, send};
use crate::world::{CHAIN, Imported};

const BODY_BYTES_MAX: usize = 64 << 10;
const JSON: &str = "application/json";

/// What is expected of a body.
enum Expected {
    /// The whole answer.
    Is(Value),
    /// An error with this code under this id; its message holds the text.
    Fails(Value, i64, &'static str),
    /// Silence.
    Nothing,
    /// A refusal of the HTTP layer.
    Status(u16),
}

use Expected::{Fails, Is, Nothing, Status};

fn call(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"net_version","params":[]}}"#)
}

fn version(id: Value) -> Expected {
    Is(json!({ "jsonrpc": "2.0", "id": id, "result": "1337" }))
}

fn ids() -> Vec<(String, Expected)> {
    let mut rows: Vec<(String, Expected)> = [
        "0",
        "1",
        "-7",
        "1.5",
        "1e3",
        "\"\"",
        "\"a b\"",
        "\"\\u00e4\\n\"",
        "null",
        "9007199254740993",
        "\"0x1\"",
    ]
    .into_iter()
    .map(|id| (call(id), version(serde_json::from_str(id).unwrap())))
    .collect();
    for odd in ["true", "{}", "[]", "[1]"] {
        rows.push((call(odd), Fails(Value::Null, -32600, "id must be")));
    }
    rows.push((r#"{"jsonrpc":"2.0","method":"net_version"}"#.to_owned(), Nothing));
    rows.push((r#"{"jsonrpc":"2.0","method":"foo_bar"}"#.to_owned(), Nothing));
    rows
}

fn invalid() -> Value {
    let why = "invalid request: a call must be a JSON object";
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": why } })
}

fn batches() -> Vec<(String, Expected)> {
    let many = |count: usize| format!("[{}]", vec![call("1"); count].join(","));
    let silent = r#"{"jsonrpc":"2.0","method":"net_version"}"#;
    let one = json!({ "jsonrpc": "2.0", "id": 1, "result": "1337" });
    let invalid = invalid();
    vec![
        ("[]".to_owned(), Fails(Value::Null, -32600, "empty batch")),
        (many(1), Is(json!([one]))),
        (many(5), Is(json!([one, one, one, one, one]))),
        (many(6), Fails(Value::Null, -32600, "a batch of 6 calls; at most 5")),
        (format!("[{silent}]"), Nothing),
        (format!("[{silent},{}]", call("1")), Is(json!([one]))),
        ("[7]".to_owned(), Is(json!([invalid]))),
        ("[[]]".to_owned(), Is(json!([invalid]))),
        (format!("[{},null]", call("1")), Is(json!([one, invalid]))),
        (format!("[{},{}]", call("1"), call("1")), Is(json!([one, one]))),
        (format!("  \n[ {} ]\t", call("1")), Is(json!([one]))),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table, one row a case")]
fn forms() -> Vec<(String, Expected)> {
    let id = || json!(1);
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"net_version","params":{}}}"#, nested(10_000));
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(BODY_BYTES_MAX));
    let with = |rest: &str| format!(r#"{{"jsonrpc":"2.0","id":1,{rest}}}"#);
    vec![
        (String::new(), Fails(Value::Null, -32700, "not JSON")),
        ("{".to_owned(), Fails(Value::Null, -32700, "not JSON")),
        ("[1,".to_owned(), Fails(Value::Null, -32700, "not JSON")),
        (format!("{} x", call("1")), Fails(Value::Null, -32700, "not JSON")),
        ("\u{feff}{}".to_owned(), Fails(Value::Null, -32700, "not JSON")),
        ("null".to_owned(), Fails(Value::Null, -32600, "JSON object")),
        ("\"eth_chainId\"".to_owned(), Fails(Value::Null, -32600, "JSON object")),
        ("{}".to_owned(), Fails(Value::Null, -32600, "jsonrpc must be")),
        // Nobody looks into parameters that are not wanted; nothing overflows.
        (deep, version(id())),
        (nested(5_000), Is(json!([invalid()]))),
        (large, Status(413)),
        (with(r#""method":5"#), Fails(id(), -32600, "method must be")),
        (with(r#""method":"""#), Fails(id(), -32600, "method must be")),
        (with(r#""method":null"#), Fails(id(), -32600, "method must be")),
        (with(r#""params":[]"#), Fails(id(), -32600, "method must be")),
        (with(r#""method":"foo_bar""#), Fails(id(), -32601, "foo_bar")),
        (with(r#""method":"ETH_CHAINID""#), Fails(id(), -32601, "ETH_CHAINID")),
        (with(r#""method":" eth_chainId""#), Fails(id(), -32601, "eth_chainId")),
        (with(r#""method":"eth_\u0000x""#), Fails(id(), -32601, "does not exist")),
        (with(r#""method":"rpc.discover""#), Fails(id(), -32601, "rpc.discover")),
        (with(r#""method":"net_version","params":null"#), version(id())),
        (with(r#""method":"net_version","extra":{"a":[1]}"#), version(id())),
        (with(r#""method":"net_version","params":"x""#), Fails(id(), -32600, "params must be")),
        (with(r#""method":"net_version","params":7"#), Fails(id(), -32600, "params must be")),
        (
            with(r#""method":"eth_getBlockByHash","params":{"hash":"0x"}"#),
            Fails(id(), -32602, "an array of 2"),
        ),
        (
            with(r#""method":"eth_getBlockByHash","params":[]"#),
            Fails(id(), -32602, "2 parameters are needed"),
        ),
        (
            with(r#""method":"eth_getBlockByNumber","params":["0x1"]"#),
            Fails(id(), -32602, "2 parameters are needed"),
        ),
        (
            with(r#""method":"eth_getBlockByNumber","params":["0xg",true]"#),
            Fails(id(), -32602, "argument 0 with value"),
        ),
        (
            with(r#""method":"eth_getBlockByNumber","params":[1,true]"#),
            Fails(id(), -32602, "argument 0 with value 1"),
        ),
        (
            with(r#""method":"eth_getBlockByNumber","params":["0x1","true"]"#),
            Fails(id(), -32602, "argument 1 with value"),
        ),
        (with(r#""method":"eth_getLogs","params":[[]]"#), Fails(id(), -32602, "filter with value")),
        (
            with(r#""method":"eth_getLogs","params":[{"address":"0x1"}]"#),
            Fails(id(), -32602, "address with value"),
        ),
        (
            with(r#""method":"eth_getLogs","params":[{"topics":[["0x1"]]}]"#),
            Fails(id(), -32602, "topics with value"),
        ),
        (
            with(r#""method":"eth_getLogs","params":[{"fromBlock":"0x2","toBlock":"0x1"}]"#),
            Fails(id(), -32602, "invalid block range"),
        ),
        (
            with(r#""method":"eth_getLogs","params":[{"fromBlock":"0x1","toBlock":"0x99"}]"#),
            Fails(id(), -32602, "beyond current head"),
        ),
        (
            with(r#""method":"eth_getFilterChanges","params":["0x1"]"#),
            Fails(id(), -32000, "filter not found"),
        ),
        (with(r#""method":"net_version","id":2"#), Fails(Value::Null, -32600, "id is given twice")),
        (
            with(r#""method":"net_version","method":"eth_chainId""#),
            Fails(Value::Null, -32600, "method is given twice"),
        ),
        (
            with(r#""method":"net_version","params":[],"params":[]"#),
            Fails(Value::Null, -32600, "params is given twice"),
        ),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"net_version"}"#.to_owned(),
            Fails(id(), -32600, "jsonrpc must be"),
        ),
        (
            r#"{"jsonrpc":2.0,"id":1,"method":"net_version"}"#.to_owned(),
            Fails(id(), -32600, "jsonrpc must be"),
        ),
        (r#"{"id":1,"method":"net_version"}"#.to_owned(), Fails(id(), -32600, "jsonrpc must be")),
    ]
}

fn check(address: &str, content_type: &str, body: &str, expected: &Expected) {
    let target = format!("/{CHAIN}/{KEY}");
    let headers = vec![("content-type", content_type)];
    let request = Request { method: "POST", target: &target, headers, body: body.as_bytes() };
    let answer = send(address, &request);
    let shown: String = body.chars().take(120).collect();
    let what = format!("{shown} as {content_type}: {} {}", answer.status, answer.body);
    let json = || -> Value {
        assert_eq!(answer.status, 200, "{what}");
        serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {what}"))
    };
    match expected {
        Is(expected) => assert_eq!(json(), *expected, "{what}"),
        Fails(id, code, says) => {
            let json = json();
            assert_eq!((&json["id"], &json["error"]["code"]), (id, &json!(code)), "{what}");
            assert!(json["error"]["message"].as_str().unwrap().contains(says), "{what}");
            assert!(json.get("result").is_none(), "{what}");
        }
        Nothing => assert_eq!((answer.status, answer.body.as_str()), (204, ""), "{what}"),
        Status(status) => assert_eq!(answer.status, *status, "{what}"),
    }
}

#[test]
fn json_rpc_is_answered_at_all_its_edges() {
    let world = Imported::with(3, |serve| {
        serve.set("api.body_bytes_max", &BODY_BYTES_MAX.to_string()).set("gateway.batch_max", "5")
    });
    let address = world.server.address();
    let rows: Vec<_> = ids().into_iter().chain(batches()).chain(forms()).collect();
    assert!(rows.len() >= 60, "{}", rows.len());
    for (body, expected) in &rows {
        check(address, JSON, body, expected);
    }
    for content_type in ["application/json; charset=utf-8", "APPLICATION/JSON"] {
        check(address, content_type, &call("1"), &version(json!(1)));
    }
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/xml"] {
        check(address, content_type, &call("1"), &Status(415));
    }
    // Digits that no number holds are given back as they came.
    let (target, id) = (format!("/{CHAIN}/{KEY}"), "123456789012345678901234567890");
    let (headers, body) = (vec![("content-type", JSON)], call(id));
    let request = Request { method: "POST", target: &target, headers, body: body.as_bytes() };
    assert!(send(address, &request).body.contains(&format!("\"id\":{id},")));
}
