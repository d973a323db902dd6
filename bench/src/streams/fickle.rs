//! A receiver that is alive or dead as it is told: alive it answers every request, dead it takes connections and neither reads nor
//! answers, on those it had before as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const READ_BYTES: usize = 1 << 16;

pub struct Fickle {
    pub url: String,
    is_alive: watch::Sender<bool>,
    answered: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<()>,
}

impl Fickle {
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.2.0.1:0").await?;
        let url = format!("http://{}/fickle", listener.local_addr()?);
        let (is_alive, answered) = (watch::Sender::new(true), Arc::new(AtomicU64::new(0)));
        let (seen, count) = (is_alive.subscribe(), answered.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, count) = (seen.clone(), count.clone());
                tokio::spawn(async move { answer_all(stream, seen, &count).await });
            }
        });
        Ok(Fickle { url, is_alive, answered, task })
    }

    pub fn be(&self, is_alive: bool) {
        self.is_alive.send_replace(is_alive);
    }

    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Returns when nothing came for so long.
    pub async fn quiet(&self, pause: Duration) {
        loop {
            let before = self.answered();
            tokio::time::sleep(pause).await;
            if self.answered() == before {
                return;
            }
        }
    }
}

impl Drop for Fickle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Until the sender closes the connection.
async fn answer_all(
    mut stream: TcpStream,
    mut is_alive: watch::Receiver<bool>,
    answered: &AtomicU64,
) -> Result<()> {
    let mut read = Vec::new();
    loop {
        let mut chunk = [0; READ_BYTES];
        is_alive.wait_for(|is_alive| *is_alive).await?;
        let bytes = stream.read(&mut chunk).await?;
        // It may have died while it waited.
        is_alive.wait_for(|is_alive| *is_alive).await?;
        read.extend_from_slice(chunk.get(..bytes).unwrap_or_default());
        if bytes == 0 {
            return Ok(());
        }
        while let Some(request_bytes) = request_bytes(&read)? {
            read.drain(..request_bytes);
            stream.write_all(ANSWER).await?;
            answered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Of the first request, once all of it is there.
fn request_bytes(read: &[u8]) -> Result<Option<usize>> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(end) = read.windows(END.len()).position(|it| it == END) else { return Ok(None) };
    let head = String::from_utf8_lossy(read.get(..end).unwrap_or_default()).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let body: usize = length.context("a request without a length")?.trim().parse()?;
    let whole = end + END.len() + body;
    Ok((read.len() >= whole).then_some(whole))
}
