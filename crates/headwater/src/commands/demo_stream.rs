//! The demo's stream: webhooks to a receiver inside the same process, made through the server's own HTTP surface.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub struct DemoStream {
    pub id: String,
    pub secret: String,
    receiver: JoinHandle<()>,
}

impl Drop for DemoStream {
    fn drop(&mut self) {
        self.receiver.abort();
    }
}

/// What the demo's stream is about.
pub struct Watch {
    pub chain_id: u64,
    pub address: String,
    pub from_block: u64,
}

impl DemoStream {
    /// Watches an address from a past block on, so that there is something to see at once.
    pub async fn start(url: &str, key: &str, watch: Watch) -> Result<Self> {
        let Watch { chain_id, address, from_block } = watch;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let webhook = format!("http://{}/", listener.local_addr()?);
        let router = axum::Router::new().fallback(|| async { StatusCode::OK });
        let receiver = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::warn!(%error, "the demo's receiver ended");
            }
        });
        let server = Asking { http: reqwest::Client::new(), url, key };
        let stream = json!({
            "webhookUrl": webhook, "description": "the demo's exchange", "tag": "demo",
            "chainIds": [format!("{chain_id:#x}")], "includeNativeTxs": true,
            "includeContractLogs": true, "fromBlock": from_block,
        });
        let stream = server.ask(reqwest::Method::PUT, "/streams/evm", stream).await?;
        let id =
            stream.get("id").and_then(Value::as_str).context("the stream has no id")?.to_owned();
        let path = format!("/streams/evm/{id}/address");
        server.ask(reqwest::Method::POST, &path, json!({ "address": address })).await?;
        server.until_delivered(&id).await?;
        let settings = server.ask(reqwest::Method::GET, "/settings", Value::Null).await?;
        let secret = settings.get("secretKey").and_then(Value::as_str).unwrap_or_default();
        Ok(DemoStream { id, secret: secret.to_owned(), receiver })
    }
}

const LOOK_EVERY: Duration = Duration::from_millis(20);
const DELIVERY_LOOKS: usize = 250;

struct Asking<'a> {
    http: reqwest::Client,
    url: &'a str,
    key: &'a str,
}

impl Asking<'_> {
    /// Until there is something to see; not for ever, since a demo without it is one all the same.
    async fn until_delivered(&self, id: &str) -> Result<()> {
        let path = format!("/streams/evm/{id}/deliveries?from=1&limit=1");
        for _ in 0..DELIVERY_LOOKS {
            let page = self.ask(reqwest::Method::GET, &path, Value::Null).await?;
            if page.pointer("/result/0").is_some() {
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    async fn ask(&self, method: reqwest::Method, path: &str, body: Value) -> Result<Value> {
        let request = self.http.request(method, format!("{}{path}", self.url));
        let request = request.header("x-api-key", self.key);
        let request = request.header("content-type", "application/json").body(body.to_string());
        let response = request.send().await?;
        let (status, text) = (response.status(), response.text().await?);
        ensure!(status.is_success(), "{path}: {status} {text}");
        Ok(serde_json::from_str(&text)?)
    }
}
