//! The demo's stream: webhooks to a receiver inside the same process, made through the server's own HTTP surface.

use std::time::Duration;

use anyhow::{Context, Result};
use axum::http::StatusCode;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::client::Client;

const LOOK_EVERY: Duration = Duration::from_millis(20);
const DELIVERY_LOOKS: usize = 500;

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
    pub async fn start(client: &Client, watch: Watch) -> Result<Self> {
        let Watch { chain_id, address, from_block } = watch;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let webhook = format!("http://{}/", listener.local_addr()?);
        let router = axum::Router::new().fallback(|| async { StatusCode::OK });
        let receiver = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::warn!(%error, "the demo's receiver ended");
            }
        });
        let stream = json!({
            "webhookUrl": webhook, "description": "the demo's exchange", "tag": "demo",
            "chainIds": [format!("{chain_id:#x}")], "includeNativeTxs": true,
            "includeContractLogs": true, "includeInternalTxs": true, "fromBlock": from_block,
        });
        let stream = client.ask_ok(Method::PUT, "/streams/evm", Some(&stream)).await?;
        let id = stream.get("id").and_then(Value::as_str).context("the stream has no id")?;
        let (path, body) = (format!("/streams/evm/{id}/address"), json!({ "address": address }));
        client.ask_ok(Method::POST, &path, Some(&body)).await?;
        until_delivered(client, id).await?;
        let settings = client.ask_ok(Method::GET, "/settings", None).await?;
        let secret = settings.get("secretKey").and_then(Value::as_str).unwrap_or_default();
        Ok(DemoStream { id: id.to_owned(), secret: secret.to_owned(), receiver })
    }
}

/// Until there is something to see; not for ever, since a demo without it is one all the same.
async fn until_delivered(client: &Client, id: &str) -> Result<()> {
    let path = format!("/streams/evm/{id}/deliveries?from=1&limit=1");
    for _ in 0..DELIVERY_LOOKS {
        let page = client.ask_ok(Method::GET, &path, None).await?;
        let status = page.pointer("/result/0/status").and_then(Value::as_str);
        if status == Some("delivered") {
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}
