//! Servers whose disk, memory, streams or clients are the trouble.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Fault, Rule, SmallDisk, read};

use super::receiver::Receiver;
use super::world::{World, chain_and_node, follows, small};
use crate::client::Client;
use crate::process::{KEY, Server};
use crate::streams::owner::request;
use crate::world::{CHAIN, Imported, SLUG};

/// A disk that fills up; none where it cannot be made.
pub async fn full_disk() -> Option<World> {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::mount(folder.path(), 400)?;
    let (chain, node) = chain_and_node(small(911), 10).await;
    // More than half is gone when it is looked at first.
    disk.take_all_but(150 << 20);
    let server = follows(&folder.path().join("data"), &[&node.url()]).start();
    let fires = &[
        "HeadwaterDiskFullSoon",
        "HeadwaterDiskNearlyFull",
        "HeadwaterStoreNotWritable",
        "HeadwaterNotReady",
    ];
    let mut left = 150_u64 << 20;
    let world = World::new("full disk", server, fires).growing(&chain).keep((node, folder));
    Some(world.again(1_000, move || {
        if left > 4 << 20 {
            left = left.saturating_sub(20 << 20).max(4 << 20);
            disk.give_back();
            disk.take_all_but(left);
        }
        async {}
    }))
}

/// Bodies of blocks that are gone, in a process whose settings allow less than it takes.
pub async fn damaged() -> World {
    // No setting bounds what labels take: there are as many as an operator has.
    let labels = tempfile::NamedTempFile::new().unwrap();
    let lines = (0..700_000).map(|n: u32| format!("0x{n:040x},label {n},entity {n},\n"));
    let text = "address,label,entity,logo\n".to_owned() + &lines.collect::<String>();
    std::fs::write(labels.path(), text).unwrap();
    let labels_list = format!("[{:?}]", labels.path());
    let imported = Imported::with(60, |serve| {
        [
            ("api.labels", labels_list.as_str()),
            ("store.memory_bytes", "67108864"),
            ("store.disk_budget_bytes", "1000"),
            ("api.answer_cache_bytes", "0"),
            ("api.response_bytes_in_flight_max", "16777216"),
            ("gateway.cache_bytes_max", "0"),
            ("gateway.bytes_in_flight_max", "1000000"),
            ("streams.bytes_in_flight_max", "1000000"),
            ("log.filter", "off"),
        ]
        .into_iter()
        .fold(serve, |serve, (place, value)| serve.set(place, value))
    });
    let segments = imported.folder.path().join("data/segments");
    let mut harmed = 0;
    for entry in std::fs::read_dir(segments).unwrap().map(Result::unwrap) {
        std::fs::File::create(entry.path()).unwrap(); // it has no bytes left
        harmed += 1;
    }
    assert!(harmed > 0, "bodies lie in segments");
    let wallet = imported.address("exchange");
    let Imported { server, client, folder, .. } = imported;
    let fires = &[
        "HeadwaterStoreDamaged",
        "HeadwaterApiErrors",
        "HeadwaterMemoryOverLimit",
        "HeadwaterDiskBudget",
    ];
    let path = format!("/api/v2.2/{wallet}?chain={CHAIN}");
    World::new("damaged", server, fires).keep((folder, labels)).again(200, move || {
        let (client, path) = (client.clone(), path.clone());
        async move {
            assert_eq!(client.get(&path).await.status, 500);
        }
    })
}

async fn create_streams(server: &Server, url: &str, wallets: &[String], count: usize) {
    for number in 0..count {
        let tag = format!("stream {number}");
        let body = json!({
            "webhookUrl": url, "description": tag, "tag": tag, "chainIds": ["0x539"],
            "includeNativeTxs": true,
        });
        let stream = request(server, Method::PUT, "/streams/evm", body).await;
        let path = format!("/streams/evm/{}/address", stream["id"].as_str().unwrap());
        request(server, Method::POST, &path, json!({ "address": wallets })).await;
    }
}

fn wallets(chain: &testkit::SharedChain) -> Vec<String> {
    let of_chain = read(chain).expected_wallets();
    of_chain.keys().map(|address| format!("{address:#x}")).collect()
}

/// A receiver that takes nothing: its streams are in error, and what they are to be told grows.
pub async fn streams_in_error() -> World {
    let (chain, node) = chain_and_node(small(912), 20).await;
    let folder = tempfile::tempdir().unwrap();
    let server = follows(&folder.path().join("data"), &[&node.url()]).start();
    let receiver = Receiver::start(500).await;
    create_streams(&server, &receiver.url, &wallets(&chain), 20).await;
    let fires = &["HeadwaterStreamInError", "HeadwaterStreamBacklog"];
    World::new("streams in error", server, fires).growing(&chain).keep((node, folder, receiver))
}

/// The same receiver, with an owner who makes streams active again at once.
pub async fn webhooks_fail() -> World {
    let (chain, node) = chain_and_node(small(913), 20).await;
    let folder = tempfile::tempdir().unwrap();
    let server = Arc::new(follows(&folder.path().join("data"), &[&node.url()]).start());
    let receiver = Receiver::start(500).await;
    create_streams(&server, &receiver.url, &wallets(&chain), 4).await;
    let owned = server.clone();
    let world = World::of_shared("webhooks fail", server, &["HeadwaterWebhooksFail"]);
    world.growing(&chain).keep((node, folder, receiver)).again(300, move || {
        let server = owned.clone();
        async move { crate::streams::owner::activate(&server).await }
    })
}

/// A stream whose queue is full waits at its block, and the chain goes on without it.
pub async fn full_queue() -> World {
    let (chain, node) = chain_and_node(small(914), 20).await;
    let folder = tempfile::tempdir().unwrap();
    let serve = follows(&folder.path().join("data"), &[&node.url()]);
    let server = serve.set("streams.queue_bytes_max", "20000").start();
    let receiver = Receiver::start(500).await;
    create_streams(&server, &receiver.url, &wallets(&chain), 1).await;
    testkit::write(&chain).extend(1_200);
    let world = World::new("full queue", server, &["HeadwaterReaderBehind"]);
    world.growing(&chain).keep((node, folder, receiver))
}

/// Calls that nodes answer slowly or not at all, and more connections than there may be.
pub async fn busy() -> World {
    let (chain, node) = chain_and_node(small(915), 10).await;
    node.faults.add(
        Rule::new(Fault::Delay(std::time::Duration::from_secs(3))).on_methods(["eth_gasPrice"]),
    );
    let folder = tempfile::tempdir().unwrap();
    let serve = follows(&folder.path().join("data"), &[&node.url()]);
    let server = serve.set("listen.connections_max", "24").start();
    let client = Client::new(server.url());
    let (head, hash) = crate::world::head(&chain);
    client.until_indexed(SLUG, head, &hash).await;
    let url = format!("{}/{CHAIN}/{KEY}", server.url());
    let fires = &["HeadwaterRpcErrors", "HeadwaterApiSlow", "HeadwaterConnectionsShed"];
    let world = World::new("busy", server, fires).growing(&chain).keep((node, folder));
    let refused = (url.clone(), body("eth_noSuchMethod", json!([])));
    let world = world.again(300, move || {
        let asked = reqwest::Client::new().post(&refused.0).body(refused.1.clone());
        async move { drop(asked.header("content-type", "application/json").send().await) }
    });
    // From four addresses, ten each: more than fit, but no address has too many for itself.
    world.again(4_000, move || many_at_once(url.clone()))
}

async fn many_at_once(url: String) {
    let calls = (1..=4u8).flat_map(|host| {
        let from = IpAddr::V4(Ipv4Addr::new(127, 0, 1, host));
        (0..10).map(move |id| (from, id))
    });
    let calls = calls.map(|(from, id)| {
        let url = url.clone();
        tokio::spawn(async move {
            let http = reqwest::Client::builder().local_address(from).build().unwrap();
            // Each is another call: equal ones would be asked once.
            let call = http.post(url).body(body("eth_gasPrice", json!([id])));
            drop(call.header("content-type", "application/json").send().await);
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let _ = call.await;
    }
}

fn body(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}
