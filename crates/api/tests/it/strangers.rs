//! Connections that take and do not give: silent, dribbling, unread, too many. Each is ended, and nobody
//! else notices.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use api::ListenConfig;

use crate::h2::{DATA, H2};
use crate::test_server::{KEY, TestServer};

/// Short enough to wait for.
fn quick() -> ListenConfig {
    ListenConfig {
        header_timeout_ms: 300,
        idle_timeout_ms: 600,
        body_timeout_ms: 300,
        send_timeout_ms: 500,
        ..ListenConfig::default()
    }
}

fn server(listen: ListenConfig) -> TestServer {
    TestServer::with(|parts| parts.listen = listen)
}

fn connect(server: SocketAddr, words: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(words).unwrap();
    stream
}

/// Reads until the server ends it, and gives what came.
fn until_closed(mut stream: TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("still open: {stream:?}"),
        _ => all,
    }
}

/// Sends until the server ends it.
fn dribble(mut stream: TcpStream, piece: &[u8]) {
    let started = Instant::now();
    while stream.write_all(piece).is_ok() {
        assert!(started.elapsed() < Duration::from_secs(20), "still open");
        std::thread::sleep(Duration::from_millis(20));
    }
}

const ALIVE: &[u8] = b"GET /health/live HTTP/1.1\r\nhost: test\r\n\r\n";

/// Nothing tells when a server has read what was sent; on a busy machine it takes its time.
const HEADS_READ: Duration = Duration::from_secs(3);

#[test]
fn whoever_asks_nothing_is_cut_off() {
    let server = server(quick());
    let h2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    let half = [&b""[..], b"G", b"GET /status HTTP/1.1\r\nhost: te", &h2[..10], h2];
    for stream in half.map(|words| connect(server.address, words)) {
        until_closed(stream);
    }
    dribble(connect(server.address, b"GET /status HTTP/1.1\r\nx-long: "), b"x");
    // Between two requests, too.
    dribble(connect(server.address, ALIVE), b"x");
    let idle = until_closed(connect(server.address, ALIVE));
    assert!(idle.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&idle));
    assert_eq!(server.get("/health/live").status, 200);
}

#[test]
fn a_body_that_does_not_come_is_told_so_and_a_slow_one_is_taken() {
    let server = server(quick());
    let head = format!(
        "POST /sim/{KEY} HTTP/1.1\r\nhost: test\r\ncontent-length: 47\r\nconnection: close\r\n\r\n"
    );
    let answer = until_closed(connect(server.address, head.as_bytes()));
    assert!(answer.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&answer));
    let patient = self::server(ListenConfig { body_timeout_ms: 10_000, ..quick() });
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    let mut slow = connect(patient.address, head.as_bytes());
    for piece in body.chunks(16) {
        std::thread::sleep(Duration::from_millis(200));
        slow.write_all(piece).unwrap();
    }
    assert!(until_closed(slow).ends_with(br#""result":"0x539"}"#));
}

/// A batch whose answer is far larger than what sockets hold.
fn large_batch(server: &TestServer) -> String {
    let block = r#"{"jsonrpc":"2.0","id":1,"method":"eth_getTransactionByBlockNumberAndIndex","params":["0x1","0x0"]}"#;
    let hash = server.send(
        &format!("POST /sim/{KEY} HTTP/1.1\r\ncontent-type: application/json\r\n"),
        block.as_bytes(),
    );
    let hash = hash.json()["result"]["blockHash"].as_str().unwrap().to_owned();
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByHash","params":["{hash}",true]}}"#
    );
    format!("[{}]", vec![call; 100].join(","))
}

#[test]
fn whoever_does_not_read_is_cut_off_and_whoever_reads_slowly_is_not() {
    let server = server(quick());
    let body = large_batch(&server);
    let request = format!(
        "POST /sim/{KEY} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let whole = until_closed(connect(server.address, request.as_bytes())).len();
    assert!(whole > 1_000_000, "{whole} bytes prove nothing");
    let unread = connect(server.address, request.as_bytes());
    std::thread::sleep(Duration::from_millis(1_500));
    let got = until_closed(unread).len();
    assert!(got < whole, "it was not cut off");
    // Longer in all than a client may take for a single piece.
    let patient = self::server(ListenConfig { send_timeout_ms: 4_000, ..quick() });
    let mut slow = connect(patient.address, request.as_bytes());
    let (mut got, mut piece) = (0, vec![0u8; whole / 20]);
    loop {
        std::thread::sleep(Duration::from_millis(250));
        match slow.read(&mut piece).unwrap() {
            0 => break,
            bytes => got += bytes,
        }
    }
    assert_eq!(got, whole, "a slow reader gets everything");
}

#[test]
fn an_h2_client_that_gives_its_answer_no_room_is_cut_off() {
    let server = server(quick());
    let body = large_batch(&server);
    let mut h2 = H2::connect(server.address);
    h2.post(&format!("/sim/{KEY}"), body.as_bytes());
    // The socket is not full: it is the client's window that is.
    let mut got = 0;
    while let Some((kind, payload)) = h2.next() {
        got += if kind == DATA { payload.len() } else { 0 };
    }
    assert_eq!(got, 65_535, "what the window let through");
    let mut idle = H2::connect(server.address);
    idle.get("/health/live");
    while idle.next().is_some() {}
    assert_eq!(server.get("/health/live").status, 200);
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let server = server(ListenConfig { header_bytes_max: 8192, ..quick() });
    let fat = format!("GET /status HTTP/1.1\r\nhost: test\r\nx-fat: {}\r\n\r\n", "x".repeat(9000));
    let mut stream = connect(server.address, b"");
    let _ = stream.write_all(fat.as_bytes());
    let answer = until_closed(stream);
    assert!(answer.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&answer));
    let many = format!("GET /status HTTP/1.1\r\nhost: test\r\n{}\r\n", "x: y\r\n".repeat(150));
    let answer = until_closed(connect(server.address, many.as_bytes()));
    assert!(answer.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn past_the_limit_the_silent_make_room_and_the_busy_are_not_disturbed() {
    let listen = ListenConfig {
        connections_max: 40,
        connections_per_address_max: 20,
        header_timeout_ms: 60_000,
        body_timeout_ms: 60_000,
        ..ListenConfig::default()
    };
    let server = server(listen);
    // Nineteen with a request under way, and one that says nothing: this address is full.
    let head = format!(
        "POST /sim/{KEY} HTTP/1.1\r\nhost: test\r\ncontent-length: 47\r\nconnection: close\r\n\r\n"
    );
    let busy: Vec<_> = (0..19).map(|_| connect(server.address, head.as_bytes())).collect();
    let silent = connect(server.address, b"");
    std::thread::sleep(HEADS_READ);
    assert_eq!(server.get("/health/live").status, 200, "the silent one made room");
    until_closed(silent);
    // The place of the request before is free again.
    std::thread::sleep(HEADS_READ);
    let last = connect(server.address, head.as_bytes());
    std::thread::sleep(HEADS_READ);
    let shed = server.get("/health/live");
    assert_eq!(shed.status, 503, "{shed:?}");
    assert!(shed.message().contains("too many connections from this address"), "{shed:?}");
    for name in ["x-request-id", "retry-after", "date", "cache-control"] {
        assert!(shed.header(name).is_some(), "{name}: {shed:?}");
    }
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    for mut stream in busy.into_iter().chain([last]) {
        stream.write_all(body).unwrap();
        assert!(until_closed(stream).ends_with(br#""result":"0x539"}"#));
    }
    assert_eq!(server.get("/health/live").status, 200, "and all is as before");
}

#[test]
fn behind_a_trusted_proxy_clients_are_counted_by_the_address_it_names() {
    let listen = ListenConfig {
        connections_per_address_max: 2,
        trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
        body_timeout_ms: 60_000,
        ..ListenConfig::default()
    };
    let server = server(listen);
    let head = |client: &str| {
        format!(
            "POST /sim/{KEY} HTTP/1.1\r\nhost: test\r\nx-forwarded-for: 9.9.9.9, {client}\r\ncontent-length: 47\r\nconnection: close\r\n\r\n"
        )
    };
    let busy = |client: &str| connect(server.address, head(client).as_bytes());
    let under_way: Vec<_> =
        ["203.0.113.1", "203.0.113.1", "203.0.113.2", "203.0.113.3"].map(busy).into();
    std::thread::sleep(HEADS_READ);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    let ask = |client: &str| {
        let mut stream = busy(client);
        stream.write_all(body.as_bytes()).unwrap();
        String::from_utf8(until_closed(stream)).unwrap()
    };
    let refused = ask("203.0.113.1");
    assert!(refused.starts_with("HTTP/1.1 429"), "{refused}");
    assert!(refused.contains("more than 2 requests from this address"), "{refused}");
    assert!(refused.contains("x-request-id: ") && refused.contains("nosniff"), "{refused}");
    assert!(ask("203.0.113.2").starts_with("HTTP/1.1 200"));
    drop(under_way);
    let started = Instant::now();
    while !ask("203.0.113.1").starts_with("HTTP/1.1 200") {
        assert!(started.elapsed() < Duration::from_secs(60), "its places did not come back");
    }
}
