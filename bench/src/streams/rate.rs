//! (c) Deliveries a second against bare POSTs of the same bytes, and (f) ingest with streams against ingest without.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use alloy_primitives::B256;
use anyhow::Result;
use bytes::Bytes;
use testkit::SimConfig;

use super::StreamOptions;
use super::host::Host;
use super::receiver::Receiver;
use crate::ingest_rate::wait_until;
use crate::quantile::quantile;
use crate::say;

/// As many streams as connections of the bare client: first attempts of a stream come one after another.
const SENDERS: usize = 64;
const BLOCKS: usize = 400;
const INGEST_ROUNDS: usize = 3;

/// Addresses of each stream, of 200 wallets: a busy exchange's, and a user's few.
const ADDRESSES: [usize; 2] = [100, 4];

pub async fn deliveries(options: &StreamOptions<'_>) -> Result<()> {
    for addresses in ADDRESSES {
        deliveries_of(options, addresses).await?;
    }
    Ok(())
}

/// Deliveries and POSTs a second, measured one after the other.
struct Round {
    /// From the node to the receiver.
    whole: f64,
    from_queues: f64,
    bare: f64,
    hashed: f64,
}

async fn deliveries_of(options: &StreamOptions<'_>, addresses: usize) -> Result<()> {
    let StreamOptions { headwater, rounds: repeats, .. } = *options;
    let (mut rounds, mut bytes) = (Vec::new(), 0);
    for _ in 0..repeats {
        let receiver = Receiver::start().await?;
        let host = host_with_streams(headwater, "", (&receiver, addresses)).await?;
        // The node has nothing to give before all of them are made.
        host.extend(BLOCKS);
        let (_, whole) = settled(&receiver, Instant::now()).await?;
        host.stop()?;
        let receiver = Receiver::start().await?;
        let host = host_with_streams(headwater, "", (&receiver, addresses)).await?;
        let (count, from_queues) = from_queues(&host, &receiver).await?;
        let body = receiver.average_body().await?;
        bytes = body.len();
        host.stop()?;
        let bare = post(&receiver, &body, count, Hashes::None).await?;
        let hashed = post(&receiver, &body, count, Hashes::AsDelivered).await?;
        rounds.push(Round { whole, from_queues, bare, hashed });
    }
    let median = |of: &dyn Fn(&Round) -> f64| {
        let mut all: Vec<f64> = rounds.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        quantile(&all, 0.5)
    };
    let line = |name: &str, of: &dyn Fn(&Round) -> f64| {
        format!(
            "  {name:42} {:6.0}/s  {:3.0} % of bare, {:3.0} % of those with hashes",
            median(of),
            100.0 * median(&|round| of(round) / round.bare),
            100.0 * median(&|round| of(round) / round.hashed)
        )
    };
    say(&format!(
        "streams (c) {SENDERS} streams, {BLOCKS} blocks, bodies of {bytes} bytes; medians of {repeats} rounds\n\
         {}\n{}\n{}\n{}",
        line(&format!("bare POSTs over {SENDERS} connections"), &|round| round.bare),
        line("with the three hashes of a delivery", &|round| round.hashed),
        line("from the queue, the receiver is there again", &|round| round.from_queues),
        line("from the node, all blocks at once", &|round| round.whole)
    ))
}

async fn host_with_streams(
    headwater: &Path,
    url: &str,
    (receiver, addresses): (&Receiver, usize),
) -> Result<Host> {
    let config = SimConfig { txs_per_block: 20, wallets: 200, ..SimConfig::seeded(5) };
    let host = Host::start_on(headwater, config, url).await?;
    host.streams(receiver, SENDERS, addresses).await?;
    Ok(host)
}

/// What waits in the queues of streams in error is sent once they are active again: payloads are there already, as they
/// are for a bare client. How many came, and how many a second.
async fn from_queues(host: &Host, receiver: &Receiver) -> Result<(u64, f64)> {
    receiver.refuse(true).await?;
    host.extend(BLOCKS);
    host.all_in_error(SENDERS).await?;
    receiver.refuse(false).await?;
    let began = Instant::now();
    host.activate_all().await?;
    settled(receiver, began).await
}

/// Deliveries a second of blocks that are there at once, whatever the store is.
pub async fn delivery_rate(headwater: &Path, url: &str, blocks: usize) -> Result<f64> {
    let receiver = Receiver::start().await?;
    let host = host_with_streams(headwater, url, (&receiver, ADDRESSES[1])).await?;
    host.extend(blocks);
    let (_, rate) = settled(&receiver, Instant::now()).await?;
    host.stop()?;
    Ok(rate)
}

/// So long nothing came: all is there.
const QUIET: Duration = Duration::from_secs(3);

/// How many came, and how many a second.
async fn settled(receiver: &Receiver, began: Instant) -> Result<(u64, f64)> {
    let (mut last, mut since) = (0, Instant::now());
    loop {
        let now = receiver.deliveries().await?;
        if now != last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() >= QUIET && now > 0 {
            return Ok((now, now as f64 / (since - began).as_secs_f64()));
        }
        anyhow::ensure!(
            began.elapsed() < Duration::from_secs(300),
            "no end after {now} deliveries"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What the bare client computes for each body.
#[derive(Clone, Copy, PartialEq)]
enum Hashes {
    None,
    /// Digest and both signatures: no sender of these webhooks can do without.
    AsDelivered,
}

impl Hashes {
    fn of(self, body: &[u8]) -> String {
        if self == Hashes::None {
            return String::new();
        }
        let digest = store::delivery_digest(B256::ZERO, 1, body);
        let signature = streams::signature::x_signature(body, "secret");
        let standard = streams::signature::standard_signature("secret", "id", 1, body);
        format!("{digest:#x}{signature}{standard}")
    }
}

async fn post(receiver: &Receiver, body: &Bytes, count: u64, hashes: Hashes) -> Result<f64> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let left = Arc::new(AtomicU64::new(count));
    let began = Instant::now();
    let mut tasks = Vec::new();
    for number in 0..SENDERS {
        let (client, left, body) = (client.clone(), left.clone(), body.clone());
        let url = receiver.url(number);
        tasks.push(tokio::spawn(async move {
            while left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                .is_ok()
            {
                let request = client.post(&url).header("content-type", "application/json");
                let request =
                    request.header("x-sequence", "1").header("x-digest", hashes.of(&body));
                let response = request.body(body.clone()).send().await?;
                anyhow::ensure!(response.status().is_success());
                response.bytes().await?;
            }
            Ok(())
        }));
    }
    for task in tasks {
        task.await??;
    }
    Ok(count as f64 / began.elapsed().as_secs_f64())
}

pub async fn ingest(options: &StreamOptions<'_>) -> Result<()> {
    const MORE: usize = 1_500;
    let (mut with, mut without) = (0.0, 0.0);
    let mut delivered = 0;
    for _ in 0..INGEST_ROUNDS {
        for streams in [0, options.streams] {
            let receiver = Receiver::start().await?;
            let config = SimConfig { txs_per_block: 150, wallets: 20_000, ..SimConfig::seeded(5) };
            let host = Host::start(options.headwater, config).await?;
            host.streams(&receiver, streams, 2).await?;
            // The blocks are there at once, so that nothing but the server is measured.
            host.extend(MORE);
            let began = Instant::now();
            wait_until(&host.server.url, "sim", host.head() + 1).await?;
            let rate: f64 = MORE as f64 / began.elapsed().as_secs_f64();
            if streams == 0 {
                without = f64::max(without, rate);
            } else {
                with = f64::max(with, rate);
                (delivered, _) = settled(&receiver, began).await?;
            }
            host.stop()?;
        }
    }
    say(&format!(
        "streams (f) ingest of {MORE} blocks of 150 transactions: {with:.0} blocks/s with {} streams matching ({delivered} deliveries), \
         {without:.0} without: {:.0} %, best of {INGEST_ROUNDS} each",
        options.streams,
        100.0 * with / without
    ))
}
