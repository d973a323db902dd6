//! `headwater listen`: what a developer sees of webhooks, good and bad.

use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use alloy_primitives::B256;
use store::delivery_digest;
use streams::signature::{standard_key, standard_signature, x_signature};

use crate::process::{lines_of, run, text};

const SECRET: &str = "a secret of tests";

struct Listener {
    child: Child,
    lines: Receiver<String>,
    url: String,
}

impl Listener {
    fn start(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
        command.args(["listen", "--listen", "127.0.0.1:0"]).args(args).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let first = lines.recv_timeout(Duration::from_secs(30)).unwrap();
        let url = first.strip_prefix("headwater waits for webhooks on ").unwrap().to_owned();
        Listener { child, lines, url }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(30)).unwrap()
    }

    async fn post(&self, webhook: &Webhook) -> u16 {
        let mut request = reqwest::Client::new().post(&self.url).body(webhook.body.clone());
        for (name, value) in &webhook.headers {
            request = request.header(*name, value);
        }
        request.send().await.unwrap().status().as_u16()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Webhook {
    body: String,
    headers: Vec<(&'static str, String)>,
}

/// A stream's first deliveries.
fn webhooks(count: u64) -> Vec<Webhook> {
    let mut previous = B256::ZERO;
    let one = |seq: u64| {
        let body = format!(
            r#"{{"confirmed":true,"chainId":"0x1","streamId":"s","tag":"mine","retries":0,"block":{{"number":"{seq}"}},"logs":[{{}},{{}}],"txs":[{{}}],"txsInternal":[]}}"#
        );
        let digest = delivery_digest(previous, seq, body.as_bytes());
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let now = since.as_secs();
        let headers = vec![
            ("x-sequence", seq.to_string()),
            ("x-digest", format!("{digest:#x}")),
            ("x-previous-digest", format!("{previous:#x}")),
            ("x-signature", x_signature(body.as_bytes(), SECRET)),
            ("webhook-id", seq.to_string()),
            ("webhook-timestamp", now.to_string()),
            (
                "webhook-signature",
                standard_signature(SECRET, &seq.to_string(), now, body.as_bytes()),
            ),
        ];
        previous = digest;
        Webhook { body, headers }
    };
    (1..=count).map(one).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn holes_are_shown_until_they_are_filled_and_forgeries_always() {
    // The secret in the form that libraries want it.
    let listener = Listener::start(&["--quiet", "--secret", &standard_key(SECRET)]);
    let webhooks = webhooks(3);
    assert_eq!(listener.post(&webhooks[0]).await, 200);
    assert_eq!(
        listener.line(),
        "#1  chain 0x1 block 1 confirmed  1 txs, 2 logs, 0 internal  tag mine"
    );
    listener.post(&webhooks[2]).await;
    assert!(listener.line().ends_with("  missing 2"));
    listener.post(&webhooks[1]).await;
    let filled = listener.line();
    assert!(!filled.contains("missing") && !filled.contains("PROBLEM"), "{filled}");
    listener.post(&webhooks[1]).await;
    assert!(listener.line().contains("came before"));
    let forged = Webhook {
        body: webhooks[0].body.replace("mine", "theirs"),
        headers: webhooks[0].headers.clone(),
    };
    assert_eq!(listener.post(&forged).await, 200);
    let line = listener.line();
    for says in
        ["x-signature is not by this secret", "webhook-signature is not", "does not fit its body"]
    {
        assert!(line.contains(says), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn payloads_are_printed_as_they_came() {
    let listener = Listener::start(&[]);
    assert!(listener.line().contains("without --secret signatures are not checked"));
    let webhook = webhooks(1).remove(0);
    listener.post(&webhook).await;
    assert!(listener.line().starts_with("#1  chain 0x1 block 1"));
    assert_eq!(listener.line(), webhook.body);
    let junk = Webhook { body: "no JSON".into(), headers: Vec::new() };
    assert_eq!(listener.post(&junk).await, 200);
    assert!(listener.line().contains("PROBLEM: the body is not a payload"));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_fails_on_purpose_as_often_as_asked() {
    let listener = Listener::start(&["--quiet", "--secret", SECRET, "--fail", "1"]);
    assert_eq!(listener.post(&webhooks(1)[0]).await, 500);
    assert_eq!(listener.line(), "#1  answered 500, as --fail asks for");
    let refused = run(["listen", "--fail", "7"]);
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("--fail 7"), "{}", text(&refused.stderr));
}
