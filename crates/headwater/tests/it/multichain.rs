//! Blocks of many chains, with transaction types and seals of their own: stored without loss, and
//! with as much proof as there can be.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use testkit::fixtures::{fixtures_dir, skip};

use crate::client::Client;
use crate::ledger::text;
use crate::mainnet::{
    blocks_come_back_as_they_went_in, gunzip_json, transactions_come_back_by_place,
};
use crate::process::{Serve, import, run_well};

/// The chain's id and its blocks, each with the file it came from.
type Chains = BTreeMap<u64, Vec<(PathBuf, Value)>>;

#[tokio::test(flavor = "multi_thread")]
async fn blocks_of_ten_chains_come_back_field_for_field() {
    let Some(fixtures) = fixtures_dir() else { return skip("blocks of other chains") };
    let mut chains = Chains::new();
    for entry in std::fs::read_dir(fixtures.join("blocks-multichain")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension() == Some("gz".as_ref()) {
            let record = gunzip_json(&path);
            chains
                .entry(record["meta"]["chainId"].as_u64().unwrap())
                .or_default()
                .push((path, record));
        }
    }
    assert_eq!(chains.values().map(Vec::len).sum::<usize>(), 65);

    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for (id, records) in &chains {
        let files: Vec<PathBuf> = records.iter().map(|(path, _)| path.clone()).collect();
        let summary = import(&data, &id.to_string(), &files);
        assert!(summary.contains(&format!("imported {} blocks", files.len())), "{id}: {summary}");
        assert!(summary.contains("; 0 refused"), "{id}: {summary}");
    }
    let config = folder.path().join("headwater.toml");
    let sections = chains.keys().map(|id| format!("[chains.{id}]\n"));
    std::fs::write(&config, sections.collect::<String>()).unwrap();
    run_well(["config".as_ref(), "check".as_ref(), "--config".as_ref(), config.as_os_str()]);
    let server = Serve::of(&data).arg("--config").arg(&config).start();
    let client = Client::new(server.url());
    for (id, records) in &chains {
        let chain = id.to_string();
        let blocks: Vec<&Value> = records.iter().map(|(_, record)| &record["block"]).collect();
        blocks_come_back_as_they_went_in(&client, &chain, &blocks).await;
        transactions_come_back_by_place(&client, &chain, &blocks).await;
        for (_, record) in records {
            level_says_what_was_proven(&client, &chain, record).await;
        }
    }
}

async fn level_says_what_was_proven(client: &Client, chain: &str, record: &Value) {
    let number = u64::from_str_radix(&text(&record["block"]["number"])[2..], 16).unwrap();
    let status = client.get(&format!("/status/{chain}/blocks/{number}")).await.json();
    let proven: Vec<&str> =
        status["proven"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
    let meta = &record["meta"];
    // Where the fixtures' own check did not recompute the root (null), we may or may not.
    assert_eq!(
        proven.contains(&"header"),
        meta["headerHashOk"] == true,
        "{chain} {number}: {status}"
    );
    if let Some(root_ok) = meta["txRootOk"].as_bool() {
        assert_eq!(proven.contains(&"transactions"), root_ok, "{chain} {number}: {status}");
    }
    // Receipts of some transactions are no proof of all.
    let level = if proven.contains(&"header") { "partial" } else { "unverified" };
    assert_eq!(status["level"], level, "{chain} {number}: {status}");
}
