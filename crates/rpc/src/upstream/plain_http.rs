//! JSON-RPC over plain HTTP/1.1, to nodes on this machine and in the private network.
//!
//! Calls to such a node take microseconds, so what the client costs counts. A connection has no task of its own: whoever
//! asks does its work while waiting for the answer, and nobody has to wake anybody. Nodes further away have TLS and
//! perhaps a proxy on the way, and the network outweighs all that: `http`.

use super::body::{self, BodyLimit, HttpReply, Unread};
use super::http;
use crate::config::{PoolConfig, UpstreamConfig};
use crate::error::{Error, Source};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use reqwest::header::{HOST, HeaderMap, HeaderValue};
use reqwest::{Body, Url};
use socket2::{SockRef, TcpKeepalive};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// Nodes close idle connections themselves, most of them after a minute or more.
const IDLE_MAX: Duration = Duration::from_secs(30);
const KEEPALIVE: Duration = Duration::from_secs(30);

pub struct PlainHttp {
    label: String,
    host: String,
    port: u16,
    /// Path and query.
    uri: Uri,
    headers: HeaderMap,
    connect_timeout: Duration,
    /// The one that was used last is last.
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    link: Link,
    since: Instant,
}

/// One connection: where requests go in, and the work that carries them.
struct Link {
    sender: SendRequest<Body>,
    /// None once it has ended.
    work: Option<Connection<TokioIo<TcpStream>, Body>>,
}

/// Why there is no response, and the request where nothing of it was sent.
struct Failed {
    error: hyper::Error,
    unsent: Option<Request<Body>>,
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
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let authority = url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"));
        let uri = format!("{}{query}", url.path()).parse().ok();
        let (Some(uri), Ok(authority)) = (uri, HeaderValue::from_str(&authority)) else {
            return Ok(None);
        };
        let mut headers = http::headers(label, config)?;
        headers.entry(HOST).or_insert(authority);
        Ok(Some(PlainHttp {
            label: label.to_owned(),
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            uri,
            headers,
            connect_timeout: http::connect_timeout(config, pool),
            idle: Mutex::default(),
        }))
    }

    pub async fn post(&self, text: String, limit: BodyLimit) -> Result<HttpReply, Error> {
        let mut request = Request::new(Body::from(text));
        *request.method_mut() = hyper::Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        let (mut link, response) = self.send(request).await?;
        let (status, retry_after) =
            (response.status().as_u16(), body::retry_after(response.headers()));
        let announced = body::announced(response.headers());
        let read = body::read(response.into_body(), announced, limit);
        let body = drive(&mut link.work, read).await.map_err(|unread| match unread {
            Unread::TooLarge(over) => over.error(&self.label),
            Unread::Broken(error) => self.interrupted(error),
        })?;
        self.keep(link);
        Ok(HttpReply { status, retry_after, body })
    }

    /// By a connection that is there, or by a new one. One that the node closed meanwhile is found out by using it.
    async fn send(&self, mut request: Request<Body>) -> Result<(Link, Response<Incoming>), Error> {
        while let Some(mut link) = self.take_idle() {
            match link.send(request).await {
                Ok(response) => return Ok((link, response)),
                Err(Failed { unsent: Some(unsent), .. }) => request = unsent,
                Err(Failed { error, .. }) => return Err(self.interrupted(error)),
            }
        }
        let mut link = self.connect().await?;
        let response = link.send(request).await;
        Ok((link, response.map_err(|failed| self.interrupted(failed.error))?))
    }

    async fn connect(&self) -> Result<Link, Error> {
        let failed = |source: Source| Error::Connect { upstream: self.label.clone(), source };
        let connecting = TcpStream::connect((self.host.as_str(), self.port));
        let stream = timeout(self.connect_timeout, connecting)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(|error| failed(error.into()))?;
        let _ = stream.set_nodelay(true);
        let keepalive = TcpKeepalive::new().with_time(KEEPALIVE);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
        let (sender, work) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(error.into()))?;
        Ok(Link { sender, work: Some(work) })
    }

    fn take_idle(&self) -> Option<Link> {
        let last = self.lock().pop()?;
        (last.since.elapsed() < IDLE_MAX).then_some(last.link)
    }

    fn keep(&self, link: Link) {
        if link.work.is_none() {
            return;
        }
        let since = Instant::now();
        let mut idle = self.lock();
        // Those that nobody needed for long are first.
        let old = idle.iter().take_while(|it| since - it.since >= IDLE_MAX).count();
        idle.drain(..old);
        idle.push(Idle { link, since });
    }

    fn interrupted(&self, error: hyper::Error) -> Error {
        let (upstream, source) = (self.label.clone(), Box::new(error));
        Error::Interrupted { upstream, source, is_counted: false }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    async fn send(&mut self, request: Request<Body>) -> Result<Response<Incoming>, Failed> {
        let Link { sender, work } = self;
        // After an answer it may have to see the end of it first.
        if !sender.is_ready()
            && let Err(error) = drive(work, poll_fn(|cx| sender.poll_ready(cx))).await
        {
            return Err(Failed { error, unsent: Some(request) });
        }
        let sent = sender.try_send_request(request);
        drive(work, sent).await.map_err(|mut failed| {
            let unsent = failed.take_message();
            Failed { error: failed.into_error(), unsent }
        })
    }
}

/// Waits, and does the connection's work meanwhile.
async fn drive<T, W: Future + Unpin>(work: &mut Option<W>, waiting: impl Future<Output = T>) -> T {
    let mut waiting = pin!(waiting);
    poll_fn(|cx| {
        if let Poll::Ready(done) = waiting.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        if let Some(running) = work
            && Pin::new(running).poll(cx).is_ready()
        {
            *work = None;
        }
        waiting.as_mut().poll(cx)
    })
    .await
}
