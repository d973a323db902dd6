//! The owner of streams: makes them, makes them active again, and waits until their receiver was told everything.

use std::path::Path;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::SimNode;

use super::receiver::{Taken, WebhookReceiver};
use super::truth::{Items, Watched, told};
use crate::client::Client;
use crate::process::{KEY, Serve, Server};
use crate::world::{CHAIN, SLUG};

/// Without a single delivery.
const TOO_LONG: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Waits as long as deliveries come.
struct Patience {
    taken: u64,
    since: Instant,
}

impl Patience {
    fn new() -> Self {
        Patience { taken: 0, since: Instant::now() }
    }

    /// Whether there is any left.
    async fn wait(&mut self, server: &Server, receiver: &WebhookReceiver) -> bool {
        activate(server).await;
        tokio::time::sleep(LOOK_EVERY).await;
        let taken = receiver.count();
        if taken != self.taken {
            *self = Patience { taken, since: Instant::now() };
        }
        self.since.elapsed() < TOO_LONG
    }
}

/// A server that follows the node quickly and may send to this machine. Without a URL its store is the folder.
pub fn serving(data: &Path, node: &SimNode, url: &str) -> Serve {
    Serve::of(data)
        .set("store.url", url)
        .rpc(CHAIN, &node.url())
        .set("rpc.poll_ms", "30")
        .set("log.filter", "warn")
        .set("streams.allow_private_targets", r#"["127.0.0.0/8"]"#)
}

pub async fn request(server: &Server, method: Method, path: &str, body: Value) -> Value {
    let url = format!("{}{path}", server.url());
    let request = reqwest::Client::new().request(method, url).header("x-api-key", KEY);
    let request = request.header("content-type", "application/json").body(body.to_string());
    let response = request.send().await.unwrap();
    let (status, text) = (response.status(), response.text().await.unwrap());
    assert!(status.is_success(), "{status}: {text}");
    serde_json::from_str(&text).unwrap()
}

/// A stream to the receiver's path of its name.
pub async fn create(server: &Server, receiver: &WebhookReceiver, one: &Watched) {
    let body = json!({
        "webhookUrl": receiver.url(&one.name), "description": one.name, "tag": one.name,
        "chainIds": ["0x539"], "includeNativeTxs": true, "includeContractLogs": one.logs,
        "includeInternalTxs": one.internals, "includeRetractions": one.retractions,
    });
    let stream = request(server, Method::PUT, "/streams/evm", body).await;
    let path = format!("/streams/evm/{}/address", stream["id"].as_str().unwrap());
    request(server, Method::POST, &path, json!({ "address": one.addresses })).await;
}

/// Streams that failed too often are made active again, as their owners would.
pub async fn activate(server: &Server) {
    let path = "/streams/evm?limit=100&status=error";
    let list = request(server, Method::GET, path, json!({})).await;
    for stream in list["result"].as_array().unwrap() {
        let path = format!("/streams/evm/{}/status", stream["id"].as_str().unwrap());
        request(server, Method::POST, &path, json!({ "status": "active" })).await;
    }
}

pub fn confirmed(receiver: &WebhookReceiver, name: &str) -> Items {
    let mut items = Items::new();
    for delivery in receiver.taken(name).values() {
        if delivery.body["confirmed"] == json!(true) {
            told(&delivery.body, &mut items);
        }
    }
    items
}

pub async fn until_told(server: &Server, receiver: &WebhookReceiver, name: &str, wanted: &Items) {
    let mut patience = Patience::new();
    loop {
        let got = confirmed(receiver, name);
        assert_eq!(got.difference(wanted).next(), None, "{name}: told of what is not confirmed");
        if got == *wanted {
            return;
        }
        if !patience.wait(server, receiver).await {
            let missing = wanted.difference(&got).next();
            let status = Client::new(server.url()).status(SLUG).await;
            panic!("{name}: never told of {missing:?}\n{}\n{status}", server.log());
        }
    }
}

/// Until no number is missing.
pub async fn until_whole(
    server: &Server,
    receiver: &WebhookReceiver,
    name: &str,
) -> std::collections::BTreeMap<u64, Taken> {
    let mut patience = Patience::new();
    loop {
        let taken = receiver.taken(name);
        let last = taken.keys().next_back().copied().unwrap_or(0);
        if last == taken.len() as u64 {
            return taken;
        }
        let is_patient = patience.wait(server, receiver).await;
        assert!(is_patient, "{name}: {} of {last}", taken.len());
    }
}
