//! Streams: what matching costs, what delivering costs, how long a webhook takes.

mod dead;
mod fickle;
pub mod host;
mod latency;
mod matching;
mod rate;
mod receiver;

pub use rate::delivery_rate;
pub use receiver::receive;

use std::path::Path;

use anyhow::Result;

pub struct StreamOptions<'a> {
    pub headwater: &'a Path,
    /// Streams of (e) and (f).
    pub streams: usize,
    /// Blocks at the pace of 12 seconds in (d).
    pub slow_blocks: usize,
    /// Blocks at the pace of four a second in (d).
    pub quick_blocks: usize,
    /// Of (c) for each size of bodies; in (e) four times as many.
    pub rounds: usize,
    /// Letters; (a) and (b) are one.
    pub parts: &'a str,
}

pub async fn run(options: &StreamOptions<'_>) -> Result<()> {
    for part in options.parts.chars() {
        match part {
            'a' => matching::run().await?,
            'c' => rate::deliveries(options).await?,
            'd' => latency::paces(options).await?,
            'e' => dead::dead_receiver(options).await?,
            'f' => rate::ingest(options).await?,
            _ => {}
        }
    }
    Ok(())
}
