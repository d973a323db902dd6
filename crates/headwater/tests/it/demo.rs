//! `headwater demo`: what it prints, works.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::process::lines_of;

struct Demo(std::process::Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_printed_lines_answer_as_soon_as_they_are_printed() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.args(["demo", "--listen", "127.0.0.1:0", "--blocks", "120"]).stdout(Stdio::piped());
    let mut demo = Demo(command.spawn().unwrap());
    let lines = lines_of(demo.0.stdout.take().unwrap());
    let mut printed = Vec::new();
    while !printed.last().is_some_and(|line: &String| line.starts_with("Ctrl-C")) {
        printed.push(
            lines.recv_timeout(Duration::from_secs(120)).expect("the demo says what it does"),
        );
    }
    // The one that sends needs a receiver beside the demo.
    let curls: Vec<&String> = printed
        .iter()
        .filter(|line| line.trim_start().starts_with("curl ") && !line.contains("-X POST"))
        .collect();
    assert_eq!(curls.len(), 6, "{printed:#?}");
    for line in curls {
        let json = ask(line).await;
        let rows = json["result"].as_array().map(Vec::len);
        let is_block = json["result"]["hash"].is_string();
        let is_sale = json["price"].is_string();
        assert!(rows.is_some_and(|rows| rows > 0) || is_block || is_sale, "{line}: {json}");
    }
    let pid = demo.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(demo.0.wait().unwrap().code(), Some(0));
}

/// Does what the curl line would do.
async fn ask(line: &str) -> serde_json::Value {
    // Quoted parts are the odd pieces: what stands before each says what it is.
    let pieces: Vec<&str> = line.split('\'').collect();
    let http = reqwest::Client::new();
    let (mut headers, mut body, mut url) = (Vec::new(), None, None);
    for pair in pieces.chunks_exact(2) {
        match pair[0].split_whitespace().next_back() {
            Some("-H") => headers.push(pair[1].split_once(": ").unwrap()),
            Some("-d") => body = Some(pair[1].to_owned()),
            _ => url = Some(pair[1]),
        }
    }
    let url = url.unwrap();
    let mut request = match body {
        Some(body) => http.post(url).body(body),
        None => http.get(url),
    };
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200, "{line}");
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}
