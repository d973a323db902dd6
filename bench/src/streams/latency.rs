//! (d) From a block's birth at the node to its webhook at the receiver.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Result;
use testkit::SimConfig;

use super::StreamOptions;
use super::host::Host;
use super::receiver::Receiver;
use crate::machine::{Testimony, Witness, now_us};
use crate::quantile::quantile;
use crate::say;

pub const QUICK: Duration = Duration::from_millis(250);
const SLOW: Duration = Duration::from_secs(12);
/// What waited through a pause is worked off in this time.
const SHORTLY_US: u64 = 300_000;

pub fn busy() -> SimConfig {
    SimConfig { txs_per_block: 150, wallets: 2_000, render_ahead: true, ..SimConfig::seeded(5) }
}

pub async fn paces(options: &StreamOptions<'_>) -> Result<()> {
    for (pace, blocks) in [(QUICK, options.quick_blocks), (SLOW, options.slow_blocks)] {
        let receiver = Receiver::start().await?;
        let host = Host::start(options.headwater, busy()).await?;
        host.streams(&receiver, 10, 200).await?;
        let times = follow(&host, &receiver, pace, blocks).await?;
        say(&format!(
            "streams (d) block to webhook, {blocks} blocks of 150 transactions with traces, one every {:.2} s, 10 streams\n{}",
            pace.as_secs_f64(),
            times.lines()
        ))?;
        host.stop()?;
    }
    Ok(())
}

/// Milliseconds from a block's birth to each webhook that tells of it, sorted.
struct Latencies {
    all: Vec<f64>,
    /// Of those during which, and shortly before, the machine did not stand still.
    undisturbed: Vec<f64>,
    /// Blocks whose last webhook took longest: how many came before each, and its milliseconds.
    slowest: Vec<(u64, f64)>,
    machine: Testimony,
}

impl Latencies {
    fn lines(&self) -> String {
        let line = |name: &str, times: &[f64]| match times {
            [] => format!("    {name:24} none"),
            times => format!(
                "    {name:24} p50 {:6.1} ms  p99 {:6.1} ms  max {:6.1} ms  {} webhooks",
                quantile(times, 0.5),
                quantile(times, 0.99),
                quantile(times, 1.0),
                times.len()
            ),
        };
        let slowest: Vec<_> =
            self.slowest.iter().map(|(block, ms)| format!("{block} ({ms:.0} ms)")).collect();
        let steal = self.machine.steal_percent.unwrap_or_default();
        format!(
            "{}\n{}\n    slowest blocks: {}\n    machine: {steal:.0} % of its time went to others, longest pause {:.0} ms",
            line("all", &self.all),
            line("while it did not pause", &self.undisturbed),
            slowest.join(", "),
            self.machine.longest_ms()
        )
    }
}

async fn follow(
    host: &Host,
    receiver: &Receiver,
    pace: Duration,
    blocks: usize,
) -> Result<Latencies> {
    let witness = Witness::start();
    let mut born = HashMap::new();
    let mut ticks = tokio::time::interval(pace);
    ticks.tick().await;
    for _ in 0..blocks {
        ticks.tick().await;
        host.extend(1);
        // The block is made and announced when `extend` returns.
        born.insert(host.head(), now_us());
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let machine = witness.stop()?;
    let (mut all, mut undisturbed) = (Vec::new(), Vec::new());
    let mut by_block: HashMap<u64, f64> = HashMap::new();
    let first = born.keys().min().copied().unwrap_or_default();
    for (block, at) in receiver.times().await?.into_values().flatten() {
        let Some(born) = born.get(&block) else { continue };
        let ms = at.saturating_sub(*born) as f64 / 1e3;
        all.push(ms);
        let slowest = by_block.entry(block - first).or_default();
        *slowest = slowest.max(ms);
        if !machine.stood_still(born.saturating_sub(SHORTLY_US), at) {
            undisturbed.push(ms);
        }
    }
    anyhow::ensure!(!all.is_empty(), "no webhook came");
    all.sort_by(f64::total_cmp);
    undisturbed.sort_by(f64::total_cmp);
    let mut slowest: Vec<_> = by_block.into_iter().collect();
    slowest.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    slowest.truncate(5);
    Ok(Latencies { all, undisturbed, slowest, machine })
}
