//! Processes of a cluster, and how a client asks them: it tries again where it is told to.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde_json::Value;
use testkit::SimNode;

use crate::client::Client;
use crate::process::{KEY, Serve, Server};
use crate::world::{CHAIN, SLUG};

const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Where the processes of a cluster come from.
pub struct Cluster {
    pub url: String,
    pub node: String,
    pub folder: PathBuf,
}

impl Cluster {
    pub fn new(folder: &Path, url: &str, node: &SimNode) -> Self {
        Cluster { url: url.to_owned(), node: node.url(), folder: folder.to_owned() }
    }

    /// One process with files of its own.
    pub fn member(&self, role: &str, name: &str) -> Serve {
        serve(&self.folder.join(name), &self.node)
            .arg("--role")
            .arg(role)
            .set("store.url", &self.url)
    }

    pub fn start(&self, role: &str, name: &str) -> Server {
        self.member(role, name).start()
    }
}

/// As every process here is configured, whatever its store is.
pub fn serve(data: &Path, node: &str) -> Serve {
    // Every sender is recovered, so that a block's proof does not tell which way it came in.
    Serve::of(data)
        .rpc(CHAIN, node)
        .set("rpc.poll_ms", "30")
        .set("ingest.senders", "all")
        .set("log.filter", "info")
        .set("streams.allow_private_targets", r#"["127.0.0.0/8"]"#)
        .set("streams.timeout_ms", "700")
        .set("streams.retry_s", "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]")
}

pub async fn status(server: &Server) -> Value {
    Client::new(server.url()).status(SLUG).await
}

/// Whether the process reads the chain.
pub async fn leads(server: &Server) -> bool {
    status(server).await["ingest"].is_object()
}

/// Waits until it is so; says how long that took.
pub async fn until<F: Future<Output = bool>>(what: &str, is_so: impl Fn() -> F) -> Duration {
    let asked = Instant::now();
    while !is_so().await {
        assert!(asked.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    asked.elapsed()
}

/// Asks until somebody answers. Whatever is no answer must say that it may be asked again.
pub async fn asked(server: &Server, method: Method, path: &str, body: &Value) -> Value {
    let (client, began) = (reqwest::Client::new(), Instant::now());
    loop {
        let url = format!("{}{path}", server.url());
        let request = client.request(method.clone(), url).header("x-api-key", KEY);
        let request = request.header("content-type", "application/json").body(body.to_string());
        let response = request.send().await.unwrap();
        let (status, wait) = (response.status(), response.headers().get("retry-after").cloned());
        let text = response.text().await.unwrap();
        if status.is_success() {
            return serde_json::from_str(&text).unwrap();
        }
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}: {text}");
        assert!(wait.is_some(), "{path}: {text}");
        assert!(began.elapsed() < PATIENCE, "{path}: {text}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
