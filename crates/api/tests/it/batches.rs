//! JSON-RPC batches: what they answer however large they are, what they may answer, and what they cost.

use serde_json::{Value, json};

use crate::test_server::{Answer, KEY, TestServer};

fn post(server: &TestServer, body: &Value) -> Answer {
    let head = format!("POST /sim/{KEY} HTTP/1.1\r\ncontent-type: application/json\r\n");
    server.send(&head, body.to_string().as_bytes())
}

fn call(id: usize, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Calls for whole blocks, some other calls between them.
fn calls(server: &TestServer, count: usize) -> Vec<Value> {
    let hashes: Vec<Value> = (1..=6)
        .map(|number| {
            let place = json!([format!("{number:#x}"), "0x0"]);
            let one = post(server, &call(0, "eth_getTransactionByBlockNumberAndIndex", place));
            one.json()["result"]["blockHash"].clone()
        })
        .collect();
    (0..count)
        .map(|id| match id % 4 {
            0 => call(id, "eth_chainId", json!([])),
            _ => call(id, "eth_getBlockByHash", json!([hashes[id % 6], true])),
        })
        .collect()
}

/// The body, put together where it came in chunks.
fn whole(answer: &Answer) -> Value {
    if answer.header("transfer-encoding") != Some("chunked") {
        return answer.json();
    }
    let (mut text, mut rest) = (String::new(), answer.body.as_str());
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        text.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
        if length == 0 {
            break;
        }
    }
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_large_batch_streams_and_says_what_its_calls_say_one_by_one() {
    let server = TestServer::new();
    let calls = calls(&server, 100);
    let answer = post(&server, &json!(calls));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"), "{}", answer.body.len());
    let answers = whole(&answer);
    assert_eq!(answers.as_array().unwrap().len(), calls.len());
    for (one, of_batch) in calls.iter().zip(answers.as_array().unwrap()).take(12) {
        assert_eq!(&post(&server, one).json(), of_batch);
    }
    let small = post(&server, &json!(calls[..2]));
    assert!(small.header("content-length").is_some(), "{small:?}");
    assert_eq!(small.json(), json!(answers.as_array().unwrap()[..2]));
}

#[test]
fn odd_calls_of_a_batch_are_answered_in_their_place_and_notifications_are_not() {
    let server = TestServer::new();
    let notification = json!({ "jsonrpc": "2.0", "method": "eth_chainId" });
    let body = json!([7, [], [notification], call(1, "eth_chainId", json!([])), notification, {}]);
    let answers = post(&server, &body).json();
    let codes: Vec<_> =
        answers.as_array().unwrap().iter().map(|answer| answer["error"]["code"].as_i64()).collect();
    assert_eq!(codes, [Some(-32600), Some(-32600), Some(-32600), None, Some(-32600)], "{answers}");
    assert_eq!(post(&server, &json!([notification, notification])).status, 204);
}

#[test]
fn calls_past_the_bytes_of_a_batch_are_told_so() {
    let server = TestServer::with(|parts| parts.gateway.config.batch_bytes_max = 100_000);
    let calls = calls(&server, 100);
    let answer = post(&server, &json!(calls));
    assert!(answer.body.len() < 150_000, "{}", answer.body.len());
    let answers = whole(&answer);
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 100, "every call has an answer");
    assert!(answers[1]["result"].is_object(), "{}", answers[1]);
    for (id, refused) in answers.iter().enumerate().skip(90) {
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(id), &json!(-32003)));
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("smaller batches"), "{message}");
    }
}

#[test]
fn a_batch_costs_what_its_calls_cost() {
    let server = TestServer::with(|parts| {
        let (store, limit) = (parts.store.clone(), 30);
        parts.keys =
            crate::test_server::block_on(api::keys::KeyRing::open(&store, KEY, limit)).unwrap();
    });
    let batch = json!(vec![call(1, "eth_getBlockByHash", json!(["0x00", true])); 100]);
    let answer = post(&server, &batch);
    assert_eq!((answer.status, answer.header("x-request-weight")), (200, Some("1200")));
    let refused = post(&server, &call(1, "eth_chainId", json!([])));
    assert_eq!(refused.status, 429, "{refused:?}");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((30..=40).contains(&wait), "1,170 units of debt at 30 a second: {wait} s");
}

#[test]
fn answers_that_nobody_reads_hold_a_budget_until_they_are_cut_off() {
    let server = TestServer::with(|parts| {
        parts.config.response_bytes_in_flight_max = 2 << 20;
        parts.listen.send_timeout_ms = 1_000;
    });
    let body = json!(calls(&server, 100)).to_string();
    let request = format!(
        "POST /sim/{KEY} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let unread: Vec<_> = (0..12)
        .map(|_| {
            let mut stream = std::net::TcpStream::connect(server.address).unwrap();
            std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
            stream
        })
        .collect();
    // Small answers go on meanwhile, and large ones when the others were cut off.
    assert_eq!(post(&server, &call(1, "eth_chainId", json!([]))).json()["result"], "0x539");
    let started = std::time::Instant::now();
    let is_whole = || {
        let answers = whole(&post(&server, &serde_json::from_str(&body).unwrap()));
        answers.as_array().unwrap().iter().all(|answer| answer.get("result").is_some())
    };
    while !is_whole() {
        assert!(
            started.elapsed() < std::time::Duration::from_secs(60),
            "the budget never came back"
        );
    }
    drop(unread);
}
