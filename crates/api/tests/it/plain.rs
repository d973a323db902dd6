//! Plain requests are answered without the HTTP library (`serve::plain`). Nobody who asks can tell: the same requests
//! are sent so that the one reads them and so that the other does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::test_server::{KEY, TestServer};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
/// Long enough for the server to look at what came and find that it is not all.
const LONG: Duration = Duration::from_millis(300);
const SHORT: Duration = Duration::from_millis(5);

/// Writes the pieces with pauses between them, and gives all that is answered.
fn converse(server: SocketAddr, pieces: &[&str], pause: Duration) -> String {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            std::thread::sleep(pause);
        }
        stream.write_all(piece.as_bytes()).unwrap();
    }
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    // Packed ones are no text; nothing is looked for in them.
    String::from_utf8_lossy(&all).into_owned()
}

/// Headers in the order of their names, without what differs each time; then the body, in one piece.
fn settled(answer: &str) -> (Vec<&str>, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let body = if head.contains("chunked") { joined(body) } else { body.to_owned() };
    let changes = |line: &str| line.starts_with("date: ") || line.starts_with("x-request-id: ");
    let mut lines: Vec<&str> = head.lines().filter(|line| !changes(line)).collect();
    assert_eq!(lines.len() + 2, head.lines().count(), "each has a date and an id: {head}");
    lines.sort_unstable();
    (lines, body)
}

fn joined(mut chunks: &str) -> String {
    let mut body = String::new();
    loop {
        let (length, rest) = chunks.split_once("\r\n").unwrap();
        let (chunk, rest) = rest.split_at(usize::from_str_radix(length, 16).unwrap());
        body.push_str(chunk);
        chunks = rest.strip_prefix("\r\n").unwrap();
        if chunk.is_empty() {
            assert!(chunks.is_empty(), "nothing comes after the last chunk");
            return body;
        }
    }
}

fn call(body: &str, more: &str) -> String {
    let length = body.len();
    format!(
        "POST /sim/{KEY} HTTP/1.1\r\nhost: test\r\n{more}content-length: {length}\r\n\r\n{body}"
    )
}

#[test]
fn every_answer_is_the_one_that_the_library_gives() {
    let server = TestServer::new();
    let get = |target: &str, more: &str| {
        format!(
            "GET {target} HTTP/1.1\r\nhost: test\r\nx-api-key: {KEY}\r\n{more}connection: close\r\n\r\n"
        )
    };
    let close = "connection: close\r\n";
    let page = format!("/api/v2.2/{}?chain=sim&limit=100", server.wallet);
    let block = r#"{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x1",true]}"#;
    let batch = format!("[{}]", vec![block; 60].join(","));
    let delete = format!("DELETE {page} HTTP/1.1\r\nhost: test\r\nConnection: Close\r\n\r\n");
    let preflight = "OPTIONS /api/v2.2 HTTP/1.1\r\nhost: test\r\norigin: http://a\r\naccess-control-request-method: GET\r\nconnection: close\r\n\r\n";
    for request in [
        get("/health/live", ""),
        get(&page, ""),
        get(&page, "accept-encoding: gzip\r\nx-odd: \r\n"),
        get("/api/v2.2/0x12", ""),
        get("/openapi.json", ""),
        get("/nowhere", ""),
        get("/metrics", ""),
        get(&page, &format!("x-long: {}\r\n", "x".repeat(6_000))),
        call(CALL, close),
        call(block, close),
        call(&batch, close),
        call("{", close),
        call("", close),
        call(CALL, &format!("content-type: text/plain\r\n{close}")),
        call(CALL, close).replace(KEY, "another"),
        call(CALL, close).replace("sim", "none"),
        delete,
        preflight.to_owned(),
    ] {
        let plain = converse(server.address, &[&request], SHORT);
        // What is not there at once is no plain request.
        let (begin, rest) = request.split_at(20);
        let library = converse(server.address, &[begin, rest], LONG);
        assert_eq!(settled(&plain), settled(&library), "{request}");
        assert!(plain.to_lowercase().contains("connection: close\r\n"), "{plain}");
    }
}

#[test]
fn requests_that_come_together_are_answered_in_their_order() {
    let server = TestServer::new();
    let numbered =
        |id: u32, more: &str| call(&CALL.replace("\"id\":1", &format!("\"id\":{id}")), more);
    let all: String = (0..200).map(|id| numbered(id, "")).collect();
    let all = all + &numbered(200, "connection: close\r\n") + &numbered(201, "");
    for pieces in [vec![all.as_str()], vec![&all[..777], &all[777..9_000], &all[9_000..]]] {
        let answers = converse(server.address, &pieces, SHORT);
        let ids: Vec<&str> = answers.split("\"id\":").skip(1).collect();
        let ids: Vec<&str> = ids.iter().filter_map(|text| text.split(',').next()).collect();
        let expected: Vec<String> = (0..=200).map(|id| id.to_string()).collect();
        assert_eq!(ids, expected, "what comes after the last one is not answered");
    }
}

#[test]
fn a_body_may_take_its_time() {
    let server = TestServer::new();
    let last = call(CALL, "connection: close\r\n");
    let first = call(CALL, "");
    let (head, body) = first.split_at(first.len() - CALL.len());
    for pause in [SHORT, LONG] {
        let pieces = [head, &body[..9], &body[9..], &last];
        let answers = converse(server.address, &pieces, pause);
        assert_eq!(answers.matches(r#""result":"0x539"}"#).count(), 2, "{answers}");
    }
}

#[test]
fn a_connection_goes_on_when_a_request_is_not_plain() {
    let server = TestServer::new();
    let chunked = format!(
        "POST /sim/{KEY} HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{CALL}\r\n0\r\n\r\n",
        CALL.len()
    );
    let expecting = call(CALL, "expect: 100-continue\r\n");
    let head = "HEAD /health/live HTTP/1.1\r\nhost: test\r\n\r\n".to_owned();
    let last = call(CALL, "connection: close\r\n");
    for (other, answered) in [(chunked, 3), (expecting, 3), (head, 2)] {
        let text = format!("{}{other}{last}", call(CALL, ""));
        for pieces in [vec![text.as_str()], vec![&text[..text.len() / 2], &text[text.len() / 2..]]]
        {
            let answers = converse(server.address, &pieces, LONG);
            let count = answers.matches(r#""result":"0x539"}"#).count();
            assert_eq!(count, answered, "{answers}");
        }
    }
}

/// The first call moves the connection to a thread for calls, what is none takes it back.
#[test]
fn a_connection_may_call_and_ask_for_other_things_in_any_order() {
    let server = TestServer::new();
    let get =
        |target: &str| format!("GET {target} HTTP/1.1\r\nhost: test\r\nx-api-key: {KEY}\r\n\r\n");
    let page = get(&format!("/api/v2.2/{}?chain=sim&limit=1", server.wallet));
    let (health, wrong) = (get("/health/live"), call(CALL, "").replace(KEY, "another"));
    let upgrade = format!(
        "GET /sim/{KEY} HTTP/1.1\r\nhost: test\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"
    );
    let (one, last) = (call(CALL, ""), call(CALL, "connection: close\r\n"));
    for kinds in [
        vec![&one, &health, &one, &page, &one],
        vec![&health, &one, &one, &page, &page],
        vec![&page, &one, &wrong, &one, &health],
        vec![&one, &upgrade, &one, &health],
        vec![&wrong, &wrong, &one, &one],
    ] {
        let mut pieces: Vec<&str> = kinds.iter().map(|it| it.as_str()).collect();
        pieces.push(&last);
        let together = pieces.concat();
        for pieces in [pieces.clone(), vec![together.as_str()]] {
            let answers = converse(server.address, &pieces, SHORT);
            assert_eq!(answers.matches("HTTP/1.1 ").count(), kinds.len() + 1, "{answers}");
            let called = kinds.iter().filter(|it| **it == &one).count() + 1;
            assert_eq!(answers.matches(r#""result":"0x539"}"#).count(), called, "{answers}");
            let refused = kinds.iter().filter(|it| **it == &wrong).count();
            assert_eq!(answers.matches("HTTP/1.1 401").count(), refused, "{answers}");
        }
    }
}

#[test]
fn two_lengths_or_a_length_and_chunks_are_refused() {
    let server = TestServer::new();
    for lengths in [
        "content-length: 5\r\ncontent-length: 6\r\n",
        "content-length: 5, 6\r\n",
        "content-length: 0x5\r\n",
        "content-length: 18446744073709551616\r\n",
    ] {
        let smuggled = "GET /health/live HTTP/1.1\r\nhost: test\r\n\r\n";
        let text = format!("POST /sim/{KEY} HTTP/1.1\r\nhost: test\r\n{lengths}\r\n{smuggled}");
        let answers = converse(server.address, &[&text], SHORT);
        assert!(answers.starts_with("HTTP/1.1 400"), "{lengths}: {answers}");
        assert_eq!(answers.matches("HTTP/1.1 ").count(), 1, "{answers}");
    }
}
