//! A client of the admin surface, through the socket of a data folder.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::socket::{self, ShortPath};
use super::socket_path;

/// Every call but digests and audits answers at once.
const TIMEOUT: Duration = Duration::from_secs(30);

pub struct Client {
    http: reqwest::Client,
    /// Keeps a long path usable.
    _path: ShortPath,
}

impl Client {
    /// None where no server listens there.
    pub async fn connect(folder: &Path) -> Result<Option<Self>> {
        let path = socket::short(&socket_path(folder));
        // No such folder is no server, either.
        let Ok(path) = path else { return Ok(None) };
        if tokio::net::UnixStream::connect(path.path()).await.is_err() {
            return Ok(None);
        }
        let http = reqwest::Client::builder().unix_socket(path.path()).no_proxy().build()?;
        Ok(Some(Client { http, _path: path }))
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.send::<(), T>(Method::GET, path, None).await
    }

    pub async fn post<B: Serialize, T: DeserializeOwned>(&self, path: &str, body: &B) -> Result<T> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Begins something; progress is asked for elsewhere.
    pub async fn order<B: Serialize>(&self, path: &str, body: &B) -> Result<()> {
        self.exchange(Method::POST, path, Some(body)).await.map(|_| ())
    }

    pub async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.send::<(), T>(Method::DELETE, path, None).await
    }

    async fn send<B: Serialize, T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
    ) -> Result<T> {
        serde_json::from_slice(&self.exchange(method, path, body).await?)
            .context("the running server is of another version: its answer cannot be read")
    }

    /// The body of a response that is no refusal.
    async fn exchange<B: Serialize>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
    ) -> Result<Vec<u8>> {
        let mut request = self.http.request(method, format!("http://headwater{path}"));
        // One hash over a whole chain may take long, and so may the proofs of a whole block.
        let may_take_long = ["/admin/v1/digest/", "/admin/v1/audit/"];
        if !may_take_long.iter().any(|long| path.starts_with(long)) {
            request = request.timeout(TIMEOUT);
        }
        if let Some(body) = body {
            let body = serde_json::to_vec(body)?;
            request = request.header("content-type", "application/json").body(body);
        }
        let response = request.send().await.context("the running server does not answer")?;
        let status = response.status();
        let bytes = response.bytes().await.context("the running server stopped answering")?;
        if status.is_success() {
            return Ok(bytes.into());
        }
        anyhow::bail!("{}", refusal(status, &bytes))
    }
}

/// What the server said, in its own words.
fn refusal(status: StatusCode, body: &[u8]) -> String {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    match body.get("message").and_then(serde_json::Value::as_str) {
        Some(message) => message.to_owned(),
        None => format!("the running server refused: {status}"),
    }
}
