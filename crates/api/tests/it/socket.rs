//! A client that calls over a WebSocket and waits for each answer.

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Generous: only a broken test waits this long.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Socket {
    runtime: Runtime,
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Socket {
    pub fn connect(url: &str) -> Self {
        Self::try_connect(url).unwrap()
    }

    pub fn try_connect(url: &str) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (stream, _) = runtime.block_on(connect_async(url))?;
        Ok(Socket { runtime, stream })
    }

    pub fn ask(&mut self, body: &Value) -> Value {
        let Socket { runtime, stream } = self;
        runtime.block_on(stream.send(Message::text(body.to_string()))).unwrap();
        loop {
            if let Message::Text(text) = self.next() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// Whatever comes next.
    pub fn next(&mut self) -> Message {
        let Socket { runtime, stream } = self;
        let next = async { tokio::time::timeout(PATIENCE, stream.next()).await };
        runtime.block_on(next).unwrap().unwrap().unwrap()
    }
}
