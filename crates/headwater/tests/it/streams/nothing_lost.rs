//! Receivers that fail, hang and drop, a server that is killed and stopped, a chain that reorganises: at the end every
//! receiver has exactly what the confirmed chain says, numbers without a hole, and digests that prove it.

use std::path::Path;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use testkit::{SharedChain, SimConfig, SimNode, read, shared, write};

use super::engines::on_both_engines;
use super::owner::{activate, create, serving, until_told, until_whole};
use super::receiver::{WebhookReceiver, prove};
use super::truth::{Watched, expected};
use crate::client::Client;
use crate::process::Server;
use crate::world::{SLUG, grow, head};

const CONFIRMATIONS: u64 = 12;

struct Size {
    blocks: u64,
    streams: usize,
    kills: usize,
    stopped_for: u64,
}

fn size() -> Size {
    if std::env::var_os("HEADWATER_LONG").is_some() {
        Size { blocks: 10_000, streams: 200, kills: 30, stopped_for: 500 }
    } else {
        Size { blocks: 300, streams: 20, kills: 5, stopped_for: 40 }
    }
}

fn serve(data: &Path, node: &SimNode, url: &str) -> Server {
    serving(data, node, url)
        .set("streams.timeout_ms", "700")
        .set("streams.retry_s", "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]")
        .start()
}

on_both_engines!(whatever_fails_every_receiver_ends_with_the_confirmed_chain);

async fn whatever_fails_every_receiver_ends_with_the_confirmed_chain(url: &str) {
    let size = size();
    let chain = shared(SimConfig { txs_per_block: 4, wallets: 40, ..SimConfig::seeded(71) });
    write(&chain).extend(20);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let receiver = WebhookReceiver::start(72).await;
    let mut server = serve(&data, &node, url);
    let (first, hash) = head(&chain);
    Client::new(server.url()).until_indexed(SLUG, first, &hash).await;
    let watched = create_streams(&server, &chain, &receiver, size.streams).await;

    receiver.fail(0.15);
    let mut random = StdRng::seed_from_u64(73);
    let each = size.blocks / (size.kills as u64 + 1);
    for life in 0..=size.kills {
        let from = read(&chain).head_number();
        while read(&chain).head_number() < from + each {
            grow(&chain, &mut random);
            tokio::time::sleep(Duration::from_millis(random.random_range(0..20))).await;
        }
        activate(&server).await;
        if life == size.kills {
            break;
        }
        if life == size.kills / 2 {
            assert!(server.terminate().success());
            for _ in 0..size.stopped_for {
                grow(&chain, &mut random);
            }
        } else {
            server.kill_nine();
        }
        server = serve(&data, &node, url);
    }
    let last = read(&chain).head_number();
    write(&chain).extend(CONFIRMATIONS as usize + 1);
    let (number, hash) = head(&chain);
    Client::new(server.url()).until_indexed(SLUG, number, &hash).await;
    // Sending may have been held up by the kills until now.
    let began = Instant::now();
    while receiver.failures() == 0 && began.elapsed() < Duration::from_secs(120) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    receiver.fail(0.0);
    let blocks = first + 1..=number - CONFIRMATIONS;
    assert!(*blocks.end() > last, "the whole test is confirmed");
    let mut deliveries = 0;
    for one in &watched {
        let wanted = expected(&chain, one, blocks.clone());
        until_told(&server, &receiver, &one.name, &wanted).await;
        let taken = until_whole(&server, &receiver, &one.name).await;
        prove(&taken);
        deliveries += taken.len();
    }
    assert_eq!(receiver.contradictions(), Vec::<String>::new());
    eprintln!(
        "{} streams, {} blocks, {} kills: {deliveries} deliveries, {} of them failed at least once",
        size.streams,
        number - first,
        size.kills,
        receiver.failures()
    );
    assert!(receiver.failures() > 0);
}

async fn create_streams(
    server: &Server,
    chain: &SharedChain,
    receiver: &WebhookReceiver,
    count: usize,
) -> Vec<Watched> {
    let wallets = read(chain).wallets();
    let mut all = Vec::new();
    for number in 0..count {
        let addresses: Vec<String> = (0..=number % 3)
            .map(|it| format!("{:#x}", wallets[(number + it * 7) % wallets.len()]))
            .collect();
        let one = Watched {
            name: format!("stream-{number}"),
            addresses,
            logs: number % 2 == 0,
            internals: number % 5 == 4,
            retractions: false,
        };
        create(server, receiver, &one).await;
        all.push(one);
    }
    all
}
