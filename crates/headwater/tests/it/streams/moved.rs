//! A user outgrows one machine: stops the server, copies its folder into PostgreSQL and goes on there. Receivers notice nothing.

use serde_json::json;
use testkit::{SimConfig, SimNode, read, shared, write};

use super::owner::{create, request, serving, until_told, until_whole};
use super::receiver::{WebhookReceiver, prove};
use super::truth::{Watched, expected};
use crate::client::Client;
use crate::postgres_process::PostgresProcess;
use crate::process::{run, run_well, text};
use crate::world::{SLUG, head};

const CONFIRMATIONS: usize = 12;

#[tokio::test(flavor = "multi_thread")]
async fn streams_go_on_in_postgres_where_the_folder_left_off() {
    let Some(postgres) = PostgresProcess::start() else { return };
    let chain = shared(SimConfig { txs_per_block: 5, wallets: 12, ..SimConfig::seeded(61) });
    write(&chain).extend(20);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let receiver = WebhookReceiver::start(62).await;
    let quick = |data: &std::path::Path, url: &str| {
        let serve = serving(data, &node, url).set("streams.retry_s", "[1, 1, 2, 2, 4, 4]");
        serve.set("streams.timeout_ms", "500").start()
    };
    let server = quick(&data, "");
    let (first, hash) = head(&chain);
    Client::new(server.url()).until_indexed(SLUG, first, &hash).await;
    let mut watched = Vec::new();
    let wallets = read(&chain).wallets();
    for wallet in wallets.into_iter().take(4) {
        let (name, addresses) = (format!("{wallet:#x}"), vec![format!("{wallet:#x}")]);
        let one = Watched { name, addresses, logs: true, internals: true, retractions: true };
        create(&server, &receiver, &one).await;
        watched.push(one);
    }
    // Some are taken, some fail and wait for another attempt, some are not confirmed yet.
    receiver.fail(0.6);
    write(&chain).extend(60);
    let (number, hash) = head(&chain);
    Client::new(server.url()).until_indexed(SLUG, number, &hash).await;
    while receiver.failures() < 10 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let path = "/streams/evm?limit=100";
    let listed = request(&server, reqwest::Method::GET, path, json!({})).await;
    assert!(server.terminate().success());
    receiver.fail(0.0);
    let (from, to) = (data.display().to_string(), postgres.url("postgres"));
    for _ in 0..2 {
        let copied = run_well(["copy", "--from", &from, "--to", &to]);
        assert!(copied.contains("4 streams with "), "{copied}");
        assert!(!copied.contains("DIFFERS"), "{copied}");
    }
    // What the folder's last blocks were is no longer so, which only the new server will learn.
    write(&chain).reorg(4, 10);
    let moved = folder.path().join("moved");
    let server = quick(&moved, &to);
    let there = request(&server, reqwest::Method::GET, path, json!({})).await;
    let ids = |list: &serde_json::Value| -> std::collections::BTreeSet<String> {
        let streams = list["result"].as_array().unwrap().iter();
        streams.map(|stream| stream["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&listed), ids(&there));
    write(&chain).extend(CONFIRMATIONS + 2);
    let last = read(&chain).head_number() - CONFIRMATIONS as u64;
    for one in &watched {
        let wanted = expected(&chain, one, first + 1..=last);
        assert!(wanted.len() > 10, "{}", wanted.len());
        until_told(&server, &receiver, &one.name, &wanted).await;
        prove(&until_whole(&server, &receiver, &one.name).await);
    }
    assert_eq!(receiver.contradictions(), Vec::<String>::new());
    assert!(server.terminate().success());
    // Once they went on there, the folder is no longer what they are.
    let refused = run(["copy", "--from", &from, "--to", &to]);
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("journal reader"), "{}", text(&refused.stderr));
}
