//! Follows new heads over a WebSocket of its own, so that they never wait behind large answers.
//!
//! Reconnects for ever, with growing pauses. Reports what it hears; what a head means is decided
//! by the pool.

use super::websocket::{Socket, Target};
use crate::envelope::{self, Message};
use crate::error::{Error, error_chain};
use crate::head::Head;
use crate::upstream_id::UpstreamId;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use tasks::{Backoff, TaskEnd, endless, keep_running};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message as Frame;

const SUBSCRIBE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}"#;
/// A socket silent for this long is asked for a sign of life, and given up after as long again.
const QUIET_MAX: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub enum HeadEvent {
    Subscribed,
    Head(Head),
    /// Poll until it is subscribed again; says why.
    Lost(String),
}

/// A running subscription; ends when dropped.
pub struct HeadSubscription {
    events: mpsc::Receiver<HeadEvent>,
    reconnect: Arc<Notify>,
    task: JoinHandle<()>,
}

impl HeadSubscription {
    pub fn start(target: Target, upstream: UpstreamId, pauses: Backoff) -> Self {
        let (sender, events) = mpsc::channel(64);
        let reconnect = Arc::new(Notify::new());
        let subscriber = Subscriber { target, upstream, sender, reconnect: reconnect.clone() };
        let task = tokio::spawn(async move {
            let is_over = || subscriber.sender.is_closed();
            let run = || endless(subscriber.run(pauses));
            // Nobody waits for room in the channel here: with it full, what is in it says enough.
            let tell = |end: TaskEnd| {
                let lost = HeadEvent::Lost(format!("the task of new heads {}", end.reason));
                let _ = subscriber.sender.try_send(lost);
            };
            keep_running(pauses, is_over, run, tell).await;
        });
        Self { events, reconnect, task }
    }

    /// The next thing heard. Never ends while the subscription runs.
    pub async fn next(&mut self) -> Option<HeadEvent> {
        self.events.recv().await
    }

    /// For when polling saw heads that the socket kept quiet about.
    pub fn reconnect(&self) {
        self.reconnect.notify_one();
    }
}

impl Drop for HeadSubscription {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Subscriber {
    target: Target,
    upstream: UpstreamId,
    sender: mpsc::Sender<HeadEvent>,
    reconnect: Arc<Notify>,
}

impl Subscriber {
    async fn run(&self, pauses: Backoff) {
        let mut trial = 0;
        loop {
            let mut heard = false;
            let reconnect = self.reconnect.clone();
            let ended = tokio::select! {
                ended = self.listen(&mut heard) => ended,
                () = reconnect.notified() => Err(self.target.interrupted("heads stopped coming")),
            };
            let why = ended.map_or_else(|error| error_chain(&error), |()| "ended".to_owned());
            tracing::debug!(upstream = %self.target.label, error = %why, "newHeads subscription ended");
            if self.sender.send(HeadEvent::Lost(why)).await.is_err() {
                return;
            }
            trial = if heard { 0 } else { trial + 1 };
            sleep(pauses.wait(trial, rand::random())).await;
        }
    }

    async fn listen(&self, heard: &mut bool) -> Result<(), Error> {
        let mut socket = self.target.connect().await?;
        socket.send(Frame::text(SUBSCRIBE)).await.map_err(|e| self.target.interrupted(e))?;
        loop {
            let body = self.next_text(&mut socket).await?;
            let event = match envelope::parse(&body) {
                Ok(Message::Notification(value)) => match Head::parse(&value, self.upstream) {
                    Some(head) => HeadEvent::Head(head),
                    None => continue,
                },
                Ok(Message::Single(answer)) => {
                    answer.result.map_err(|e| self.target.interrupted(e))?;
                    HeadEvent::Subscribed
                }
                Ok(Message::Batch(_)) => continue,
                Err(why) => return Err(self.target.interrupted(why)),
            };
            *heard = true;
            if self.sender.send(event).await.is_err() {
                return Ok(());
            }
        }
    }

    async fn next_text(&self, socket: &mut Socket) -> Result<Bytes, Error> {
        let mut asked = false;
        loop {
            let frame = match timeout(QUIET_MAX, socket.next()).await {
                Ok(frame) => frame,
                Err(_) if asked => return Err(self.target.interrupted("the socket went silent")),
                Err(_) => {
                    asked = true;
                    let ping = socket.send(Frame::Ping(Bytes::new()));
                    ping.await.map_err(|e| self.target.interrupted(e))?;
                    continue;
                }
            };
            match frame {
                Some(Ok(Frame::Text(text))) => return Ok(text.into()),
                Some(Ok(Frame::Binary(bytes))) => return Ok(bytes),
                Some(Ok(Frame::Close(_))) | None => {
                    return Err(self.target.interrupted("the node closed the socket"));
                }
                Some(Ok(_)) => asked = false,
                Some(Err(error)) => return Err(self.target.interrupted(error)),
            }
        }
    }
}
