//! `headwater audit`: of a data folder, and beside a server that follows a node.

use serde_json::Value;
use testkit::{Rule, SharedChain, SimConfig, SimNode, Tamper, shared, write};

use crate::client::Client;
use crate::process::{Serve, Server, run, run_well, text};
use crate::world::{CHAIN, SLUG, head};

fn config(seed: u64) -> SimConfig {
    SimConfig { txs_per_block: 10, wallets: 20, state_proofs: true, ..SimConfig::seeded(seed) }
}

fn serve(data: &std::path::Path, node: &SimNode) -> Serve {
    Serve::of(data)
        .rpc(CHAIN, &node.url())
        .set("rpc.poll_ms", "40")
        .set("ingest.audit", "0")
        .set(&format!("chains.{CHAIN}.verification"), "full")
}

/// A server that has every block of the chain, with its traces.
async fn followed(data: &std::path::Path, node: &SimNode, chain: &SharedChain) -> (Server, Client) {
    let server = serve(data, node).start();
    let client = Client::new(server.url());
    let (number, hash) = head(chain);
    client.until_indexed(SLUG, number, &hash).await;
    until_traced(&client, number).await;
    (server, client)
}

/// The command's arguments on this folder; the chain's rules stand in a file there.
fn args(data: &std::path::Path, more: &[&str]) -> Vec<String> {
    let file = data.with_extension("toml");
    std::fs::write(&file, format!("[chains.{CHAIN}]\nverification = \"full\"\n")).unwrap();
    let place = ["audit", "--data", data.to_str().unwrap(), "--config", file.to_str().unwrap()];
    let chain = ["--chain", CHAIN];
    place.iter().chain(&chain).chain(more).map(|arg| (*arg).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_reports_what_is_proven_and_what_is_not() {
    let chain = shared(config(71));
    write(&chain).extend(12);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let lie = node.faults.add(Rule::from(Tamper::ChangedTraceValue).on_block(9));
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (server, client) = followed(&data, &node, &chain).await;

    // Through the server: it has the folder.
    let told = run_well(args(&data, &["--blocks", "1-8", "--sample", "0"]));
    assert!(told.contains("in 8 of 8 blocks; 0 contradict what is stored"), "{told}");
    let status = client.get(&format!("/status/{SLUG}/blocks/8")).await.json();
    assert!(status["accounts_proven"].as_u64().unwrap() > 5, "{status}");
    assert_eq!(status["traces"], "consistent");
    assert!(!status["proven"].as_array().unwrap().contains(&"traces".into()), "{status}");

    // By itself, with a node of its own.
    server.terminate();
    let rpc = format!("{CHAIN}={}", node.url());
    let more = ["--blocks", "8-10", "--sample", "0", "--json", "--rpc", &rpc];
    let output = run(args(&data, &more));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["mismatches"], 2, "{report}");
    assert_eq!(report["blocks"][1]["number"], 9);
    let of_nine = report["blocks"][1]["audits"].as_array().unwrap();
    let wrong: Vec<&Value> = of_nine.iter().filter(|it| it["verdict"] == "mismatch").collect();
    assert_eq!(wrong.len(), 2);
    assert!(wrong[0]["before"].is_string() && wrong[0]["spent"].is_string(), "{report}");
    let told = text(&run(args(&data, &["--blocks", "9", "--sample", "0", "--rpc", &rpc])).stdout);
    assert!(told.contains("DOES NOT HOLD: block 9, 0x"), "{told}");

    // The server takes traces from a block that is contradicted, and gets others once there are.
    let server = serve(&data, &node).start();
    let client = Client::new(server.url());
    let output = run(args(&data, &["--blocks", "9", "--sample", "0"]));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let status = client.get(&format!("/status/{SLUG}/blocks/9")).await.json();
    assert_eq!(status["traces"], "missing", "{status}");
    let audit = client.status(SLUG).await["ingest"]["audit"].clone();
    assert_eq!(audit["mismatches"][0]["block"], 9, "{audit}");
    let metrics = client.get("/metrics").await.body;
    assert!(metrics.contains("headwater_audits_total"), "{metrics}");
    node.faults.remove(lie);
    until_traced(&client, 12).await;
    run_well(args(&data, &["--blocks", "9", "--sample", "0"]));
}

async fn until_traced(client: &Client, blocks: u64) {
    for _ in 0..6_000 {
        let mut left = 0;
        for number in 1..=blocks {
            let status = client.get(&format!("/status/{SLUG}/blocks/{number}")).await.json();
            left += u64::from(status["traces"] != "consistent");
        }
        if left == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("not all blocks were traced");
}

#[test]
fn an_audit_that_makes_no_sense_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for (more, says) in [
        (&["--blocks", "9-7"][..], "the first block is after the last"),
        (&["--blocks", "a"], "is not of the form A-B"),
        (&[], "--blocks"),
    ] {
        let output = run(args(&data, more));
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_give_no_proofs_are_named() {
    let chain = shared(SimConfig { state_proofs: false, ..config(72) });
    write(&chain).extend(4);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (server, _) = followed(&data, &node, &chain).await;
    let told = run_well(args(&data, &["--blocks", "2-4", "--sample", "1"]));
    assert!(told.contains("eth_getProof does not exist"), "{told}");
    assert!(told.contains("0 pairs of account and block are proven"), "{told}");
    server.terminate();
}
