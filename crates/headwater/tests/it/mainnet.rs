//! Real mainnet blocks from files: all verified, every wallet answer right, every wei explained.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};

use alloy_primitives::{I256, U256};
use serde::Deserialize;
use serde_json::{Value, json};
use testkit::fixtures::{fixtures_dir, skip};

use crate::client::{Client, Row};
use crate::ledger::{BlockLedger, signed, text};
use crate::process::{Serve, import};

#[tokio::test(flavor = "multi_thread")]
async fn mainnet_blocks_import_verified_and_answer_every_question_of_the_fixtures() {
    let Some(fixtures) = fixtures_dir() else { return skip("mainnet blocks") };
    let folder = tempfile::tempdir().unwrap();
    let files = block_files(&fixtures.join("blocks-mainnet"));
    let summary = import(folder.path(), "eth", &files);
    let whole: Vec<Value> =
        files.iter().filter(|f| !is_headers(f)).map(|f| gunzip_json(f)).collect();
    let headers = headers(&fixtures);
    let all = whole.len() + headers.len();
    assert!(summary.contains(&format!("imported {all} blocks")), "{summary}");
    assert!(
        summary.contains(&format!("{all} verified, 0 partial, 0 unverified; 0 refused")),
        "{summary}"
    );

    let server = Serve::of(folder.path()).start();
    let client = Client::new(server.url());
    let blocks: Vec<&Value> = whole.iter().map(|record| &record["block"]).chain(&headers).collect();
    every_block_is_verified(&client, &blocks).await;
    blocks_come_back_as_they_went_in(&client, "eth", &blocks).await;
    transactions_come_back_by_place(&client, "eth", &blocks).await;
    wallets_have_their_history(&client, &fixtures, &whole).await;
    every_wei_is_explained(&client, &fixtures, &whole).await;
    assert!(!server.log().contains("ERROR"), "{}", server.log());
}

/// Every whole block, and the file of headers that are blocks without transactions.
fn block_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => files.extend(block_files(&entry)),
            false => files.extend((entry.extension() == Some("gz".as_ref())).then_some(entry)),
        }
    }
    files.sort();
    files
}

fn is_headers(path: &Path) -> bool {
    path.to_string_lossy().ends_with("headers.jsonl.gz")
}

pub fn gunzip(path: &Path) -> String {
    let file = std::fs::File::open(path).unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

pub fn gunzip_json(path: &Path) -> Value {
    serde_json::from_str(&gunzip(path)).unwrap()
}

fn headers(fixtures: &Path) -> Vec<Value> {
    let text = gunzip(&fixtures.join("blocks-mainnet/contig-0-8299-headers.jsonl.gz"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn every_block_is_verified(client: &Client, blocks: &[&Value]) {
    for block in blocks {
        let number = u64::from_str_radix(&text(&block["number"])[2..], 16).unwrap();
        let status = client.get(&format!("/status/eth/blocks/{number}")).await.json();
        assert_eq!(
            (&status["level"], &status["hash"]),
            (&json!("verified"), &block["hash"]),
            "{number}"
        );
        assert_eq!(status["transactions"], block["transactions"].as_array().unwrap().len());
    }
}

/// Operation 6, with whole transactions and with hashes.
pub async fn blocks_come_back_as_they_went_in(client: &Client, chain: &str, blocks: &[&Value]) {
    for whole in [true, false] {
        let params: Vec<Value> = blocks.iter().map(|block| json!([block["hash"], whole])).collect();
        let told = client.rpc_many(chain, "eth_getBlockByHash", &params).await;
        for (block, told) in blocks.iter().zip(told) {
            let mut expected = (*block).clone();
            if !whole {
                for tx in expected["transactions"].as_array_mut().unwrap() {
                    *tx = tx["hash"].take();
                }
            }
            assert_eq!(told, expected, "{chain} {}", block["number"]);
        }
    }
}

/// Operation 7, one index further than there are transactions.
pub async fn transactions_come_back_by_place(client: &Client, chain: &str, blocks: &[&Value]) {
    let mut places = Vec::new();
    let mut expected = Vec::new();
    for block in blocks {
        let transactions = block["transactions"].as_array().unwrap();
        for (i, tx) in transactions.iter().chain([&Value::Null]).enumerate() {
            places.push(json!([block["number"], format!("{i:#x}")]));
            expected.push(tx);
        }
    }
    let told = client.rpc_many(chain, "eth_getTransactionByBlockNumberAndIndex", &places).await;
    for ((place, expected), told) in places.iter().zip(expected).zip(&told) {
        assert_eq!(told, expected, "{chain} {place}");
    }
}

/// Transaction, position in the call tree, the other side, wei.
type Transfer = (String, Value, String, String);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    sent_txs: Vec<String>,
    received_txs: Vec<String>,
    internal_in: Vec<Transfer>,
    internal_out: Vec<Transfer>,
}

#[derive(Deserialize)]
struct Histories {
    meta: HistoriesMeta,
    wallets: BTreeMap<String, History>,
}

#[derive(Deserialize)]
struct HistoriesMeta {
    range: (u64, u64),
}

async fn wallets_have_their_history(client: &Client, fixtures: &Path, whole: &[Value]) {
    let (mut places, mut creations) = (HashMap::new(), HashMap::<String, Vec<String>>::new());
    for record in whole {
        let block = &record["block"];
        for (i, tx) in block["transactions"].as_array().unwrap().iter().enumerate() {
            places.insert(text(&tx["hash"]), (text(&block["number"]), i));
        }
        for receipt in record["receipts"].as_array().unwrap() {
            if let (Some(made), Some("0x1")) =
                (receipt["contractAddress"].as_str(), receipt["status"].as_str())
            {
                creations
                    .entry(made.to_owned())
                    .or_default()
                    .push(text(&receipt["transactionHash"]));
            }
        }
    }
    let mut wallets = 0;
    for range in ["14000000-14000012", "17686110-17686121"] {
        let file = fixtures.join(format!("ledger/wallet-native-history-{range}.json.gz"));
        let histories: Histories = serde_json::from_str(&gunzip(&file)).unwrap();
        let (from, to) = histories.meta.range;
        for (i, (address, history)) in histories.wallets.iter().enumerate() {
            let mut direct: Vec<String> =
                [&history.sent_txs, &history.received_txs].into_iter().flatten().cloned().collect();
            direct.extend(creations.get(address).cloned().unwrap_or_default());
            let inside =
                history.internal_in.iter().chain(&history.internal_out).map(|t| t.0.clone());
            let all: Vec<String> = direct.iter().cloned().chain(inside).collect();
            let limit = [3, 10, 50, 100, 500][i % 5];
            let query = format!("chain=eth&from_block={from}&to_block={to}");
            for (include, hashes) in [("", direct), ("&include=internal_transactions", all)] {
                let expected = in_chain_order(hashes, &places);
                let query = format!("{query}{include}");
                let rows = both_orders(client, address, &query, limit, &expected).await;
                if !include.is_empty() {
                    assert_eq!(
                        transfers(&rows, address),
                        expected_transfers(history, address),
                        "{address}"
                    );
                }
            }
            wallets += 1;
        }
    }
    assert_eq!(wallets, 400);
}

/// Each hash once, oldest first.
fn in_chain_order(
    mut hashes: Vec<String>,
    places: &HashMap<String, (String, usize)>,
) -> Vec<String> {
    hashes.sort_by_key(|hash| places.get(hash).unwrap());
    hashes.dedup();
    hashes
}

/// Checks both orders and gives the rows, oldest first.
async fn both_orders(
    client: &Client,
    address: &str,
    query: &str,
    limit: usize,
    oldest_first: &[String],
) -> Vec<Row> {
    let newest = client.whole_wallet(address, &format!("{query}&order=DESC"), limit).await;
    let oldest = client.whole_wallet(address, &format!("{query}&order=ASC"), limit).await;
    let hashes: Vec<_> = oldest.iter().map(|row| row.hash.as_str()).collect();
    assert_eq!(hashes, oldest_first, "{address}?{query}");
    let reversed: Vec<_> = newest.iter().rev().map(|row| row.hash.as_str()).collect();
    assert_eq!(reversed, oldest_first, "{address}?{query} DESC");
    oldest
}

/// Transaction, sender, receiver, wei of each transfer inside that the wallet takes part in, sorted.
type Moves = Vec<(String, String, String, U256)>;

fn transfers(rows: &[Row], wallet: &str) -> Moves {
    let mut moves = Moves::new();
    for row in rows {
        for inner in row.internal_transactions.iter().flatten().filter(|inner| inner.moves_value())
        {
            if inner.from == wallet || inner.to == wallet {
                moves.push((row.hash.clone(), inner.from.clone(), inner.to.clone(), inner.value.0));
            }
        }
    }
    moves.sort();
    moves
}

fn expected_transfers(history: &History, wallet: &str) -> Moves {
    let wallet = || wallet.to_owned();
    let wei = |digits: &str| digits.parse::<U256>().unwrap();
    let into = history.internal_in.iter().map(|t| (t.0.clone(), t.2.clone(), wallet(), wei(&t.3)));
    let out = history.internal_out.iter().map(|t| (t.0.clone(), wallet(), t.2.clone(), wei(&t.3)));
    // A transfer to oneself stands in both lists of the fixture and is one transfer.
    let out = out.filter(|(_, from, to, _)| from != to);
    let mut moves: Moves = into.chain(out).collect();
    moves.sort();
    moves
}

#[derive(Deserialize)]
struct Balances {
    blocks: BTreeMap<String, BlockBalances>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockBalances {
    withdrawals_wei: BTreeMap<String, String>,
    balances: BTreeMap<String, (String, String)>,
}

async fn every_wei_is_explained(client: &Client, fixtures: &Path, whole: &[Value]) {
    let file = fixtures.join("ledger/native-balances-17686110-17686121.json.gz");
    let balances: Balances = serde_json::from_str(&gunzip(&file)).unwrap();
    let mut rows = 0;
    for (number, block) in &balances.blocks {
        let number_hex = format!("{:#x}", number.parse::<u64>().unwrap());
        let record =
            whole.iter().find(|record| record["block"]["number"] == number_hex.as_str()).unwrap();
        let hash = text(&record["block"]["hash"]);
        let mut ledger = BlockLedger::read(client, "eth", &hash).await;
        // These blocks' source has no list of withdrawals; the ledger's own stands in.
        if ledger.withdrawals.is_empty() {
            let wei =
                |(address, digits): (&String, &String)| (address.clone(), digits.parse().unwrap());
            ledger.withdrawals = block.withdrawals_wei.iter().map(wei).collect();
        }
        for (address, (before, after)) in &block.balances {
            let balance = |digits: &str| -> I256 { signed(digits.parse::<U256>().unwrap()) };
            let moved = balance(after) - balance(before);
            assert_eq!(
                ledger.delta(client, "eth", address).await,
                moved,
                "{address} in block {number}"
            );
            rows += 1;
        }
    }
    assert_eq!(rows, 2931);
}
