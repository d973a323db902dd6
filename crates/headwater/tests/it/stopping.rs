//! The word to stop, as supervisors and terminals say it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::process::{Serve, Server};
use crate::raw::{Request, send};
use crate::world::private;

fn started(folder: &tempfile::TempDir, notice_ms: &str) -> Server {
    let serve = private(Serve::of(&folder.path().join("data")));
    serve.set("listen.drain_notice_ms", notice_ms).start()
}

#[test]
fn readiness_says_no_while_requests_are_still_answered() {
    let folder = tempfile::tempdir().unwrap();
    let server = started(&folder, "60000");
    let get = |target: &str| {
        send(server.address(), &Request { method: "GET", target, headers: vec![], body: b"" })
    };
    assert_eq!(get("/health/ready").status, 200);
    server.signal("TERM");
    let asked = Instant::now();
    while get("/health/ready").status != 503 {
        assert!(asked.elapsed() < Duration::from_secs(60), "it never says that it stops");
    }
    let live = get("/health/live");
    assert_eq!((live.status, live.header("connection")), (200, Some("close")));
    // Who says it twice does not want to wait for the minute to pass.
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(1));
    assert!(asked.elapsed() < Duration::from_secs(50), "{:?}", asked.elapsed());
}

#[test]
fn every_word_to_stop_drains_and_connections_that_ask_nothing_delay_nothing() {
    for signal in ["TERM", "INT", "HUP"] {
        if signal == "HUP" && is_hangup_ignored() {
            eprintln!(
                "SKIPPED: HUP: this run ignores it, as under nohup, and so does what it starts"
            );
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let server = started(&folder, "0");
        let address = server.address().to_owned();
        let mut half = TcpStream::connect(&address).unwrap();
        half.write_all(b"GET /health/live HTTP/1.1\r\nhost: x").unwrap();
        let silent = TcpStream::connect(&address).unwrap();
        let mut idle = TcpStream::connect(&address).unwrap();
        idle.write_all(b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut first = [0u8; 12];
        idle.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        let asked = Instant::now();
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(0), "{signal}");
        // A drain that waits for them gives up after fifteen seconds.
        assert!(asked.elapsed() < Duration::from_secs(12), "{signal}: {:?}", asked.elapsed());
        drop((half, silent, idle));
    }
}

/// As the kernel tells it; children are born with it.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let serve = private(Serve::of(&folder.path().join("data")));
    let server = serve.through_shell("trap '' HUP").start();
    server.signal("HUP");
    let client = Client::new(server.url());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(runtime.block_on(client.get("/health/ready")).status, 200);
    assert_eq!(server.terminate().code(), Some(0));
}
