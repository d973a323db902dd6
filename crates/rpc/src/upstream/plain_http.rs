//! JSON-RPC to nodes on this machine and in the private network, by connections of our own (docs/adr/0022).
//!
//! Calls to such a node take microseconds, so what the client costs counts. A connection has no task of its own: whoever
//! asks does its work while waiting for the answer, and nobody has to wake anybody. Nodes further away have TLS and
//! perhaps a proxy on the way, and the network outweighs all that: `http`.

use super::body::{BodyLimit, HttpReply};
use super::http;
use crate::config::{PoolConfig, UpstreamConfig};
use crate::error::{Error, Source};
use crate::limiter::parse_retry_after;
use crate::wall_clock;
use plain_http::{Connection, IdleConnections, Unread, Written};
use reqwest::Url;
use reqwest::header::{HOST, HeaderMap, HeaderValue};
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// Nodes close idle connections themselves, most of them after a minute or more.
const IDLE_MAX: Duration = Duration::from_secs(30);
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Of a length in digits, and the end of the head behind it.
const LENGTH_BYTES_MAX: usize = 24;

pub struct PlainHttp {
    label: String,
    host: String,
    port: u16,
    /// Of every request, up to the length of its body.
    head: Vec<u8>,
    connect_timeout: Duration,
    idle: IdleConnections,
}

impl PlainHttp {
    /// None for a URL that needs more than this can do.
    pub fn new(
        label: &str,
        config: &UpstreamConfig,
        pool: &PoolConfig,
    ) -> Result<Option<Self>, Error> {
        let url = Url::parse(config.url.trim()).ok();
        let is_plain = |url: &Url| {
            let has_login = !url.username().is_empty() || url.password().is_some();
            url.scheme() == "http" && http::is_near(url) && !has_login
        };
        let Some(url) = url.filter(is_plain) else { return Ok(None) };
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Ok(None);
        };
        let authority = url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"));
        let Ok(authority) = HeaderValue::from_str(&authority) else { return Ok(None) };
        let mut headers = http::headers(label, config)?;
        headers.entry(HOST).or_insert(authority);
        Ok(Some(PlainHttp {
            label: label.to_owned(),
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            head: head(&url, &headers),
            connect_timeout: http::connect_timeout(config, pool),
            idle: IdleConnections::new(IDLE_MAX),
        }))
    }

    pub async fn post(&self, text: String, mut limit: BodyLimit) -> Result<HttpReply, Error> {
        let mut request = Vec::with_capacity(self.head.len() + text.len() + LENGTH_BYTES_MAX);
        let mut digits = itoa::Buffer::new();
        let length = digits.format(text.len());
        for part in [self.head.as_slice(), length.as_bytes(), b"\r\n\r\n", text.as_bytes()] {
            request.extend_from_slice(part);
        }
        let asked_at = Instant::now();
        let mut connection = self.send(&request, asked_at).await?;
        let (head, body) = connection.receive(&mut limit).await.map_err(|unread| match unread {
            Unread::TooLarge(over) => over.error(&self.label),
            Unread::Broken(error) => self.interrupted(error),
        })?;
        self.idle.keep(connection, asked_at);
        let retry_after =
            head.retry_after.and_then(|text| parse_retry_after(&text, wall_clock::now()));
        Ok(HttpReply { status: head.status, retry_after, body: limit.held.wrap(body) })
    }

    /// By a connection that is there, or by a new one. One that the node closed meanwhile is found out by using it.
    async fn send(&self, request: &[u8], now: Instant) -> Result<Connection, Error> {
        while let Some(mut connection) = self.idle.take(now) {
            match connection.send(request, &[]).await {
                Written::All => return Ok(connection),
                Written::Nothing(_) => {}
                Written::Some(error) => return Err(self.interrupted(error)),
            }
        }
        let mut connection = Box::pin(self.connect()).await?;
        match connection.send(request, &[]).await {
            Written::All => Ok(connection),
            Written::Nothing(error) | Written::Some(error) => Err(self.interrupted(error)),
        }
    }

    async fn connect(&self) -> Result<Connection, Error> {
        let failed = |source: Source| Error::Connect { upstream: self.label.clone(), source };
        let connecting = TcpStream::connect((self.host.as_str(), self.port));
        let stream = timeout(self.connect_timeout, connecting)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(|error| failed(error.into()))?;
        let _ = stream.set_nodelay(true);
        let keepalive = TcpKeepalive::new().with_time(KEEPALIVE);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
        Ok(Connection::new(stream))
    }

    fn interrupted(&self, error: io::Error) -> Error {
        let (upstream, source) = (self.label.clone(), Box::new(error));
        Error::Interrupted { upstream, source, is_counted: false }
    }
}

fn head(url: &Url, headers: &HeaderMap) -> Vec<u8> {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut head = format!("POST {}{query} HTTP/1.1\r\n", url.path()).into_bytes();
    for (name, value) in headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            head.extend_from_slice(part);
        }
    }
    head.extend_from_slice(b"content-length: ");
    head
}
