//! A reorg while the server is down: of each block that was told of and is gone, the receiver hears once.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{SimConfig, SimNode, read, shared, write};

use super::engines::on_both_engines;
use super::owner::{create, serving, until_told, until_whole};
use super::receiver::{WebhookReceiver, prove};
use super::truth::{Items, Watched, expected, told};
use crate::client::Client;
use crate::world::{SLUG, head};

const CONFIRMATIONS: u64 = 12;

on_both_engines!(a_block_that_is_gone_is_retracted_once);

async fn a_block_that_is_gone_is_retracted_once(url: &str) {
    let chain = shared(SimConfig { txs_per_block: 3, wallets: 20, ..SimConfig::seeded(91) });
    write(&chain).extend(20);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let receiver = WebhookReceiver::start(92).await;
    let mut server = serving(&data, &node, url).start();
    let (first, hash) = head(&chain);
    Client::new(server.url()).until_indexed(SLUG, first, &hash).await;
    // Few, so that there are blocks that concern none.
    let mut watched = Vec::new();
    let wallets = read(&chain).wallets();
    for wallet in wallets.into_iter().take(2) {
        let (name, addresses) = (format!("{wallet:#x}"), vec![format!("{wallet:#x}")]);
        let one = Watched { name, addresses, logs: true, internals: false, retractions: true };
        create(&server, &receiver, &one).await;
        watched.push(one);
    }
    for depth in 2..=9 {
        write(&chain).extend(10);
        let head_now = read(&chain).head_number();
        for one in &watched {
            until_seen(&receiver, one, &expected(&chain, one, first + 1..=head_now)).await;
        }
        assert!(server.terminate().success());
        // So many new ones that those at the height of the old ones are confirmed at once.
        write(&chain).reorg(depth, depth + CONFIRMATIONS as usize + 4);
        server = serving(&data, &node, url).start();
        let (number, hash) = head(&chain);
        Client::new(server.url()).until_indexed(SLUG, number, &hash).await;
    }
    write(&chain).extend(CONFIRMATIONS as usize);
    let last = read(&chain).head_number() - CONFIRMATIONS;
    let mut retracted = 0;
    for one in &watched {
        until_told(&server, &receiver, &one.name, &expected(&chain, one, first + 1..=last)).await;
        let taken = until_whole(&server, &receiver, &one.name).await;
        prove(&taken);
        let mut counts: BTreeMap<(u64, String), (usize, usize)> = BTreeMap::new();
        for delivery in taken.values().filter(|it| it.body["confirmed"] == json!(false)) {
            let block = &delivery.body["block"];
            let (number, hash) = (block["number"].as_str().unwrap(), &block["hash"]);
            let place = (number.parse().unwrap(), hash.as_str().unwrap().to_owned());
            let (seen, gone) = counts.entry(place).or_default();
            if delivery.body["retracted"] == json!(true) {
                *gone += 1;
                assert_eq!(taken[&delivery.amends.unwrap()].body["block"], delivery.body["block"]);
            } else {
                *seen += 1;
            }
        }
        for ((number, hash), (seen, gone)) in counts {
            let is_gone = format!("{:#x}", read(&chain).block(number).unwrap().hash) != hash;
            assert_eq!((seen, gone), (1, usize::from(is_gone)), "{}: {hash}", one.name);
            retracted += gone;
        }
    }
    assert!(retracted > 5, "{retracted}");
}

/// Told of, confirmed or not.
async fn until_seen(receiver: &WebhookReceiver, one: &Watched, wanted: &Items) {
    let began = Instant::now();
    loop {
        let mut seen = Items::new();
        receiver.taken(&one.name).values().for_each(|it| told(&it.body, &mut seen));
        if wanted.is_subset(&seen) {
            return;
        }
        let missing = wanted.difference(&seen).next();
        assert!(began.elapsed() < Duration::from_secs(120), "{}: {missing:?}", one.name);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
