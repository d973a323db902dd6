//! What strangers send, and what they are told: a status, and a message that names what is wrong.

use serde_json::Value;

use crate::process::KEY;
use crate::raw::{Answer, Request, send};
use crate::world::{CHAIN, Imported, SLUG};

/// Larger than this and a body is refused.
const BODY_BYTES_MAX: usize = 4096;

struct Case {
    method: &'static str,
    target: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    status: u16,
    /// Part of the message.
    says: &'static str,
}

/// A data request with the right key.
fn get(target: impl Into<String>, status: u16, says: &'static str) -> Case {
    let headers = vec![("x-api-key", KEY.to_owned())];
    Case { method: "GET", target: target.into(), headers, body: Vec::new(), status, says }
}

/// A JSON-RPC request with the right key.
fn post(body: impl Into<Vec<u8>>, status: u16, says: &'static str) -> Case {
    let headers = vec![("content-type", "application/json".to_owned())];
    let target = format!("/{CHAIN}/{KEY}");
    Case { method: "POST", target, headers, body: body.into(), status, says }
}

impl Case {
    fn with(self, headers: &[(&'static str, &str)]) -> Self {
        let headers = headers.iter().map(|(name, value)| (*name, value.to_string())).collect();
        Case { headers, ..self }
    }

    fn by(self, method: &'static str) -> Self {
        Case { method, ..self }
    }

    fn at(self, target: impl Into<String>) -> Self {
        Case { target: target.into(), ..self }
    }

    fn send(&self, address: &str) -> Answer {
        let headers = self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let request =
            Request { method: self.method, target: &self.target, headers, body: &self.body };
        send(address, &request)
    }

    fn check(&self, address: &str) {
        let answer = self.send(address);
        let shown: String = self.target.chars().take(200).collect();
        let what = format!("{} {shown}: {} {}", self.method, answer.status, answer.body);
        assert_eq!(answer.status, self.status, "{what}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{what}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{what}");
        assert!(answer.header("date").is_some_and(|date| date.ends_with(" GMT")), "{what}");
        assert!(!answer.body.contains(KEY), "{what}");
        let id = answer.header("x-request-id").unwrap_or_else(|| panic!("no request id: {what}"));
        assert!(!id.is_empty(), "{what}");
        if self.method == "HEAD" || answer.status == 204 {
            return;
        }
        assert_eq!(answer.header("content-type"), Some("application/json"), "{what}");
        let json: Value =
            serde_json::from_str(&answer.body).unwrap_or_else(|e| panic!("{e}: {what}"));
        let message = match (&json["message"], &json["error"]["message"]) {
            (Value::String(message), _) | (_, Value::String(message)) => message.clone(),
            _ => answer.body.clone(),
        };
        if answer.status >= 400 {
            assert!(json["message"].is_string(), "{what}");
            assert!(answer.body.len() < 1200, "an error must not be larger than its cause: {what}");
        }
        assert!(message.contains(self.says), "{what} does not say {:?}", self.says);
    }
}

#[test]
fn every_wrong_request_is_told_what_is_wrong_with_it() {
    let world = Imported::with(3, |serve| {
        serve.set("api.body_bytes_max", &BODY_BYTES_MAX.to_string()).set("gateway.batch_max", "5")
    });
    let address = world.server.address();
    let wallet = world.address("exchange");
    let mut cases = addresses();
    cases.extend(chains(&wallet));
    cases.extend(parameters(&wallet));
    cases.extend(cursors(&world, &wallet));
    cases.extend(keys(&wallet));
    cases.extend(paths_and_methods(&wallet));
    cases.extend(bodies());
    cases.extend(calls());
    assert!(cases.len() >= 60, "{}", cases.len());
    cases.iter().for_each(|case| case.check(address));
    let log = world.server.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
}

fn addresses() -> Vec<Case> {
    let zeros = "0".repeat(39);
    let at = |address: &str| {
        get(format!("/api/v2.2/{address}?chain={CHAIN}"), 400, "is not a valid hex address")
    };
    vec![
        at(&format!("0x{zeros}")),
        at(&format!("0x{zeros}00")),
        at(&format!("0x{zeros}g")),
        at(&format!("{zeros}0")),
        get(format!("/api/v2.2/0X{zeros}0?chain={CHAIN}"), 200, ""),
        get(format!("/api/v2.2/vitalik.eth?chain={CHAIN}"), 400, "names are not resolved here"),
        at("%20"),
        at("%22%5C%22"),
        at("%E2%82%AC"),
        at("%00"),
        at("null"),
        at(&"a".repeat(3000)),
        get(format!("/api/v2.2/0x{zeros}g?chain={CHAIN}"), 400, "address with value '0x000000"),
        get(format!("/api/v2.2/%FF%FE?chain={CHAIN}"), 400, "cannot be read as UTF-8"),
        get(format!("/api/v2.2/%zz?chain={CHAIN}"), 400, "is not a valid hex address"),
    ]
}

fn chains(wallet: &str) -> Vec<Case> {
    let of =
        |chain: &str, status, says| get(format!("/api/v2.2/{wallet}?chain={chain}"), status, says);
    vec![
        of("etherium", 400, "chain with value 'etherium' is not a known chain"),
        of("0x", 400, "is not a known chain"),
        of("0xzz", 400, "is not a known chain"),
        of("-1", 400, "is not a known chain"),
        of("0", 400, "is not a known chain"),
        of("99999999999999999999999999", 400, "is not a known chain"),
        of("%FF", 400, "is not a known chain"),
        of("polygon", 400, "is not served here; served chains: chain-1337"),
        of("0x89", 400, "is not served here"),
        // Left out or empty, it is eth, which this server does not have.
        of("", 400, "chain with value 'eth' is not served here"),
        get(format!("/api/v2.2/{wallet}"), 400, "chain with value 'eth' is not served here"),
        of("0x0539", 200, ""),
        of("0X539", 200, ""),
        of("CHAIN_1337", 200, ""),
        of("chain%201337", 200, ""),
    ]
}

fn parameters(wallet: &str) -> Vec<Case> {
    let of = |query: &str, status, says| {
        get(format!("/api/v2.2/{wallet}?chain={CHAIN}&{query}"), status, says)
    };
    vec![
        of("limit=0", 400, "limit with value '0' is not a number from 1 to 500"),
        of("limit=-1", 400, "limit with value '-1'"),
        of("limit=501", 400, "from 1 to 500"),
        of("limit=abc", 400, "limit with value 'abc'"),
        of("limit=1.5", 400, "limit with value '1.5'"),
        of("limit=4294967297", 400, "from 1 to 500"),
        of("limit=", 200, ""),
        of("limit=2&limit=abc", 200, ""),
        of("from_block=abc", 400, "from_block with value 'abc' is not a block number"),
        of("from_block=-1", 400, "from_block with value '-1'"),
        of("to_block=1e3", 400, "to_block with value '1e3'"),
        of("to_block=0x10", 400, "to_block with value '0x10'"),
        of("to_block=18446744073709551616", 400, "to_block"),
        of("from_block=18446744073709551615", 200, r#""total":"0""#),
        of("from_block=3&to_block=1", 200, r#""result":[]"#),
        of("from_date=yesterday", 400, "from_date: 'yesterday' is not a date: give unix seconds"),
        of("to_date=2024-13-01", 400, "to_date: '2024-13-01' is not a date"),
        of("to_date=31.12.2024", 400, "ISO 8601"),
        of("from_date=%F0%9F%98%80", 400, "from_date"),
        of("from_date=2030-01-01&to_date=1960-01-01", 200, r#""result":[]"#),
        // A block beats a date, even one that cannot be read.
        of("from_block=1&from_date=yesterday", 200, ""),
        of("order=up", 400, "order with value 'up' is neither ASC nor DESC"),
        of("include=logs", 400, "include with value 'logs'"),
        of("unknown=1&disable_total=false&offset=7", 200, ""),
        of("%00=%00&=&&&", 200, ""),
        of("limit%3D=0", 200, ""),
    ]
}

fn cursors(world: &Imported, wallet: &str) -> Vec<Case> {
    let of = |path: String, says| get(path, 400, says);
    let page = get(format!("/api/v2.2/{wallet}?chain={CHAIN}&limit=1"), 200, "")
        .send(world.server.address());
    let json: Value = serde_json::from_str(&page.body).unwrap();
    let good = json["cursor"].as_str().unwrap().to_owned();
    assert!(!good.is_empty(), "{}", page.body);
    let base = format!("/api/v2.2/{wallet}?chain={CHAIN}");
    let altered: String = match good.strip_prefix('A') {
        Some(rest) => format!("B{rest}"),
        None => format!("A{}", &good[1..]),
    };
    // A bit in the middle, where the position stands.
    let middle = good.len() / 2;
    let other = if &good[middle..=middle] == "A" { "B" } else { "A" };
    let bent = format!("{}{other}{}", &good[..middle], &good[middle + 1..]);
    let whale = world.address("whale");
    vec![
        get(format!("{base}&cursor={good}"), 200, r#""page":"1""#),
        of(format!("{base}&cursor=garbage"), "cursor is malformed"),
        of(format!("{base}&cursor={good}AAAA"), "cursor is malformed"),
        of(format!("{base}&cursor={}", &good[..good.len() - 1]), "cursor is malformed"),
        of(format!("{base}&cursor={}", "%20".repeat(good.len())), "cursor is malformed"),
        of(format!("{base}&cursor={altered}"), "cursor is malformed"),
        of(format!("{base}&cursor={bent}"), "cursor was altered or not issued here"),
        of(
            format!("/api/v2.2/nft/{wallet}/trades?chain={CHAIN}&cursor={good}"),
            "cursor belongs to another question",
        ),
        of(format!("/api/v2.2/{whale}?chain={CHAIN}&cursor={good}"), "contradicts the cursor"),
        of(
            format!("{base}&order=ASC&cursor={good}"),
            "order with value 'ASC' contradicts the cursor",
        ),
        of(
            format!("{base}&from_block=1&cursor={good}"),
            "from_block with value '1' contradicts the cursor",
        ),
        of(format!("{base}&limit=2&cursor={good}"), "limit with value '2' contradicts the cursor"),
        of(
            format!("{base}&include=internal_transactions&cursor={good}"),
            "include with value 'internal_transactions' contradicts the cursor",
        ),
        get(format!("/api/v2.2/{wallet}?cursor={good}"), 200, r#""page":"1""#),
    ]
}

fn keys(wallet: &str) -> Vec<Case> {
    let path = format!("/api/v2.2/{wallet}?chain={CHAIN}");
    let data = |headers: &[(&'static str, &str)], status, says| {
        get(path.clone(), status, says).with(headers)
    };
    let rpc = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    let bearer = format!("Bearer {KEY}");
    vec![
        data(&[], 401, "API key is missing"),
        data(&[("x-api-key", "")], 401, "API key is missing"),
        data(&[("x-api-key", "   ")], 401, "API key is missing"),
        data(&[("x-api-key", "wrong")], 401, "invalid token"),
        data(&[("x-api-key", &KEY[1..])], 401, "invalid token"),
        data(&[("x-api-key", "schl\u{fc}ssel")], 401, "invalid token"),
        data(&[("authorization", "Bearer wrong")], 401, "invalid token"),
        data(&[("authorization", "Basic abc")], 401, "API key is missing"),
        data(&[("authorization", &bearer)], 200, ""),
        data(&[("X-API-KEY", KEY)], 200, ""),
        data(&[("x-api-key", KEY), ("x-wire-profile", "neither")], 400, "is neither spec nor live"),
        data(&[("x-api-key", KEY), ("x-request-id", "not a good id {}")], 200, ""),
        post(rpc, 401, "invalid token").at(format!("/{CHAIN}/wrong")),
        post(rpc, 401, "invalid token").at(format!("/{CHAIN}/%20")),
        post(rpc, 400, "cannot be read as UTF-8").at(format!("/{CHAIN}/%FF")),
        post(rpc, 200, "0x539").at(format!("/{SLUG}/{KEY}")),
        // The key is looked at first: without one nobody learns which chains there are, and a key that stands in the
        // wrong place is not quoted.
        post(rpc, 401, "invalid token").at("/nowhere/wrong"),
        post(rpc, 401, "invalid token").at(format!("/{KEY}/{CHAIN}")),
        post(rpc, 404, "no such chain here; served chains: chain-1337").at(format!("/eth/{KEY}")),
        post(rpc, 404, "no such chain here; served chains: chain-1337").at(format!("/{KEY}/{KEY}")),
    ]
}

fn paths_and_methods(wallet: &str) -> Vec<Case> {
    let path = format!("/api/v2.2/{wallet}?chain={CHAIN}");
    vec![
        get("/nothing", 404, "nothing is served at this path"),
        get("/", 405, "method POST is not allowed here").by("POST"),
        get("/console/nothing.js", 404, "the console has no such file"),
        get("/console/api/status", 403, "only the console's own pages may ask this"),
        get("/api/v2.2/", 404, "no operation is at this path"),
        get(format!("/api/v2/{wallet}"), 404, "nothing is served"),
        get(format!("/api/v2.2/{wallet}/unknown"), 404, "no operation is at this path"),
        get(format!("/api/v2.2/{wallet}/balance"), 501, "does not have this operation"),
        get("//", 404, "nothing is served"),
        get("/%2e%2e/%2e%2e/etc/passwd", 404, "nothing is served"),
        get(path.clone(), 405, "method POST is not allowed").by("POST"),
        get(path.clone(), 405, "method DELETE is not allowed").by("DELETE"),
        get(path.clone(), 405, "method BREW is not allowed").by("BREW"),
        get(path.clone(), 200, "").by("HEAD"),
        get(path, 204, "").by("OPTIONS"),
        get(format!("/{CHAIN}/{KEY}"), 405, "method GET is not allowed"),
        get("/status", 405, "method PUT is not allowed").by("PUT"),
        get("/status/nowhere/blocks/1", 404, "this chain is not served here"),
        get(
            format!("/status/{CHAIN}/blocks/one"),
            400,
            "number with value 'one' is not a block number",
        ),
        get(format!("/status/{CHAIN}/blocks/99"), 404, "block 99 is not stored"),
    ]
}

fn bodies() -> Vec<Case> {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    let padded = |bytes: usize| format!("{call}{}", " ".repeat(bytes - call.len()));
    vec![
        post(padded(BODY_BYTES_MAX), 200, "0x539"),
        post(padded(BODY_BYTES_MAX + 1), 413, "the body is larger than 4096 bytes"),
        post(padded(300_000), 413, "the body is larger than"),
        post(call, 415, "content type text/plain is not taken")
            .with(&[("content-type", "text/plain")]),
        post(call, 415, "is not taken").with(&[("content-type", "application/jsonp")]),
        post(call, 415, "is not taken").with(&[("content-type", ";;")]),
        post(call, 200, "0x539").with(&[("content-type", "application/json; charset=utf-8")]),
        post(call, 200, "0x539").with(&[]),
        post(call, 415, "content encoding gzip is not taken; send plain application/json")
            .with(&[("content-type", "application/json"), ("content-encoding", "gzip")]),
        post(call, 200, "0x539").with(&[("content-encoding", "identity")]),
        post(call, 400, "the Host header is given twice").with(&[("host", "other")]),
    ]
}

fn calls() -> Vec<Case> {
    let call = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":"x","method":"{method}","params":{params}}}"#)
    };
    let hash = format!("\"0x{}\"", "0".repeat(64));
    let many = |n: usize| format!("[{}]", vec![call("eth_chainId", "[]"); n].join(","));
    vec![
        post("", 200, "the body is not JSON"),
        post("{", 200, "the body is not JSON"),
        post(b"\xff\xfe{}".to_vec(), 200, "the body is not JSON"),
        post("[".repeat(4000), 200, "the body is not JSON"),
        post("[]", 200, "invalid request: an empty batch"),
        post("7", 200, "invalid request: a call must be a JSON object"),
        post(r#"{"id":1,"method":"eth_chainId"}"#, 200, "jsonrpc must be"),
        post(r#"{"jsonrpc":"2.0","id":[],"method":"eth_chainId"}"#, 200, "id must be"),
        post(r#"{"jsonrpc":"2.0","id":1,"method":null}"#, 200, "method must be"),
        post(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"eth_chainId"}"#, 200, "id is given twice"),
        post(
            r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","method":"eth_blockNumber"}"#,
            200,
            "method is given twice",
        ),
        post(call("eth_call", "7"), 200, "params must be an array"),
        post(
            call("admin_peers", "[]"),
            200,
            "the method admin_peers does not exist or is not offered",
        ),
        post(call("eth_sendTransaction", "[{}]"), 200, "is not offered here"),
        post(
            call("eth_getBlockByHash", &format!("[{hash}]")),
            200,
            "2 parameters are needed, 1 were given",
        ),
        post(
            call("eth_getBlockByHash", &format!("[{hash},\"true\"]")),
            200,
            "argument 1 with value",
        ),
        post(call("eth_getBlockByHash", "[\"0x1\",true]"), 200, "is not a 32-byte hash"),
        post(
            call("eth_getTransactionByBlockNumberAndIndex", "[\"newest\",\"0x0\"]"),
            200,
            "argument 0 with value",
        ),
        post(
            call("eth_getTransactionByBlockNumberAndIndex", "[\"0x1\",\"-1\"]"),
            200,
            "argument 1 with value",
        ),
        post(
            call("eth_getTransactionByBlockNumberAndIndex", "[\"0x1\",\"0xffffffffffffffff\"]"),
            200,
            "null",
        ),
        post(call("eth_gasPrice", "[]"), 200, "eth_gasPrice needs a node, and this chain has none"),
        post(many(5), 200, "0x539"),
        post(many(6), 200, "a batch of 6 calls; at most 5 are taken"),
        post(r#"{"jsonrpc":"2.0","method":"eth_chainId"}"#, 204, ""),
    ]
}

#[test]
fn json_rpc_failures_carry_their_code_and_the_callers_id() {
    let world = Imported::new(1);
    let code = |body: &str| {
        let answer: Value =
            serde_json::from_str(&post(body, 200, "").send(world.server.address()).body).unwrap();
        (answer["error"]["code"].as_i64(), answer["id"].clone())
    };
    assert_eq!(code("{"), (Some(-32700), Value::Null));
    assert_eq!(code(r#"{"jsonrpc":"2.0","id":7}"#), (Some(-32600), 7.into()));
    assert_eq!(
        code(r#"{"jsonrpc":"2.0","id":"a","method":"engine_x"}"#),
        (Some(-32601), "a".into())
    );
    assert_eq!(
        code(r#"{"jsonrpc":"2.0","id":1.5,"method":"eth_getBlockByHash"}"#),
        (Some(-32602), 1.5.into())
    );
    assert_eq!(
        code(r#"{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}"#),
        (Some(-32000), 1.into())
    );
}
