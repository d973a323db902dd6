//! A server with streams, and the node it follows.

use std::path::Path;
use std::time::Duration;

use alloy_primitives::Address;
use anyhow::{Context, Result};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{SharedChain, SimConfig, SimNode, read, shared, write};

use super::receiver::Receiver;
use crate::ingest_rate::wait_until;
use crate::process::{KEY, Server, serve};

const HISTORY: usize = 20;
/// A server that used no more processor time than this meanwhile has nothing to do.
const QUIET: Duration = Duration::from_secs(1);
const QUIET_CPU_S: f64 = 0.05;

pub struct Host {
    pub chain: SharedChain,
    pub server: Server,
    _node: SimNode,
    _folder: tempfile::TempDir,
}

impl Host {
    /// Follows a simulated node by WebSocket.
    pub async fn start(headwater: &Path, config: SimConfig) -> Result<Self> {
        Host::start_on(headwater, config, "").await
    }

    /// With a store in that database, or in a folder where it is empty.
    pub async fn start_on(headwater: &Path, config: SimConfig, url: &str) -> Result<Self> {
        let chain = shared(config);
        write(&chain).extend(HISTORY);
        let node = SimNode::start(chain.clone()).await?;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("config.toml");
        let section = format!(
            "[streams]\nallow_private_targets = [\"127.0.0.0/8\"]\ntimeout_ms = 5000\n\
             [chains.sim]\nid = 1337\nupstreams = [{{ url = \"{}\", ws_url = \"{}\" }}]\n",
            node.url(),
            node.ws_url()
        );
        std::fs::write(&file, section)?;
        let arguments = ["--config".to_owned(), file.display().to_string()];
        let server = serve(
            headwater,
            &folder.path().join("data"),
            &arguments,
            &[("HEADWATER__STORE__URL", url)],
        )
        .await?;
        wait_until(&server.url, "sim", HISTORY as u64 + 1).await?;
        Ok(Host { chain, server, _node: node, _folder: folder })
    }

    /// Streams to as many hosts, each for its share of the chain's wallets.
    pub async fn streams(
        &self,
        receiver: &Receiver,
        count: usize,
        addresses_each: usize,
    ) -> Result<()> {
        let wallets = read(&self.chain).wallets();
        for number in 0..count {
            let addresses: Vec<Address> = (0..addresses_each)
                .filter_map(|it| wallets.get((number * addresses_each + it) % wallets.len()))
                .copied()
                .collect();
            self.stream(&receiver.url(number), &addresses).await?;
        }
        Ok(())
    }

    pub async fn stream(&self, webhook: &str, addresses: &[Address]) -> Result<()> {
        let body = json!({
            "webhookUrl": webhook, "description": "bench", "tag": "bench", "chainIds": ["0x539"],
            "includeNativeTxs": true, "includeContractLogs": true,
        });
        let stream = self.ask(Method::PUT, "/streams/evm", &body).await?;
        let id = stream.get("id").and_then(Value::as_str).context("no id")?;
        let addresses: Vec<String> = addresses.iter().map(|it| format!("{it:#x}")).collect();
        let body = json!({ "address": addresses });
        self.ask(Method::POST, &format!("/streams/evm/{id}/address"), &body).await?;
        Ok(())
    }

    async fn ask(&self, method: Method, path: &str, body: &Value) -> Result<Value> {
        let url = format!("{}{path}", self.server.url);
        let request = reqwest::Client::new().request(method, url).header("x-api-key", KEY);
        let request = request.header("content-type", "application/json").body(body.to_string());
        let response = request.send().await?;
        let (status, text) = (response.status(), response.text().await?);
        anyhow::ensure!(status.is_success(), "{path}: {status}: {text}");
        Ok(serde_json::from_str(&text)?)
    }

    /// Returns when all streams are in error and the server has nothing to do: all that waits is in their queues.
    pub async fn all_in_error(&self, count: usize) -> Result<()> {
        loop {
            let before = self.server.process.usage().cpu_s;
            tokio::time::sleep(QUIET).await;
            let is_quiet = self.server.process.usage().cpu_s - before < QUIET_CPU_S;
            if is_quiet && self.streams_with_status("error").await?.len() == count {
                return Ok(());
            }
        }
    }

    /// Streams in error go on, all at once.
    pub async fn activate_all(&self) -> Result<()> {
        let ids = self.streams_with_status("error").await?;
        let body = json!({ "status": "active" });
        let activate = ids.iter().map(|id| {
            let (path, body) = (format!("/streams/evm/{id}/status"), &body);
            async move { self.ask(Method::POST, &path, body).await.map(drop) }
        });
        futures_util::future::try_join_all(activate).await.map(drop)
    }

    async fn streams_with_status(&self, status: &str) -> Result<Vec<String>> {
        let page = self.ask(Method::GET, "/streams/evm?limit=100", &Value::Null).await?;
        let streams = page.get("result").and_then(Value::as_array).context("no streams")?;
        let of = |stream: &Value, name| stream.get(name).and_then(Value::as_str).map(str::to_owned);
        let has_status = |stream: &&Value| of(stream, "status").as_deref() == Some(status);
        Ok(streams.iter().filter(has_status).filter_map(|stream| of(stream, "id")).collect())
    }

    pub fn head(&self) -> u64 {
        read(&self.chain).head_number()
    }

    pub fn extend(&self, blocks: usize) {
        write(&self.chain).extend(blocks);
    }

    pub fn stop(self) -> Result<()> {
        self.server.process.stop()
    }
}
