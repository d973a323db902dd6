//! A closed-loop client that posts: a few connections that ask again as soon as they were answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::calls::Calls;
use crate::load;

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
    inner: load::Connection,
    head: String,
}

impl Connection {
    async fn open(address: &str, path: &str) -> Result<Self> {
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n");
        Ok(Connection { inner: load::Connection::open(address).await?, head })
    }

    async fn ask(&mut self, body: &str) -> Result<()> {
        let request = format!("{}content-length: {}\r\n\r\n{body}", self.head, body.len());
        let answer = self.inner.ask(request.as_bytes()).await?;
        let has_error = answer.windows(8).take(64).any(|it| it == b"\"error\":");
        anyhow::ensure!(!has_error, "{}", String::from_utf8_lossy(answer));
        Ok(())
    }
}
