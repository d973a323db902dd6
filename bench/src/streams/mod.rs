//! Streams: what matching costs, what delivering costs, how long a webhook takes.

mod host;
mod latency;
mod matching;
mod rate;
mod receiver;

pub use receiver::receive;

use std::path::Path;

use anyhow::Result;

pub struct StreamOptions<'a> {
    pub headwater: &'a Path,
    /// Streams of (e) and (f).
    pub streams: usize,
    /// Blocks at the pace of 12 seconds in (d).
    pub slow_blocks: usize,
    /// Blocks at the pace of four a second in (d) and (e).
    pub quick_blocks: usize,
}

pub async fn run(options: &StreamOptions<'_>) -> Result<()> {
    matching::run().await?;
    rate::deliveries(options.headwater).await?;
    latency::paces(options).await?;
    latency::dead_receiver(options).await?;
    rate::ingest(options).await
}

/// The value below which so large a share of them lies.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share) as usize).copied().unwrap_or(f64::NAN)
}
