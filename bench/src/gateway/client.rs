//! A closed-loop client that posts: a few connections that ask again as soon as they were answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::calls::Calls;

pub struct Load {
    pub requests_per_s: f64,
    pub p99_ms: f64,
}

static NUMBER: AtomicU64 = AtomicU64::new(1_000_000);

pub async fn load(
    address: &str,
    path: &str,
    calls: &Calls,
    connections: usize,
    lasts: Duration,
) -> Result<Load> {
    let end = Instant::now() + lasts;
    let started = Instant::now();
    let one = |seed: u64| async move {
        let mut connection = Connection::open(address, path).await?;
        let (mut latencies, mut at) = (Vec::new(), seed);
        while Instant::now() < end {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let body = calls.body((at >> 33) as usize, number);
            let asked = Instant::now();
            connection.ask(&body).await?;
            latencies.push(asked.elapsed().as_secs_f64() * 1000.0);
        }
        Ok::<_, anyhow::Error>(latencies)
    };
    let all = futures_util::future::try_join_all((0..connections as u64).map(one)).await?;
    let seconds = started.elapsed().as_secs_f64();
    let mut latencies: Vec<f64> = all.into_iter().flatten().collect();
    latencies.sort_by(f64::total_cmp);
    let p99_ms = latencies.get(latencies.len() * 99 / 100).copied().unwrap_or(f64::NAN);
    Ok(Load { requests_per_s: latencies.len() as f64 / seconds, p99_ms })
}

/// Every call once, so that whoever keeps answers has them.
pub async fn each_once(address: &str, path: &str, calls: &Calls, connections: usize) -> Result<()> {
    let next = Arc::new(AtomicU64::new(0));
    let one = |_| {
        let next = next.clone();
        async move {
            let mut connection = Connection::open(address, path).await?;
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed) as usize;
                if at >= calls.len() {
                    return Ok::<_, anyhow::Error>(());
                }
                connection.ask(&calls.body(at, 0)).await?;
            }
        }
    };
    futures_util::future::try_join_all((0..connections).map(one)).await?;
    Ok(())
}

struct Connection {
    stream: TcpStream,
    head: String,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: &str, path: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n");
        Ok(Connection { stream, head, buffer: vec![0; 256 << 10] })
    }

    async fn ask(&mut self, body: &str) -> Result<()> {
        let request = format!("{}content-length: {}\r\n\r\n{body}", self.head, body.len());
        self.stream.write_all(request.as_bytes()).await?;
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(filled * 2, 0);
            }
            let read = self.stream.read(self.buffer.get_mut(filled..).context("buffer")?).await?;
            anyhow::ensure!(read > 0, "the server closed the connection");
            filled += read;
            let text = self.buffer.get(..filled).context("buffer")?;
            let Some(split) = text.windows(4).position(|it| it == b"\r\n\r\n") else { continue };
            let head = std::str::from_utf8(text.get(..split).context("head")?)?;
            anyhow::ensure!(head.starts_with("HTTP/1.1 200"), "answer: {head}");
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>().ok())?
            });
            if filled >= split + 4 + length.context("no content-length")? {
                let answer = text.get(split + 4..).unwrap_or_default();
                let has_error = answer.windows(8).take(64).any(|it| it == b"\"error\":");
                anyhow::ensure!(!has_error, "{}", String::from_utf8_lossy(answer));
                return Ok(());
            }
        }
    }
}
