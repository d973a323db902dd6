//! The word to stop: first everybody is told, then nobody is let in, then those under way end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use api::Stage;

use crate::h2::{DATA, GOAWAY, H2};
use crate::test_server::{KEY, TestServer};

fn connect(server: &TestServer, words: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(words).unwrap();
    stream
}

fn until_closed(mut stream: TcpStream) -> String {
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    all
}

#[test]
fn balancers_are_told_first_and_requests_under_way_end() {
    let mut server = TestServer::new();
    let kept = "GET /health/ready HTTP/1.1\r\nhost: test\r\n\r\n";
    let mut keeping = connect(&server, kept.as_bytes());
    let mut first = [0u8; 12];
    keeping.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    let head =
        format!("POST /sim/{KEY} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n", body.len());
    let mut under_way = connect(&server, head.as_bytes());
    let half_open = [connect(&server, b""), connect(&server, b"GET /hea")];

    server.step(Stage::Notice);
    // A connection that was kept, and a new one: both are answered, and both are told to go.
    keeping.write_all(kept.as_bytes()).unwrap();
    let told = until_closed(keeping).to_lowercase();
    assert!(told.contains("http/1.1 503") && told.contains("connection: close"), "{told}");
    let told = server.get("/health/ready");
    assert_eq!((told.status, told.header("connection")), (503, Some("close")));
    assert_eq!(server.get(&format!("/api/v2.2/{}?chain=sim", server.wallet)).status, 200);

    server.step(Stage::Draining);
    let started = Instant::now();
    while TcpStream::connect(server.address).is_ok() {
        assert!(started.elapsed() < Duration::from_secs(60), "it still listens");
    }
    for stream in half_open {
        assert_eq!(until_closed(stream), "", "half a request is not waited for");
    }
    under_way.write_all(body.as_bytes()).unwrap();
    let answer = until_closed(under_way);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("0x539"), "{answer}");
    server.until_drained();
}

#[test]
fn an_h2_client_is_told_to_go_and_a_silent_one_delays_nothing() {
    let mut server = TestServer::new();
    let mut h2 = H2::connect(server.address);
    h2.get("/health/live");
    while h2.next().unwrap().0 != DATA {}
    let silent = H2::connect(server.address);
    server.step(Stage::Notice);
    while h2.next().unwrap().0 != GOAWAY {}
    server.step(Stage::Draining);
    server.until_drained();
    drop((h2, silent));
}

#[test]
fn a_server_that_stops_for_a_reason_goes_on_telling_it() {
    let server = TestServer::with(|parts| {
        let (reason, advice) = ("a write has been under way for 50 s", "look at the disk");
        let problem = || api::Problem { chain: None, reason: reason.into(), advice: advice.into() };
        parts.problems = Box::new(move || vec![problem()]);
    });
    server.step(Stage::Notice);
    let told = server.get("/health/ready");
    assert_eq!(told.status, 503);
    assert!(told.body.contains(r#""status":"stopping""#), "{}", told.body);
    assert!(told.body.contains("a write has been under way for 50 s"), "{}", told.body);
}
