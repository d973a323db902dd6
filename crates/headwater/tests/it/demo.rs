//! `headwater demo`: what it prints, works, and is what it says.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::process::lines_of;

struct Demo {
    child: Child,
    printed: Vec<String>,
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Demo {
    fn start(args: &[&str]) -> Demo {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
        command.args(["demo", "--listen", "127.0.0.1:0"]).args(args).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let mut printed: Vec<String> = Vec::new();
        while !printed.last().is_some_and(|line| line.starts_with("Ctrl-C")) {
            let line = lines.recv_timeout(Duration::from_secs(120));
            printed.push(line.expect("the demo says what it does"));
        }
        Demo { child, printed }
    }

    /// What the demo says that an operation answered, and how to ask it.
    fn operations(&self) -> Vec<(&str, &str)> {
        let pairs = self.printed.iter().zip(self.printed.iter().skip(1));
        pairs
            .filter(|(title, curl)| title.contains(": 200, ") && curl.starts_with("  curl "))
            .map(|(title, curl)| (title.as_str(), curl.as_str()))
            .collect()
    }

    fn stop(mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_answers_as_the_demo_says() {
    let demo = Demo::start(&["--fixed", "--blocks", "200"]);
    let operations = demo.operations();
    let numbers: Vec<&str> = operations.iter().map(|(title, _)| &title[..1]).collect();
    assert_eq!(numbers, ["1", "1", "2", "3", "4", "5", "6", "7", "W"], "{:#?}", demo.printed);
    // What is in the answer now, is in the line that the demo printed.
    let shown = [
        ["/total", "/result/0/block_number"],
        ["/total", "/total"],
        ["/page", "/page"],
        ["/block_number", "/block_number"],
        ["/tokenName", "/exchangeName"],
        ["/status", "/description"],
        ["/id", "/id"],
        ["/id", "/id"],
        ["/result/0/status", "/result/0/sequence"],
    ];
    for ((title, curl), paths) in operations.iter().zip(shown) {
        let answer = ask(curl).await;
        for path in paths {
            let value = answer.pointer(path).unwrap_or_else(|| panic!("{title}: {answer}"));
            let text = value.as_str().map_or(value.to_string(), str::to_owned);
            let is_listed = matches!(path, "/page" | "/id");
            assert!(is_listed || title.contains(&text), "{title}: {path} is {text}");
        }
    }
    demo.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fixed_demo_is_the_same_every_time_under_either_name() {
    for name in ["demo", "eth"] {
        let answers = async || {
            let demo = Demo::start(&["--fixed", "--blocks", "150", "--as", name]);
            let mut all = Vec::new();
            for (title, curl) in demo.operations() {
                // Ids of streams and cursors are nobody's to foresee.
                if title.starts_with(['5', 'W']) {
                    continue;
                }
                assert!(curl.contains(&format!("chain={name}")) || curl.contains("jsonrpc"));
                let mut answer = ask(curl).await;
                answer.as_object_mut().unwrap().remove("cursor");
                all.push((title.to_owned(), answer));
            }
            demo.stop();
            all
        };
        let first = answers().await;
        assert_eq!(first.len(), 7);
        assert_eq!(first, answers().await);
    }
}

/// Does what the curl line would do.
async fn ask(line: &str) -> Value {
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
