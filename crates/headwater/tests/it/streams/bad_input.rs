//! What strangers send to the streams host, and what they are told; and that none of it leaves anything behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::process::KEY;
use crate::raw::{Answer, Request, send};
use crate::world::Imported;

/// Larger than this and a body is refused.
const BODY_BYTES_MAX: usize = 16_384;
/// The simulations' chain.
const CHAIN_HEX: &str = "0x539";
const UNKNOWN: &str = "0d653a7a-05da-4f4a-8eec-bca8725046cd";
const ADDRESS: &str = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B";

struct Case {
    method: &'static str,
    target: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    status: u16,
    /// Parts of the answer.
    says: Vec<&'static str>,
}

fn case(method: &'static str, target: impl Into<String>, body: impl Into<Vec<u8>>) -> Case {
    let headers =
        vec![("x-api-key", KEY.to_owned()), ("content-type", "application/json".to_owned())];
    Case { method, target: target.into(), headers, body: body.into(), status: 0, says: Vec::new() }
}

impl Case {
    fn is(self, status: u16, says: &[&'static str]) -> Self {
        Case { status, says: says.to_vec(), ..self }
    }

    fn with(self, headers: &[(&'static str, &str)]) -> Self {
        let headers = headers.iter().map(|(name, value)| (*name, value.to_string())).collect();
        Case { headers, ..self }
    }

    fn send(&self, address: &str) -> Answer {
        let headers = self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let request =
            Request { method: self.method, target: &self.target, headers, body: &self.body };
        send(address, &request)
    }

    /// What is wrong with the answer.
    fn fault(&self, address: &str) -> Option<String> {
        let answer = self.send(address);
        let body: String = String::from_utf8_lossy(&self.body).chars().take(300).collect();
        let json: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        // Quotes inside JSON are escaped.
        let text = answer.body.replace('\\', "");
        let unsaid = self.says.iter().find(|says| !text.contains(**says));
        let checks = [
            (answer.status == self.status, format!("is not {}", self.status)),
            (answer.header("x-request-id").is_some(), "has no request id".to_owned()),
            (answer.header("content-type") == Some("application/json"), "is no JSON".to_owned()),
            (!answer.body.contains(KEY), "shows the key".to_owned()),
            (json["message"].is_string(), "has no message".to_owned()),
            (json["details"].is_object() == (answer.status == 422), "details".to_owned()),
            (answer.body.len() < 2500, "is larger than its cause".to_owned()),
            (unsaid.is_none(), format!("does not say {unsaid:?}")),
        ];
        let fault = checks.into_iter().find(|(holds, _)| !holds)?.1;
        let Answer { status, body: got, .. } = &answer;
        Some(format!("{} {} {body}: {status} {got} {fault}", self.method, self.target))
    }
}

/// Answers 200 to whatever is sent to `/ok`, and 500 elsewhere.
fn receiver() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || answer(stream.unwrap()));
        }
    });
    url
}

fn answer(stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = Vec::new();
    for line in (&mut reader).lines() {
        let line = line.unwrap_or_default();
        if line.is_empty() {
            break;
        }
        head.push(line.to_lowercase());
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
    let length: u64 = length.map_or(0, |length| length.parse().unwrap());
    let _ = std::io::copy(&mut reader.take(length), &mut std::io::sink());
    let is_ok = head.first().is_some_and(|line| line.starts_with("post /ok"));
    let status = if is_ok { "200 OK" } else { "500 Internal Server Error" };
    let text = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let _ = (&stream).write_all(text.as_bytes());
}

/// A body that is taken, with these fields over it; "(left out)" leaves a field out.
fn body_with(url: &str, fields: Value) -> String {
    let mut body = json!({
        "webhookUrl": format!("{url}/ok"), "description": "d", "tag": "t", "chainIds": [CHAIN_HEX], "includeNativeTxs": true,
    });
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    body.as_object_mut().unwrap().retain(|_, value| *value != json!("(left out)"));
    body.to_string()
}

#[test]
fn every_wrong_request_is_told_what_is_wrong_and_changes_nothing() {
    let url = receiver();
    let world = Imported::with(3, |serve| {
        serve
            .set("api.body_bytes_max", &BODY_BYTES_MAX.to_string())
            .set("streams.allow_private_targets", r#"["127.0.0.0/8"]"#)
            .set("streams.streams_per_tenant_max", "2")
            .set("streams.addresses_per_stream_max", "3")
    });
    let address = world.server.address();
    let made = case("PUT", "/streams/evm", body_with(&url, json!({}))).send(address);
    assert_eq!(made.status, 200, "{}", made.body);
    let made: Value = serde_json::from_str(&made.body).unwrap();
    let id = made["id"].as_str().unwrap();
    let at = format!("/streams/evm/{id}");
    let added = json!({ "address": ADDRESS }).to_string();
    let added = case("POST", format!("{at}/address"), added).send(address);
    assert_eq!(added.status, 200, "{}", added.body);

    let seen = || {
        let targets = [
            "/streams/evm?limit=100".to_owned(),
            format!("{at}/address?limit=100"),
            format!("{at}/deliveries"),
            "/settings".to_owned(),
            "/history?limit=100".to_owned(),
        ];
        targets.map(|target| {
            let answer = case("GET", target, "").send(address);
            assert_eq!(answer.status, 200, "{}", answer.body);
            answer.body
        })
    };
    let before = seen();
    let mut cases = creates(&url);
    cases.extend(definitions(&url));
    cases.extend(updates(&url, &at));
    cases.extend(ids());
    cases.extend(lists(&at));
    cases.extend(addresses(&at));
    cases.extend(statuses(&at));
    cases.extend(settings());
    cases.extend(histories(id));
    cases.extend(blocks(id));
    cases.extend(transport(&at));
    assert!(cases.len() >= 120, "{}", cases.len());
    let faults: Vec<String> = cases.iter().filter_map(|case| case.fault(address)).collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults.join("\n"));
    assert_eq!(seen(), before, "something was left behind");

    // One more fits, then none.
    let create = || case("PUT", "/streams/evm", body_with(&url, json!({})));
    assert_eq!(create().send(address).status, 200);
    assert_eq!(create().is(400, &["2"]).fault(address), None);
    let duplicate = case("POST", format!("{at}/duplicate"), "");
    assert_eq!(duplicate.is(400, &["2"]).fault(address), None);
    let log = world.server.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
}

#[test]
fn a_listener_of_its_own_serves_streams_and_nothing_else() {
    let world = Imported::with(1, |serve| serve.split("streams"));
    let address = |at: usize| world.server.urls()[at].trim_start_matches("http://");
    let ask = |at: usize, target: &str| case("GET", target, "").send(address(at)).status;
    assert_eq!((ask(0, "/settings"), ask(1, "/settings")), (404, 200));
    let wallet = format!("/api/v2.2/{ADDRESS}?chain={CHAIN_HEX}");
    assert_eq!((ask(0, &wallet), ask(1, &wallet)), (200, 404));
    assert_eq!((ask(0, "/health/live"), ask(1, "/health/live")), (200, 200));
}

fn creates(url: &str) -> Vec<Case> {
    let put = |body: &str| case("PUT", "/streams/evm", body);
    let of = |fields: Value| put(&body_with(url, fields));
    let missing = "(left out)";
    vec![
        put("")
            .is(422, &["Validation Failed", "requestBody.webhookUrl", "'webhookUrl' is required"]),
        put("{").is(400, &["not JSON"]),
        put("nonsense").is(400, &["not JSON"]),
        put("[]").is(422, &["\"requestBody\"", "invalid object"]),
        put("7").is(422, &["\"requestBody\"", "invalid object"]),
        put("null").is(422, &["\"requestBody\"", "invalid object"]),
        put(&format!("{}{}", "[".repeat(2000), "]".repeat(2000))).is(422, &["nested too deep"]),
        put(&"[".repeat(2000)).is(400, &["not JSON"]),
        case("PUT", "/streams/evm", b"{\"description\":\"\xff\"}".to_vec()).is(400, &["not JSON"]),
        put(r#"{"tag":"a","tag":"b"}"#).is(422, &["requestBody.tag", "given twice"]),
        of(json!({ "description": missing })).is(422, &["'description' is required"]),
        of(json!({ "chainIds": missing })).is(422, &["'chainIds' is required"]),
        of(json!({ "webhookUrl": 7 })).is(422, &["requestBody.webhookUrl", "invalid string value"]),
        of(json!({ "webhookUrl": "example.com" })).is(422, &["requestBody.webhookUrl", "http"]),
        of(json!({ "webhookUrl": "ftp://example.com/x" })).is(422, &["requestBody.webhookUrl"]),
        of(json!({ "webhookUrl": "http://user:pass@example.com/" }))
            .is(422, &["requestBody.webhookUrl"]),
        of(json!({ "webhookUrl": format!("{url}/refuse") })).is(
            400,
            &["Could not POST to http://127.0.0.1:", "/refuse. Please check your webhook URL."],
        ),
        of(json!({ "webhookUrl": "http://127.0.0.1:1/" }))
            .is(400, &["Could not POST to http://127.0.0.1:1/."]),
        of(json!({ "webhookUrl": "http://10.0.0.1/" }))
            .is(400, &["Could not POST to http://10.0.0.1/."]),
        of(json!({ "webhookUrl": "http://169.254.169.254/latest" }))
            .is(400, &["Could not POST to http://169.254.169.254/latest."]),
        of(json!({ "webhookUrl": "http://name.invalid/" }))
            .is(400, &["Could not POST to http://name.invalid/."]),
        of(json!({ "chainIds": [] })).is(422, &["requestBody.chainIds", "at least 1"]),
        of(json!({ "chainIds": CHAIN_HEX })).is(422, &["requestBody.chainIds", "invalid array"]),
        of(json!({ "chainIds": ["eth"] })).is(422, &["requestBody.chainIds.0", "hex"]),
        of(json!({ "chainIds": [CHAIN_HEX, 1] }))
            .is(422, &["requestBody.chainIds.1", "invalid string value"]),
        of(json!({ "chainIds": ["0x89"] })).is(400, &["0x89", "not served here", CHAIN_HEX]),
        of(json!({ "chainIds": [CHAIN_HEX, "0xfffff"] })).is(400, &["0xfffff", "not served here"]),
        of(json!({ "tag": null })).is(422, &["requestBody.tag", "invalid string value"]),
        of(json!({ "description": "x".repeat(5000) })).is(422, &["requestBody.description"]),
        of(json!({ "demo": "yes" })).is(422, &["requestBody.demo", "invalid boolean value"]),
        of(json!({ "id": UNKNOWN })).is(
            422,
            &["requestBody.id", "\"id\" is an excess property and therefore is not allowed"],
        ),
        of(json!({ "status": "active" })).is(422, &["requestBody.status", "excess property"]),
        of(json!({ "statusMessage": "x" })).is(422, &["excess property"]),
        of(json!({ "webhook": "x" })).is(422, &["requestBody.webhook", "excess property"]),
        of(json!({ "fromBlock": -1 })).is(422, &["requestBody.fromBlock"]),
        of(json!({ "fromBlock": "latest" })).is(422, &["requestBody.fromBlock"]),
        of(json!({ "fromBlock": 1.5 })).is(422, &["requestBody.fromBlock"]),
        of(json!({ "includeUnconfirmed": 0 })).is(422, &["requestBody.includeUnconfirmed"]),
    ]
}

/// What is wrong with what a stream matches.
fn definitions(url: &str) -> Vec<Case> {
    let of = |fields: Value| case("PUT", "/streams/evm", body_with(url, fields));
    let event = json!({
        "type": "event", "name": "Transfer", "anonymous": false, "inputs": [
            { "name": "from", "type": "address", "indexed": true },
            { "name": "to", "type": "address", "indexed": true },
            { "name": "value", "type": "uint256", "indexed": false },
        ],
    });
    let topic0 = "Transfer(address,address,uint256)";
    let filtered = |filter: Value| {
        of(json!({
            "includeContractLogs": true, "topic0": [topic0], "abi": [event],
            "advancedOptions": [{ "topic0": topic0, "filter": filter }],
        }))
    };
    let function = json!({
        "type": "function", "name": "balanceOf", "stateMutability": "view",
        "inputs": [{ "name": "owner", "type": "address" }], "outputs": [{ "name": "", "type": "uint256" }],
    });
    let triggered = |change: &dyn Fn(&mut Value)| {
        let mut trigger = json!({
            "type": "tx", "contractAddress": "$toAddress", "functionAbi": function, "inputs": ["$fromAddress"],
        });
        change(&mut trigger);
        of(json!({ "triggers": [trigger] }))
    };
    let balances = |entry: Value| of(json!({ "getNativeBalances": [entry] }));
    vec![
        of(json!({ "includeNativeTxs": false })).is(
            400,
            &["At least one of includeContractLogs, includeNativeTxs and includeInternalTxs"],
        ),
        of(
            json!({ "includeNativeTxs": false, "includeInternalTxs": true, "includeAllTxLogs": true }),
        )
        .is(400, &["includeAllTxLogs needs"]),
        of(json!({ "allAddresses": true })).is(400, &["allAddresses needs abi and topic0"]),
        of(json!({ "topic0": "x" })).is(422, &["requestBody.topic0", "invalid array"]),
        of(json!({ "topic0": ["Transfer(address"] })).is(422, &["requestBody.topic0.0"]),
        of(json!({ "topic0": ["0xddf2"] })).is(422, &["requestBody.topic0.0"]),
        of(json!({ "abi": "x" })).is(422, &["requestBody.abi"]),
        of(json!({ "abi": [{ "name": "x", "type": "evnt" }] })).is(422, &["requestBody.abi.0.type", "evnt"]),
        of(json!({ "abi": [{ "type": "event", "name": "E", "inputs": [{ "type": "uint7" }] }] }))
            .is(422, &["requestBody.abi.0.inputs.0"]),
        of(json!({ "advancedOptions": [{ "filter": {} }] }))
            .is(422, &["requestBody.advancedOptions.0.topic0", "'topic0' is required"]),
        filtered(json!({ "eq": ["value"] })).is(422, &["requestBody.advancedOptions.0.filter"]),
        filtered(json!({ "like": ["value", "1"] }))
            .is(422, &["requestBody.advancedOptions.0.filter"]),
        filtered(json!({ "and": [{ "eq": ["value", "1"] }] }))
            .is(422, &["requestBody.advancedOptions.0.filter", "at least 2"]),
        filtered(json!({ "eq": ["amount", "1"] })).is(400, &["filter", "amount"]),
        triggered(&|t| t["type"] = json!("block")).is(422, &["requestBody.triggers.0.type"]),
        triggered(&|t| t["contractAddress"] = json!("0x12"))
            .is(422, &["requestBody.triggers.0.contractAddress"]),
        triggered(&|t| t["inputs"] = json!(["$nothing"]))
            .is(422, &["requestBody.triggers.0.inputs.0"]),
        triggered(&|t| t["inputs"] = json!([])).is(422, &["requestBody.triggers.0.inputs"]),
        triggered(&|t| {
            t["functionAbi"].as_object_mut().unwrap().remove("type");
        })
        .is(422, &["requestBody.triggers.0.functionAbi.type", "'type' is required"]),
        triggered(&|t| t["functionAbi"]["stateMutability"] = json!("payable"))
            .is(422, &["stateMutability", "view or pure"]),
        balances(json!({ "selectors": ["$fromAddress"] })).is(422, &["'type' is required"]),
        balances(json!({ "selectors": [], "type": "tx" }))
            .is(422, &["requestBody.getNativeBalances.0.selectors"]),
        balances(json!({ "selectors": ["$gas"], "type": "tx" }))
            .is(422, &["requestBody.getNativeBalances.0.selectors.0"]),
    ]
}

fn updates(url: &str, at: &str) -> Vec<Case> {
    let of = |fields: Value| case("POST", at, fields.to_string());
    vec![
        of(json!({ "webhookUrl": format!("{url}/refuse") }))
            .is(400, &["Could not POST to", "Please check your webhook URL."]),
        of(json!({ "webhookUrl": format!("{url}/refuse"), "description": "half" }))
            .is(400, &["Could not POST to"]),
        of(json!({ "description": "half", "demo": 1 })).is(422, &["requestBody.demo"]),
        // The rules hold for the stream as it would be.
        of(json!({ "includeNativeTxs": false })).is(400, &["At least one of"]),
        of(json!({ "allAddresses": true })).is(400, &["allAddresses needs"]),
        of(json!({ "chainIds": ["0x89"] })).is(400, &["not served here"]),
        of(json!({ "webhookUrl": null })).is(422, &["requestBody.webhookUrl"]),
        of(json!({ "id": UNKNOWN })).is(422, &["requestBody.id", "excess property"]),
        case("POST", at, "{").is(400, &["not JSON"]),
        case("POST", at, "[]").is(422, &["invalid object"]),
    ]
}

/// Ids that are none, and that are nobody's.
fn ids() -> Vec<Case> {
    let body = json!({ "address": ADDRESS }).to_string();
    let status = r#"{"status":"paused"}"#;
    let all = [
        ("GET", "", "", "Stream not found"),
        ("POST", "", "{}", "Stream not found"),
        ("DELETE", "", "{}", "Stream not found"),
        ("POST", "/duplicate", "", "Stream not found"),
        ("POST", "/status", status, "Stream not found"),
        ("GET", "/address?limit=5", "", "Stream not found"),
        ("POST", "/address", &body, "Stream not found"),
        ("PATCH", "/address", &body, "Stream not found"),
        ("DELETE", "/address", &body, "Stream not found"),
        ("GET", "/deliveries", "", "Stream not found"),
    ];
    let mut cases = Vec::new();
    for (method, rest, body, says) in all {
        let unknown = case(method, format!("/streams/evm/{UNKNOWN}{rest}"), body);
        cases.push(unknown.is(404, &[says]));
        let none = case(method, format!("/streams/evm/17{rest}"), body);
        cases.push(none.is(422, &["Validation Failed", "\"id\"", "Not match in", "\"17\""]));
    }
    let nil = "00000000-0000-0000-0000-000000000000";
    cases.extend([
        case("GET", format!("/streams/evm/{nil}"), "").is(404, &["Stream not found"]),
        case("GET", format!("/stats/{UNKNOWN}"), "").is(404, &["Stat not found"]),
        case("GET", "/stats/17", "").is(422, &["\"streamId\"", "Not match in"]),
        case("GET", "/streams/evm/%FF", "").is(400, &["UTF-8"]),
    ]);
    cases
}

fn lists(at: &str) -> Vec<Case> {
    let get = |target: &str| case("GET", target, "");
    let mut cases = Vec::new();
    let addresses = format!("{at}/address");
    for list in ["/streams/evm", &addresses, "/history", "/history/logs"] {
        let with = |query: &str| get(&format!("{list}?{query}"));
        cases.extend([
            get(list).is(422, &["\"limit\"", "'limit' is required"]),
            with("limit=0").is(422, &["\"limit\"", "from 1 to 100", "\"0\""]),
            with("limit=101").is(422, &["from 1 to 100"]),
            with("limit=ten").is(422, &["invalid float number"]),
            with("limit=5&cursor=garbage").is(400, &["cursor is malformed"]),
        ]);
    }
    cases.extend([
        get("/streams/evm?limit=5&status=on").is(
            422,
            &[
                "\"status\"",
                "should be one of the following; ['active','paused','error','terminated']",
            ],
        ),
        get(&format!("{at}/deliveries?from=0")).is(422, &["\"from\"", "from 1 on"]),
        get(&format!("{at}/deliveries?from=x")).is(422, &["\"from\""]),
        get(&format!("{at}/deliveries?limit=1000")).is(422, &["\"limit\""]),
    ]);
    cases
}

fn addresses(at: &str) -> Vec<Case> {
    let target = format!("{at}/address");
    let mut cases = Vec::new();
    for method in ["POST", "PATCH", "DELETE"] {
        let of = |body: &str| case(method, target.clone(), body);
        cases.extend([
            of("").is(422, &["requestBody.address", "'address' is required"]),
            of(r#"{"address":null}"#).is(422, &["requestBody.address"]),
            of(r#"{"address":[7]}"#).is(422, &["requestBody.address.0", "invalid string value"]),
            of(r#"{"address":"0x12"}"#).is(400, &["Invalid address provided", "0x12"]),
            of(&json!({ "address": [ADDRESS, "vitalik.eth"] }).to_string())
                .is(400, &["Invalid address provided", "vitalik.eth"]),
            of(&json!({ "addresses": ADDRESS }).to_string())
                .is(422, &["requestBody.addresses", "excess property"]),
            of("{").is(400, &["not JSON"]),
        ]);
    }
    let other = |n: u8| format!("0x{n:040x}");
    let four = json!({ "address": [other(1), other(2), other(3), other(4)] }).to_string();
    cases.extend([
        case("POST", target.clone(), r#"{"address":[]}"#).is(422, &["at least one address"]),
        case("DELETE", target.clone(), r#"{"address":[]}"#).is(422, &["at least one address"]),
        case("DELETE", target.clone(), json!({ "address": other(9) }).to_string())
            .is(404, &["Address not found"]),
        case("POST", target.clone(), four.clone()).is(400, &["3"]),
        case("PATCH", target, four).is(400, &["3"]),
    ]);
    cases
}

fn statuses(at: &str) -> Vec<Case> {
    let of = |body: &str| case("POST", format!("{at}/status"), body);
    vec![
        of("").is(422, &["requestBody.status", "'status' is required"]),
        of(r#"{"status":"on"}"#).is(422, &["should be one of the following; ['active',"]),
        of(r#"{"status":"terminated"}"#).is(422, &["requestBody.status"]),
        of(r#"{"status":true}"#).is(422, &["invalid string value"]),
        of(r#"{"status":"active","fromBlock":"x"}"#).is(422, &["requestBody.fromBlock"]),
        of(r#"{"status":"paused","fromBlock":1}"#).is(422, &["requestBody.fromBlock"]),
        of(r#"{"status":"paused","tag":"x"}"#).is(422, &["requestBody.tag", "excess property"]),
    ]
}

fn settings() -> Vec<Case> {
    let of = |body: &str| case("POST", "/settings", body);
    vec![
        of(r#"{"region":"eu-central-100"}"#).is(
            422,
            &[
                "requestBody.region",
                "should be one of the following; ['us-east-1','us-west-2','eu-central-1','ap-southeast-1']",
                "eu-central-100",
            ],
        ),
        of(r#"{"region":7}"#).is(422, &["invalid string value"]),
        of(r#"{"secretKey":"short"}"#).is(422, &["requestBody.secretKey", "characters"]),
        of(r#"{"secretKey":7}"#).is(422, &["requestBody.secretKey", "invalid string value"]),
        // Not half of it either.
        of(r#"{"region":"us-west-2","secretKey":"short"}"#).is(422, &["requestBody.secretKey"]),
        of(r#"{"regions":"us-west-2"}"#).is(422, &["excess property"]),
    ]
}

fn histories(id: &str) -> Vec<Case> {
    let of = |target: &str, query: &str| case("GET", format!("{target}?limit=5&{query}"), "");
    let mut cases = Vec::new();
    for target in ["/history", "/history/logs"] {
        cases.extend([
            of(target, "streamId=17").is(422, &["\"streamId\"", "Not match in"]),
            of(target, "chainId[]=etherium").is(422, &["\"chainId\"", "not a known chain"]),
            of(target, "blockNumber[]=one").is(422, &["\"blockNumber\"", "invalid integer number"]),
            of(target, "fromTimestamp=yesterday").is(422, &["\"fromTimestamp\"", "is not a date"]),
            of(target, "toTimestamp=x").is(422, &["\"toTimestamp\""]),
            of(target, "transactionHash=0x12").is(422, &["\"transactionHash\"", "Not match in"]),
        ]);
    }
    let replay =
        |stream: &str, id: &str| case("POST", format!("/history/replay/{stream}/{id}"), "{}");
    cases.extend([
        of("/history", "excludePayload=maybe")
            .is(422, &["\"excludePayload\"", "invalid boolean value"]),
        of("/history/logs", "deliveryStatus[]=lost").is(
            422,
            &["\"deliveryStatus\"", "should be one of the following; ['failed','success']"],
        ),
        replay(id, UNKNOWN).is(404, &["History not found"]),
        replay(UNKNOWN, UNKNOWN).is(404, &["Stream not found"]),
        replay("17", UNKNOWN).is(422, &["\"streamId\"", "Not match in"]),
        replay(id, "17").is(422, &["\"id\"", "Not match in"]),
    ]);
    cases
}

fn blocks(id: &str) -> Vec<Case> {
    let show = |chain: &str, number: &str, body: &str| {
        case("POST", format!("/streams/evm/{chain}/block/{number}"), body)
    };
    let send = |chain: &str, number: &str, id: &str| {
        case("POST", format!("/streams/evm/{chain}/block-to-webhook/{number}/{id}"), "")
    };
    let body = r#"{"includeNativeTxs":true}"#;
    vec![
        show("nowhere", "1", body).is(400, &["chainId with value 'nowhere' is not a known chain"]),
        show("0x89", "1", body).is(400, &["0x89", "not served here"]),
        show(CHAIN_HEX, "one", body).is(422, &["\"blockNumber\"", "invalid integer number"]),
        show(CHAIN_HEX, "-1", body).is(422, &["\"blockNumber\""]),
        show(CHAIN_HEX, "99", body).is(400, &["block 99", "not indexed here"]),
        show(CHAIN_HEX, "1", "{}").is(400, &["At least one of"]),
        show(CHAIN_HEX, "1", "{").is(400, &["not JSON"]),
        show(CHAIN_HEX, "1", r#"{"includeNativeTxs":true,"addresses":["0x1"]}"#)
            .is(422, &["requestBody.addresses.0", "Invalid address provided"]),
        show(CHAIN_HEX, "1", r#"{"includeNativeTxs":true,"webhookUrl":"http://a/"}"#)
            .is(422, &["requestBody.webhookUrl", "excess property"]),
        send(CHAIN_HEX, "1", "17").is(422, &["\"streamId\"", "Not match in"]),
        send(CHAIN_HEX, "1", UNKNOWN).is(404, &["Stream not found"]),
        send(CHAIN_HEX, "99", id).is(400, &["block 99"]),
        send("nowhere", "1", id).is(400, &["is not a known chain"]),
    ]
}

/// Keys, methods, types, sizes: as on the other hosts.
fn transport(at: &str) -> Vec<Case> {
    let json = ("content-type", "application/json");
    let put = || case("PUT", "/streams/evm", "{}");
    let mut cases: Vec<Case> = Vec::new();
    let targets = ["/streams/evm?limit=5", at, "/stats", "/settings", "/history?limit=5"];
    for target in targets {
        cases.push(case("GET", target, "").with(&[]).is(401, &["API key is missing"]));
        let wrong = case("GET", target, "").with(&[("x-api-key", "wrong")]);
        cases.push(wrong.is(401, &["invalid token"]));
    }
    cases.extend([
        put().with(&[json]).is(401, &["API key is missing"]),
        put()
            .with(&[("x-api-key", KEY), ("content-type", "text/plain")])
            .is(415, &["content type text/plain is not taken"]),
        put()
            .with(&[("x-api-key", KEY), json, ("content-encoding", "gzip")])
            .is(415, &["content encoding gzip is not taken"]),
        case("PUT", "/streams/evm", " ".repeat(BODY_BYTES_MAX + 1))
            .is(413, &["the body is larger than 16384 bytes"]),
        case("POST", format!("{at}/address"), " ".repeat(100_000)).is(413, &["the body is larger"]),
        case("PATCH", at, "{}").is(405, &["method PATCH is not allowed"]),
        case("POST", "/streams/evm", "{}").is(405, &["method POST is not allowed"]),
        case("DELETE", "/settings", "").is(405, &["method DELETE is not allowed"]),
        case("GET", format!("{at}/nothing"), "").is(404, &["nothing is served at this path"]),
        case("GET", "/streams/solana?limit=5", "").is(405, &["method GET is not allowed"]),
    ]);
    cases
}
