//! Two processes that match and send streams, killed and paused at random: every receiver ends with the confirmed chain, in
//! numbers without a hole that the digests prove.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reqwest::Method;
use serde_json::json;
use testkit::{SharedChain, SimConfig, SimNode, read, shared, write};

use super::members::{Cluster, asked, until};
use crate::client::Client;
use crate::postgres_process::PostgresProcess;
use crate::process::Server;
use crate::streams::owner::confirmed;
use crate::streams::receiver::{Taken, WebhookReceiver, prove};
use crate::streams::truth::{Items, Watched, expected};
use crate::world::{SLUG, grow, head};

const CONFIRMATIONS: u64 = 12;
/// Without a single delivery.
const TOO_LONG: Duration = Duration::from_secs(120);

struct Size {
    streams: usize,
    kills: usize,
    blocks: u64,
}

fn size() -> Size {
    if std::env::var_os("HEADWATER_LONG").is_some() {
        Size { streams: 60, kills: 40, blocks: 60 }
    } else {
        Size { streams: 12, kills: 5, blocks: 25 }
    }
}

pub async fn create(api: &Server, receiver: &WebhookReceiver, one: &Watched) {
    let body = json!({
        "webhookUrl": receiver.url(&one.name), "description": one.name, "tag": one.name,
        "chainIds": ["0x539"], "includeNativeTxs": true, "includeContractLogs": one.logs,
        "includeInternalTxs": one.internals,
    });
    let stream = asked(api, Method::PUT, "/streams/evm", &body).await;
    let path = format!("/streams/evm/{}/address", stream["id"].as_str().unwrap());
    asked(api, Method::POST, &path, &json!({ "address": one.addresses })).await;
}

/// Streams that failed too often are made active again, as their owners would.
async fn activate(api: &Server) {
    let path = "/streams/evm?limit=100&status=error";
    let list = asked(api, Method::GET, path, &json!({})).await;
    for stream in list["result"].as_array().unwrap() {
        let path = format!("/streams/evm/{}/status", stream["id"].as_str().unwrap());
        asked(api, Method::POST, &path, &json!({ "status": "active" })).await;
    }
}

pub fn watched(chain: &SharedChain, count: usize) -> Vec<Watched> {
    let wallets = read(chain).wallets();
    let one = |number: usize| Watched {
        name: format!("stream-{number}"),
        addresses: (0..=number % 3)
            .map(|it| format!("{:#x}", wallets[(number + it * 7) % wallets.len()]))
            .collect(),
        logs: number.is_multiple_of(2),
        internals: number % 5 == 4,
        retractions: false,
    };
    (0..count).map(one).collect()
}

/// Until it was told exactly this, in numbers without a hole.
pub async fn until_told(
    api: &Server,
    receiver: &WebhookReceiver,
    name: &str,
    wanted: &Items,
) -> BTreeMap<u64, Taken> {
    let (mut count, mut since) = (0, Instant::now());
    loop {
        let (got, taken) = (confirmed(receiver, name), receiver.taken(name));
        assert_eq!(got.difference(wanted).next(), None, "{name}: told of what is not confirmed");
        let last = taken.keys().next_back().copied().unwrap_or(0);
        if got == *wanted && last == taken.len() as u64 {
            return taken;
        }
        activate(api).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        if receiver.count() != count {
            (count, since) = (receiver.count(), Instant::now());
        }
        let missing = wanted.difference(&got).next();
        assert!(since.elapsed() < TOO_LONG, "{name}: {missing:?}, {} of {last}", taken.len());
    }
}

/// For longer than any lease or claim lasts, but for those of senders.
async fn hang(server: &Server) {
    server.signal("STOP");
    tokio::time::sleep(Duration::from_secs(8)).await;
    server.signal("CONT");
}

async fn has_sent(server: &Server) -> bool {
    let metrics = Client::new(server.url()).get("/metrics").await.body;
    metrics.contains("headwater_streams_attempts_total{result=\"delivered\"}")
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_dies_every_receiver_ends_with_the_confirmed_chain() {
    let Some(postgres) = PostgresProcess::start() else { return };
    let size = size();
    let chain = shared(SimConfig { txs_per_block: 4, wallets: 40, ..SimConfig::seeded(85) });
    write(&chain).extend(20);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::new(folder.path(), &postgres.url("postgres"), &node);
    let receiver = WebhookReceiver::start(86).await;
    let _ingest = cluster.start("ingest", "ingest");
    let api = cluster.start("api", "api");
    let mut pair = ["streams-0", "streams-1"].map(|name| Some(cluster.start("streams", name)));
    let (first, hash) = head(&chain);
    Client::new(api.url()).until_indexed(SLUG, first, &hash).await;
    let all = watched(&chain, size.streams);
    for one in &all {
        create(&api, &receiver, one).await;
    }
    let mut random = StdRng::seed_from_u64(87);
    // Both send, whichever matches.
    for sender in pair.iter().flatten() {
        until("it sends", || {
            write(&chain).extend(1);
            has_sent(sender)
        })
        .await;
    }
    receiver.fail(0.15);
    for kill in 0..=size.kills {
        let from = read(&chain).head_number();
        while read(&chain).head_number() < from + size.blocks {
            grow(&chain, &mut random);
            tokio::time::sleep(Duration::from_millis(random.random_range(0..60))).await;
        }
        activate(&api).await;
        let place = random.random_range(0..2);
        if kill % 3 == 2 {
            hang(pair[place].as_ref().unwrap()).await;
        } else if kill < size.kills {
            pair[place].take().unwrap().kill_nine();
            pair[place] = Some(cluster.start("streams", &format!("streams-{place}")));
        }
    }
    let last = read(&chain).head_number();
    write(&chain).extend(CONFIRMATIONS as usize + 1);
    let (number, hash) = head(&chain);
    Client::new(api.url()).until_indexed(SLUG, number, &hash).await;
    receiver.fail(0.0);
    let blocks = first + 1..=number - CONFIRMATIONS;
    assert!(*blocks.end() > last, "the whole test is confirmed");
    let mut deliveries = 0;
    for one in &all {
        let wanted = expected(&chain, one, blocks.clone());
        let taken = until_told(&api, &receiver, &one.name, &wanted).await;
        prove(&taken);
        deliveries += taken.len();
    }
    assert_eq!(receiver.contradictions(), Vec::<String>::new());
    let failed = receiver.failures();
    eprintln!(
        "{} kills, {deliveries} deliveries, {failed} failures, {} taken",
        size.kills,
        receiver.count()
    );
    assert!(failed > 0 && deliveries > 0);
    for server in pair.iter().flatten() {
        assert!(!server.log().contains("panicked"), "{}", server.log());
    }
}
