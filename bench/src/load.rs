//! A closed-loop HTTP client: a few connections that ask again as soon as they were answered.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub struct Load {
    pub requests_per_s: f64,
    pub body_bytes: usize,
}

/// `path` with `headers` on `address`, over `connections` kept alive, for a while.
pub async fn run(
    address: &str,
    path: &str,
    headers: &str,
    connections: usize,
    lasts: Duration,
) -> Result<Load> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: bench\r\n{headers}\r\n").into_bytes();
    let end = Instant::now() + lasts;
    let mut tasks = Vec::new();
    for _ in 0..connections {
        let (address, request) = (address.to_owned(), request.clone());
        tasks.push(tokio::spawn(async move { one(&address, &request, end).await }));
    }
    let start = Instant::now();
    let (mut count, mut body_bytes) = (0u64, 0);
    for task in tasks {
        let (requests, bytes) = task.await??;
        count += requests;
        body_bytes = bytes;
    }
    Ok(Load { requests_per_s: count as f64 / start.elapsed().as_secs_f64(), body_bytes })
}

async fn one(address: &str, request: &[u8], end: Instant) -> Result<(u64, usize)> {
    let mut connection = Connection::open(address).await?;
    let (mut count, mut length) = (0, 0);
    while Instant::now() < end {
        length = connection.ask(request).await?.len();
        count += 1;
    }
    Ok((count, length))
}

/// A kept-alive connection without a client's own work around it: nothing but the request and its answer.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, buffer: vec![0u8; 1 << 20] })
    }

    /// The body of the answer to a whole request.
    pub async fn ask(&mut self, request: &[u8]) -> Result<&[u8]> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(filled * 2, 0);
            }
            let free = self.buffer.get_mut(filled..).context("buffer")?;
            let read = self.stream.read(free).await?;
            anyhow::ensure!(read > 0, "the server closed the connection");
            filled += read;
            let head = self.buffer.get(..filled).context("buffer")?;
            let Some(split) = find(head, b"\r\n\r\n") else { continue };
            let text = std::str::from_utf8(head.get(..split).context("head")?)?;
            anyhow::ensure!(text.starts_with("HTTP/1.1 200"), "answer: {text}");
            let length = text.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>().ok())?
            });
            let length = length.context("no content-length")?;
            let body = split + 4;
            if filled >= body + length {
                return self.buffer.get(body..body + length).context("body");
            }
        }
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|w| w == what)
}
