//! JSON-RPC over a WebSocket: one connection, many requests under way, answers by id.
//!
//! The connection is made when first needed and again after it broke. A task owns the socket and
//! hands each answer to the request that waits for it. An error that names no request is handed to all of
//! them, as what it is.

use super::http;
use crate::bound::Bound;
use crate::budget::{self, FREE_BYTES, HeldSlot};
use crate::call::RpcFailure;
use crate::config::{PoolConfig, UpstreamConfig};
use crate::envelope::{self, Answer, Message};
use crate::error::{Error, Source};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use std::ops::Range;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

pub type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// How long a connection nobody asks anymore may stay silent before it is let go.
const DRAIN: Duration = Duration::from_secs(60);

/// Where to connect to, and how.
#[derive(Clone)]
pub struct Target {
    url: String,
    headers: HeaderMap,
    bytes_max: usize,
    pub timeout: Duration,
    pub label: String,
}

impl Target {
    pub fn new(
        url: &str,
        label: &str,
        config: &UpstreamConfig,
        pool: &PoolConfig,
    ) -> Result<Self, Error> {
        let mut headers = http::headers(label, config)?;
        headers.remove(CONTENT_TYPE);
        let url = url.trim().to_owned();
        let known = reqwest::Url::parse(&url).is_ok_and(|u| matches!(u.scheme(), "ws" | "wss"));
        if !known {
            let why = "the WebSocket URL must start with ws:// or wss://".to_owned();
            return Err(Error::Config { upstream: label.to_owned(), why });
        }
        let bytes_max = pool.response_bytes_max;
        Ok(Self { url, headers, bytes_max, timeout: config.timeout(pool), label: label.to_owned() })
    }

    /// The same for what clients ask: a connection of their own, so that an answer too large for it, which
    /// breaks it, breaks nothing of ours.
    pub fn for_clients(&self, pool: &PoolConfig) -> Self {
        Self { bytes_max: pool.client_response_bytes_max, ..self.clone() }
    }

    pub async fn connect(&self) -> Result<Socket, Error> {
        let mut request = self.url.as_str().into_client_request().map_err(|e| self.failed(e))?;
        request.headers_mut().extend(self.headers.clone());
        let limits = WebSocketConfig::default()
            .max_message_size(Some(self.bytes_max))
            .max_frame_size(Some(self.bytes_max));
        let connecting = connect_async_with_config(request, Some(limits), true);
        match timeout(self.timeout, connecting).await {
            Ok(Ok((socket, _))) => Ok(socket),
            Ok(Err(error)) => Err(self.failed(error)),
            Err(_) => Err(Error::Timeout {
                upstream: self.label.clone(),
                after_ms: self.timeout.as_millis() as u64,
            }),
        }
    }

    fn failed(&self, error: tungstenite::Error) -> Error {
        let upstream = self.label.clone();
        match error {
            tungstenite::Error::Http(reply) if reply.status().as_u16() == 429 => {
                Error::RateLimited { upstream, retry_after: None, refusal: None }
            }
            tungstenite::Error::Http(reply) => {
                Error::Http { upstream, status: reply.status().as_u16() }
            }
            other => Error::Connect { upstream, source: Box::new(other) },
        }
    }

    fn too_large(&self) -> Error {
        let (upstream, bytes_max) = (self.label.clone(), self.bytes_max);
        Error::TooLarge { upstream, bytes_max, bound: Bound::Answer }
    }

    pub fn interrupted(&self, source: impl Into<Source>) -> Error {
        let upstream = self.label.clone();
        Error::Interrupted { upstream, source: source.into(), is_counted: false }
    }
}

/// The request side: sends jobs to the task that owns the socket.
pub struct Link {
    target: Target,
    line: Mutex<Option<mpsc::Sender<Job>>>,
}

struct Job {
    ids: Range<u64>,
    text: String,
    reply: ReplySender,
}

type ReplySender = oneshot::Sender<Result<Reply, Error>>;

/// What came over the socket for a request.
#[derive(Debug)]
pub enum Reply {
    Answer {
        message: Message,
        body_bytes: usize,
        /// Where to put what counts the body; a small one is not counted.
        slot: Option<HeldSlot>,
    },
    /// An error that may be about any request under way.
    Unattributed {
        failure: RpcFailure,
        /// All of these are batches.
        only_batches: bool,
        /// Another of these brings it, too.
        is_counted: bool,
    },
}

/// Why a connection ended.
enum Broken {
    TooLarge,
    Other(String),
}

impl From<String> for Broken {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

impl Link {
    pub fn new(target: Target) -> Self {
        Self { target, line: Mutex::new(None) }
    }

    pub async fn request(&self, text: String, ids: Range<u64>) -> Result<Reply, Error> {
        let (reply, answer) = oneshot::channel();
        let line = self.line().await?;
        let gone = || self.target.interrupted("the connection was closed");
        line.send(Job { ids, text, reply }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// After a timeout the connection may be dead without knowing; the next request makes another.
    pub async fn forget(&self) {
        self.line.lock().await.take();
    }

    async fn line(&self) -> Result<mpsc::Sender<Job>, Error> {
        let mut line = self.line.lock().await;
        if let Some(open) = line.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(open.clone());
        }
        let socket = self.target.connect().await?;
        let (sender, jobs) = mpsc::channel(64);
        tokio::spawn(Owner { target: self.target.clone(), socket, pending: vec![] }.run(jobs));
        *line = Some(sender.clone());
        Ok(sender)
    }
}

/// Owns the socket until it breaks or nobody needs it.
struct Owner {
    target: Target,
    socket: Socket,
    pending: Vec<(Range<u64>, ReplySender)>,
}

impl Owner {
    async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let why = loop {
            tokio::select! {
                job = jobs.recv() => match job {
                    Some(job) => {
                        // Requests that gave up waiting must not pile up.
                        self.pending.retain(|(_, reply)| !reply.is_closed());
                        self.pending.push((job.ids, job.reply));
                        if let Err(error) = self.socket.send(Frame::text(job.text)).await {
                            break Broken::Other(error.to_string());
                        }
                    }
                    None => return self.drain().await,
                },
                frame = self.socket.next() => if let Err(why) = self.take(frame) { break why },
            }
        };
        jobs.close();
        let is_alone = self.pending.len() == 1;
        for (at, (_, reply)) in self.pending.drain(..).enumerate() {
            let (upstream, is_counted) = (self.target.label.clone(), at > 0);
            let interrupted =
                |why: String| Error::Interrupted { upstream, source: why.into(), is_counted };
            let _ = reply.send(Err(match &why {
                Broken::TooLarge if is_alone => self.target.too_large(),
                Broken::TooLarge => interrupted("an answer was too large".to_owned()),
                Broken::Other(why) => interrupted(why.clone()),
            }));
        }
    }

    /// No new requests will come: waits for the answers still owed.
    async fn drain(mut self) {
        while !self.pending.is_empty() {
            let Ok(frame) = timeout(DRAIN, self.socket.next()).await else { break };
            if self.take(frame).is_err() {
                break;
            }
        }
        let _ = self.socket.close(None).await;
    }

    fn take(&mut self, frame: Option<Result<Frame, tungstenite::Error>>) -> Result<(), Broken> {
        let body: Bytes = match frame {
            Some(Ok(Frame::Text(text))) => text.into(),
            Some(Ok(Frame::Binary(bytes))) => bytes,
            Some(Ok(Frame::Close(_))) | None => {
                return Err("the node closed the socket".to_owned().into());
            }
            Some(Ok(_)) => return Ok(()),
            Some(Err(tungstenite::Error::Capacity(_))) => return Err(Broken::TooLarge),
            Some(Err(error)) => return Err(error.to_string().into()),
        };
        let body_bytes = body.len();
        let (body, slot) = if body_bytes > FREE_BYTES {
            let (body, slot) = budget::with_slot(body);
            (body, Some(slot))
        } else {
            (body, None)
        };
        let message = envelope::parse(&body)?;
        match id_of(message) {
            Whose::Request(id, message) => {
                if let Some(place) = self.pending.iter().position(|(ids, _)| ids.contains(&id)) {
                    let (_, reply) = self.pending.swap_remove(place);
                    let _ = reply.send(Ok(Reply::Answer { message, body_bytes, slot }));
                }
            }
            Whose::Unknown(failure) => self.tell_all(&failure),
            Whose::Nobody => {}
        }
        Ok(())
    }

    fn tell_all(&mut self, failure: &RpcFailure) {
        let only_batches = self.pending.iter().all(|(ids, _)| ids.end - ids.start > 1);
        for (at, (_, reply)) in self.pending.drain(..).enumerate() {
            let (failure, is_counted) = (failure.clone(), at > 0);
            let _ = reply.send(Ok(Reply::Unattributed { failure, only_batches, is_counted }));
        }
    }
}

enum Whose {
    Request(u64, Message),
    Unknown(RpcFailure),
    /// Notifications, and what says neither whose it is nor what went wrong.
    Nobody,
}

fn id_of(message: Message) -> Whose {
    match message {
        Message::Notification(_) => Whose::Nobody,
        Message::Single(answer) => match (answer.id, answer.result) {
            (Some(id), result) => {
                Whose::Request(id, Message::Single(Answer { id: Some(id), result }))
            }
            (None, Err(failure)) => Whose::Unknown(failure),
            (None, Ok(_)) => Whose::Nobody,
        },
        Message::Batch(answers) => match answers.iter().find_map(|answer| answer.id) {
            Some(id) => Whose::Request(id, Message::Batch(answers)),
            None => {
                let failure = answers.into_iter().find_map(|answer| answer.result.err());
                failure.map_or(Whose::Nobody, Whose::Unknown)
            }
        },
    }
}
