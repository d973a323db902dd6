//! A WebSocket of its own with one subscription on it, so that what it tells never waits behind large answers.

use super::websocket::{Socket, Target};
use crate::envelope::{self, Message};
use crate::error::Error;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message as Frame;

/// A socket silent for this long is asked for a sign of life, and given up after as long again.
const QUIET_MAX: Duration = Duration::from_secs(30);

pub struct SubscribedSocket {
    target: Target,
    socket: Socket,
}

/// What came over it.
pub enum Heard {
    Subscribed,
    /// What the node tells, as JSON.
    Told(Bytes),
}

impl SubscribedSocket {
    /// `params`: of `eth_subscribe`, as JSON. Whether the node takes it is heard afterwards.
    pub async fn open(target: &Target, params: &str) -> Result<Self, Error> {
        let mut socket = target.connect().await?;
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":{params}}}"#);
        socket.send(Frame::text(request)).await.map_err(|e| target.interrupted(e))?;
        Ok(Self { target: target.clone(), socket })
    }

    pub async fn next(&mut self) -> Result<Heard, Error> {
        loop {
            let body = self.next_text().await?;
            match envelope::parse(&body) {
                Ok(Message::Notification(value)) => return Ok(Heard::Told(value)),
                Ok(Message::Single(answer)) => {
                    answer.result.map_err(|e| self.target.interrupted(e))?;
                    return Ok(Heard::Subscribed);
                }
                Ok(Message::Batch(_)) => {}
                Err(why) => return Err(self.target.interrupted(why)),
            }
        }
    }

    async fn next_text(&mut self) -> Result<Bytes, Error> {
        let Self { target, socket } = self;
        let mut asked = false;
        loop {
            let frame = match timeout(QUIET_MAX, socket.next()).await {
                Ok(frame) => frame,
                Err(_) if asked => return Err(target.interrupted("the socket went silent")),
                Err(_) => {
                    asked = true;
                    let ping = socket.send(Frame::Ping(Bytes::new()));
                    ping.await.map_err(|e| target.interrupted(e))?;
                    continue;
                }
            };
            match frame {
                Some(Ok(Frame::Text(text))) => return Ok(text.into()),
                Some(Ok(Frame::Binary(bytes))) => return Ok(bytes),
                Some(Ok(Frame::Close(_))) | None => {
                    return Err(target.interrupted("the node closed the socket"));
                }
                Some(Ok(_)) => asked = false,
                Some(Err(error)) => return Err(target.interrupted(error)),
            }
        }
    }
}
