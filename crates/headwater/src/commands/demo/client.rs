//! The demo asks its own server as anybody would: over HTTP, with the key.

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::Value;

pub struct Client {
    http: reqwest::Client,
    pub url: String,
    pub key: String,
}

impl Client {
    pub fn new(url: String, key: String) -> Self {
        Client { http: reqwest::Client::new(), url, key }
    }

    /// Status and body.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(u16, Value)> {
        let request = self.http.request(method, format!("{}{path}", self.url));
        let mut request = request.header("x-api-key", &self.key);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let response = request.send().await?;
        let (status, text) = (response.status(), response.text().await?);
        Ok((status.as_u16(), serde_json::from_str(&text)?))
    }

    /// The body of an answer that must be a good one.
    pub async fn ask_ok(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let (status, answer) = self.ask(method, path, body).await?;
        ensure!((200..300).contains(&status), "{path}: {status} {answer}");
        Ok(answer)
    }
}
