//! Follows new heads over a WebSocket of its own, so that they never wait behind large answers.
//!
//! Reconnects for ever, with growing pauses. Reports what it hears; what a head means is decided
//! by the pool.

use super::subscribed_socket::{Heard, SubscribedSocket};
use super::websocket::Target;
use crate::error::{Error, error_chain};
use crate::head::Head;
use crate::upstream_id::UpstreamId;
use std::sync::Arc;
use tasks::{Backoff, TaskEnd, endless, keep_running};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::sleep;

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
        let mut socket = SubscribedSocket::open(&self.target, r#"["newHeads"]"#).await?;
        loop {
            let event = match socket.next().await? {
                Heard::Told(value) => match Head::parse(&value, self.upstream) {
                    Some(head) => HeadEvent::Head(head),
                    None => continue,
                },
                Heard::Subscribed => HeadEvent::Subscribed,
            };
            *heard = true;
            if self.sender.send(event).await.is_err() {
                return Ok(());
            }
        }
    }
}
