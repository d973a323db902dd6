//! JSON-RPC over HTTP with kept-alive connections.
//!
//! Reads the body with limits on its size while it streams in (`budget`), and copies it at most once.

use crate::bound::Bound;
use crate::budget::{Held, OverBudget};
use crate::config::{PoolConfig, UpstreamConfig};
use crate::error::Error;
use crate::limiter::parse_retry_after;
use crate::wall_clock;
use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use std::net::IpAddr;
use std::time::Duration;

pub struct Http {
    client: Client,
    url: Url,
    label: String,
}

/// How much of a body is read.
pub struct BodyLimit {
    pub bytes_max: usize,
    pub held: Held,
}

impl BodyLimit {
    /// The body is at least so large.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), OverBudget> {
        if bytes > self.bytes_max {
            return Err(OverBudget { bound: Bound::Answer, bytes_max: self.bytes_max });
        }
        self.held.grow_to(bytes)
    }
}

pub struct HttpReply {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: Bytes,
}

impl Http {
    pub fn new(label: &str, config: &UpstreamConfig, pool: &PoolConfig) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Config { upstream: label.to_owned(), why: why.to_owned() };
        let url = Url::parse(config.url.trim()).map_err(|e| wrong(&e.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong("the URL must start with http://, https://, ws:// or wss://"));
        }
        let connect = config.timeout(pool).min(Duration::from_secs(10));
        let mut builder = Client::builder()
            .default_headers(headers(label, config)?)
            .connect_timeout(connect)
            .pool_idle_timeout(Duration::from_secs(30))
            .tcp_keepalive(Duration::from_secs(30))
            .http2_adaptive_window(true)
            // A redirect would carry the operator's keys to a place they did not name.
            .redirect(Policy::none());
        if is_near(&url) {
            // Compressing costs a node next door more than the wire does.
            builder = builder.gzip(false).no_proxy();
        }
        let client = builder.build().map_err(|e| wrong(&e.without_url().to_string()))?;
        Ok(Self { client, url, label: label.to_owned() })
    }

    pub async fn post(&self, text: String, limit: BodyLimit) -> Result<HttpReply, Error> {
        let request = self.client.post(self.url.clone()).body(text);
        let response = request.send().await.map_err(|e| self.failed(e))?;
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| parse_retry_after(value.to_str().ok()?, wall_clock::now()));
        let body = self.read(response, limit).await?;
        Ok(HttpReply { status, retry_after, body })
    }

    async fn read(&self, mut response: Response, mut limit: BodyLimit) -> Result<Bytes, Error> {
        let over = |over: OverBudget| over.error(&self.label);
        // What is announced is refused before it is read; unpacked it is larger, and has no length yet.
        let announced = response.content_length().and_then(|n| usize::try_from(n).ok());
        limit.grow_to(announced.unwrap_or(0)).map_err(over)?;
        let Some(first) = response.chunk().await.map_err(|e| self.failed(e))? else {
            return Ok(Bytes::new());
        };
        limit.grow_to(first.len()).map_err(over)?;
        if announced == Some(first.len()) {
            return Ok(limit.held.wrap(first));
        }
        // An announced length is a promise of a stranger: believed up to a few MB.
        let room = announced.unwrap_or(first.len() * 4).min(4 << 20).max(first.len());
        let mut body = BytesMut::with_capacity(room);
        body.extend_from_slice(&first);
        while let Some(chunk) = response.chunk().await.map_err(|e| self.failed(e))? {
            limit.grow_to(body.len() + chunk.len()).map_err(over)?;
            body.extend_from_slice(&chunk);
        }
        Ok(limit.held.wrap(body.freeze()))
    }

    fn failed(&self, error: reqwest::Error) -> Error {
        let (upstream, connecting) = (self.label.clone(), error.is_connect());
        let source = Box::new(error.without_url());
        if connecting {
            Error::Connect { upstream, source }
        } else {
            Error::Interrupted { upstream, source, is_counted: false }
        }
    }
}

/// The configured headers, marked as secret.
pub fn headers(label: &str, config: &UpstreamConfig) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in &config.headers {
        let wrong = |why: String| Error::Config { upstream: label.to_owned(), why };
        // Not shown: it may be the secret, where the two were swapped.
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| wrong("the name of a header is none that HTTP allows".to_owned()))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| wrong(format!("header {name} has a value that HTTP does not allow")))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// A node on this machine or in the private network.
pub fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local(),
        // A name without a dot is of this network (compose services, `localhost`).
        Err(_) => !host.contains('.'),
    }
}
