//! JSON-RPC over HTTP with kept-alive connections, TLS and proxies.

use super::body::{self, BodyLimit, HttpReply, Unread};
use crate::config::{PoolConfig, UpstreamConfig};
use crate::error::Error;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use std::net::IpAddr;
use std::time::Duration;

pub struct Http {
    client: Client,
    url: Url,
    label: String,
}

impl Http {
    pub fn new(label: &str, config: &UpstreamConfig, pool: &PoolConfig) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Config { upstream: label.to_owned(), why: why.to_owned() };
        let url = Url::parse(config.url.trim()).map_err(|e| wrong(&e.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong("the URL must start with http://, https://, ws:// or wss://"));
        }
        let mut builder = Client::builder()
            .default_headers(headers(label, config)?)
            .connect_timeout(connect_timeout(config, pool))
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
        let (status, retry_after) =
            (response.status().as_u16(), body::retry_after(response.headers()));
        // Unpacked it is larger, and has no length.
        let announced = response.content_length().and_then(|n| usize::try_from(n).ok());
        let read = body::read(reqwest::Body::from(response), announced, limit);
        let body = read.await.map_err(|unread| match unread {
            Unread::TooLarge(over) => over.error(&self.label),
            Unread::Broken(error) => self.failed(error),
        })?;
        Ok(HttpReply { status, retry_after, body })
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

pub fn connect_timeout(config: &UpstreamConfig, pool: &PoolConfig) -> Duration {
    config.timeout(pool).min(Duration::from_secs(10))
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
