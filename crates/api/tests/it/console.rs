//! The console's server side: files, sessions, who may use one, events.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::test_server::{Answer, KEY, TestServer};

const OURS: &str = "x-headwater-console: 1\r\n";

fn log_in(server: &TestServer, key: &str, more: &str) -> Answer {
    let body = format!(r#"{{"key":"{key}"}}"#);
    let head =
        format!("POST /console/session HTTP/1.1\r\ncontent-type: application/json\r\n{OURS}{more}");
    server.send(&head, body.as_bytes())
}

/// What a browser would send back.
fn cookie(answer: &Answer) -> String {
    let set = answer.header("set-cookie").unwrap();
    format!("cookie: other=1; {}\r\n", set.split(';').next().unwrap())
}

fn ask(server: &TestServer, method: &str, path: &str, lines: &str) -> Answer {
    server.send(&format!("{method} {path} HTTP/1.1\r\n{lines}"), b"")
}

/// With a session, as our pages ask.
fn get(server: &TestServer, path: &str, cookie: &str) -> Answer {
    ask(server, "GET", path, &format!("{OURS}{cookie}"))
}

fn post(server: &TestServer, path: &str, cookie: &str, body: &str) -> Answer {
    let head = format!("POST {path} HTTP/1.1\r\ncontent-type: application/json\r\n{OURS}{cookie}");
    server.send(&head, body.as_bytes())
}

#[test]
fn the_page_and_its_files_come_with_a_strict_policy() {
    let server = TestServer::new();
    let page = ask(&server, "GET", "/", "");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    let script = ask(&server, "GET", "/console/app.js", "");
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    let packed = ask(&server, "GET", "/console/app.js", "accept-encoding: gzip\r\n");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let tag = format!("if-none-match: {}\r\n", script.header("etag").unwrap());
    assert_eq!(ask(&server, "GET", "/console/app.js", &tag).status, 304);
    for none in ["/console/app.ts", "/console/..%2fCargo.toml", "/console/index.html%00"] {
        assert_eq!(ask(&server, "GET", none, "").status, 404, "{none}");
    }
}

#[test]
fn a_key_becomes_a_cookie_that_no_script_can_read() {
    let server = TestServer::new();
    assert_eq!(get(&server, "/console/session", "").json()["session"], Value::Null);
    let answer = log_in(&server, KEY, "");
    assert_eq!(answer.status, 200, "{}", answer.body);
    let set = answer.header("set-cookie").unwrap();
    for part in ["httponly", "samesite=strict", "path=/console"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains("secure") && !set.contains("max-age"), "{set}");
    assert!(!answer.head.contains(KEY) && !answer.body.contains(&format!("\"{KEY}\"")));
    let session = answer.json()["session"].clone();
    assert_eq!((&session["role"], &session["key_id"]), (&"admin".into(), &"bootstrap".into()));
    assert_eq!(session["chains"][0]["slug"], "sim");
    let cookie = cookie(&answer);
    assert_eq!(get(&server, "/console/session", &cookie).json()["session"]["role"], "admin");
    let out = ask(&server, "DELETE", "/console/session", &format!("{OURS}{cookie}"));
    assert_eq!(out.status, 204);
    assert!(out.header("set-cookie").unwrap().contains("max-age=0"));
    assert_eq!(get(&server, "/console/session", &cookie).json()["session"], Value::Null);
    assert_eq!(get(&server, "/console/api/status", &cookie).status, 401);
}

#[test]
fn over_https_the_cookie_goes_back_over_https_alone() {
    let server = TestServer::new();
    let answer = log_in(&server, KEY, "origin: https://test\r\n");
    assert!(answer.header("set-cookie").unwrap().ends_with("; secure"), "{}", answer.head);
}

#[test]
fn a_wrong_key_logs_nobody_in() {
    let server = TestServer::new();
    for wrong in ["", " ", "wrong", &format!("{KEY}x")] {
        let answer = log_in(&server, wrong, "");
        assert_eq!(answer.status, 401, "{wrong}");
        assert_eq!(answer.header("set-cookie"), None);
    }
    let odd = post(&server, "/console/session", "", "{\"key\":\"k\",\"more\":1}");
    assert_eq!(odd.status, 400);
    assert!(!odd.body.contains("more"), "nothing of the body is told back: {}", odd.body);
    let long = format!("{{\"key\":\"{}\"}}", "k".repeat(5_000));
    assert_eq!(post(&server, "/console/session", "", &long).status, 413);
}

#[test]
fn the_session_stands_for_the_key_at_every_host() {
    let server = TestServer::new();
    let cookie = cookie(&log_in(&server, KEY, ""));
    let path = format!("/api/v2.2/{}?chain=sim&limit=3", server.wallet);
    let with_session = get(&server, &format!("/console/api{path}"), &cookie);
    assert_eq!(with_session.status, 200, "{}", with_session.body);
    let with_key = server.get(&path);
    assert_eq!(with_session.json()["result"], with_key.json()["result"]);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}"#;
    let rpc = post(&server, "/console/api/rpc/sim", &cookie, call);
    assert_eq!(rpc.json()["result"], "0x6");
    assert_eq!(get(&server, "/console/api/admin/v1/keys", &cookie).status, 200);
    assert_eq!(get(&server, "/console/api/status", &cookie).json()["chains"]["sim"]["blocks"], 7);
    assert_eq!(get(&server, "/console/api/nothing", &cookie).status, 404);
    // Elsewhere it is worth nothing: the other hosts take keys alone.
    assert_eq!(get(&server, &path, &cookie).status, 401);
    assert_eq!(get(&server, "/admin/v1/keys", &cookie).status, 401);
    // And a key is worth nothing here.
    let key = format!("{OURS}x-api-key: {KEY}\r\n");
    assert_eq!(ask(&server, "GET", &format!("/console/api{path}"), &key).status, 401);
}

#[test]
fn only_our_own_pages_may_use_a_session() {
    let server = TestServer::new();
    let cookie = cookie(&log_in(&server, KEY, ""));
    for (lines, status) in [
        (OURS.to_owned(), 200),
        (format!("{OURS}sec-fetch-site: same-origin\r\norigin: http://test\r\n"), 200),
        (String::new(), 403),
        (format!("{OURS}sec-fetch-site: same-site\r\n"), 403),
        (format!("{OURS}sec-fetch-site: cross-site\r\n"), 403),
        (format!("{OURS}origin: http://test:3000\r\n"), 403),
        (format!("{OURS}origin: null\r\n"), 403),
    ] {
        let answer = ask(&server, "GET", "/console/api/status", &format!("{lines}{cookie}"));
        assert_eq!(answer.status, status, "{lines}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
    }
    let preflight = "origin: https://evil.example\r\naccess-control-request-method: GET\r\n";
    let asked = ask(&server, "OPTIONS", "/console/api/status", preflight);
    assert_ne!(asked.status, 204);
    assert_eq!(asked.header("access-control-allow-origin"), None);
    let foreign = log_in(&server, KEY, "origin: https://evil.example\r\n");
    assert_eq!((foreign.status, foreign.header("set-cookie")), (403, None));
}

#[test]
fn a_tenant_sees_its_own_and_a_revoked_key_is_logged_out() {
    let server = TestServer::new();
    let admin = cookie(&log_in(&server, KEY, ""));
    let body = r#"{"tenant":"shop","name":"till","units_per_second":500}"#;
    let made = post(&server, "/console/api/admin/v1/keys", &admin, body).json();
    let (key, id) = (made["key"].as_str().unwrap(), made["id"].as_str().unwrap());
    let answer = log_in(&server, key, "");
    assert_eq!(answer.json()["session"]["role"], "tenant");
    assert_eq!(answer.json()["session"]["name"], "till");
    let tenant = cookie(&answer);
    assert_eq!(get(&server, "/console/api/admin/v1/keys", &tenant).status, 403);
    let path = format!("/console/api/api/v2.2/{}?chain=sim&limit=1", server.wallet);
    assert_eq!(get(&server, &path, &tenant).status, 200);
    let keys = get(&server, "/console/api/admin/v1/keys", &admin).json();
    assert_eq!(keys[0]["usage"], serde_json::json!({ "requests": 1, "units": 20, "refused": 0 }));
    let mut live = Live::open(&server, &tenant);
    live.until("event: recent");
    let revoke = format!("/console/api/admin/v1/keys/{id}");
    let gone = ask(&server, "DELETE", &revoke, &format!("{OURS}{admin}"));
    assert_eq!(gone.status, 200, "{}", gone.body);
    live.until("event: logout");
    live.until_closed();
    let refused = get(&server, &path, &tenant);
    assert_eq!(refused.status, 401, "{}", refused.body);
    assert_eq!(get(&server, "/console/session", &tenant).json()["session"], Value::Null);
}

#[test]
fn a_page_is_told_of_the_newest_blocks_and_how_far_they_are_proven() {
    let server = TestServer::new();
    let cookie = cookie(&log_in(&server, KEY, ""));
    let mut live = Live::open(&server, &cookie);
    let text = live.until("event: recent");
    assert!(text.contains("text/event-stream"), "{text}");
    let data = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let recent: Value = serde_json::from_str(data).unwrap();
    let blocks = recent[0]["blocks"].as_array().unwrap();
    assert_eq!(recent[0]["chain"], "sim");
    assert_eq!((blocks.len(), &blocks[6]["number"]), (7, &6.into()));
    let pieces = get(&server, "/console/api/coverage/sim", &cookie).json();
    assert_eq!((&pieces["to"], pieces["pieces"].as_array().unwrap().len()), (&6.into(), 7));
    assert_eq!(pieces["pieces"][6]["level"], blocks[6]["level"]);
    assert_eq!(get(&server, "/console/api/coverage/nowhere", &cookie).status, 404);
}

#[test]
fn only_so_many_pages_listen_at_once() {
    let server = TestServer::with(|parts| parts.console.events_max = 2);
    let cookie = cookie(&log_in(&server, KEY, ""));
    let mut first = Live::open(&server, &cookie);
    first.until("event: recent");
    let mut second = Live::open(&server, &cookie);
    second.until("event: recent");
    assert_eq!(get(&server, "/console/api/events", &cookie).status, 503);
    drop(first);
    // Its place is free as soon as its end is noticed.
    let freed = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let mut third = Live::open(&server, &cookie);
        third.begins_with("HTTP/1.1 200")
    });
    assert!(freed);
}

#[test]
fn a_console_that_is_off_is_not_there() {
    let server = TestServer::with(|parts| parts.console.enabled = false);
    for path in ["/console/session", "/console/app.js", "/console/api/status"] {
        assert_ne!(get(&server, path, "").status, 200, "{path}");
    }
    assert_eq!(ask(&server, "GET", "/", "").status, 404);
}

/// A connection that is told of blocks.
struct Live {
    stream: TcpStream,
    heard: String,
}

impl Live {
    fn open(server: &TestServer, cookie: &str) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let head = format!("GET /console/api/events HTTP/1.1\r\nhost: test\r\n{OURS}{cookie}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        Live { stream, heard: String::new() }
    }

    fn hear(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let many = self.stream.read(&mut bytes).unwrap_or(0);
        self.heard.push_str(&String::from_utf8_lossy(&bytes[..many]));
        many > 0
    }

    /// Everything up to the end of the event that begins so.
    fn until(&mut self, event: &str) -> String {
        loop {
            if let Some(at) = self.heard.find(event)
                && self.heard[at..].contains("\n\n")
            {
                return self.heard.clone();
            }
            assert!(self.hear(), "closed before {event}: {}", self.heard);
        }
    }

    fn begins_with(&mut self, text: &str) -> bool {
        while self.heard.len() < text.len() {
            if !self.hear() {
                return false;
            }
        }
        self.heard.starts_with(text)
    }

    /// The answer's last piece.
    fn until_closed(&mut self) {
        while !self.heard.ends_with("0\r\n\r\n") {
            assert!(self.hear(), "{}", self.heard);
        }
    }
}
