//! Sales in real mainnet blocks, through the API: every confirmed trade is listed, and the lowest
//! prices are those of the fixtures. `days` count back from the newest block, so the blocks of each
//! span of less than a year are a store of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::fixtures::{fixtures_dir, skip};

use crate::client::Client;
use crate::ledger::text;
use crate::mainnet::gunzip;
use crate::process::{Serve, import};

/// First and last block of each span; the fixtures' trades lie in these.
const SPANS: [(u64, u64); 4] = [
    (11_771_979, 13_142_655),
    (14_000_000, 16_021_772),
    (16_751_455, 18_965_012),
    (19_321_357, 20_000_000),
];
const NATIVE: &str = "0x0000000000000000000000000000000000000000";

#[tokio::test(flavor = "multi_thread")]
async fn confirmed_trades_are_listed_and_lowest_prices_are_the_known_ones() {
    let Some(fixtures) = fixtures_dir() else { return skip("NFT trades of mainnet blocks") };
    let trades: Vec<Value> = gunzip(&fixtures.join("nft-trades/trades-from-blocks.jsonl.gz"))
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lowest = fixtures.join("nft-trades/lowest-price-by-collection.json");
    let lowest: Value = serde_json::from_str(&std::fs::read_to_string(lowest).unwrap()).unwrap();
    let mut counts = Counts::default();
    for span in SPANS {
        let own: Vec<&Value> = trades.iter().filter(|row| is_in(span, &row["block"])).collect();
        let files = block_files(&fixtures.join("blocks-mainnet"), span);
        let folder = tempfile::tempdir().unwrap();
        import(folder.path(), "eth", &files);
        let server = Serve::of(folder.path()).start();
        let client = Client::new(server.url());
        every_confirmed_trade_is_listed(&client, &own, &mut counts).await;
        for (collection, told) in lowest["collections"].as_object().unwrap() {
            // One whose sales lie in several spans has no single store to be asked in.
            let blocks = trades.iter().filter(|row| row["collection"] == collection.as_str());
            if blocks.clone().all(|row| is_in(span, &row["block"])) {
                lowest_price_is_known(&client, collection, told, &mut counts).await;
            }
        }
        assert!(!server.log().contains("ERROR"), "{}", server.log());
    }
    let Counts { listed, equal, lower } = counts;
    eprintln!("{listed} confirmed trades listed; lowest prices: {equal} equal, {lower} lower");
    assert!(listed >= 370, "{listed}");
    assert!(equal >= 40, "{equal} equal, {lower} lower");
}

#[derive(Default)]
struct Counts {
    listed: usize,
    equal: usize,
    /// Where a bundle or a sale in WETH, which the file does not count, was cheaper.
    lower: usize,
}

fn is_in((from, to): (u64, u64), block: &Value) -> bool {
    (from..=to).contains(&block.as_u64().unwrap())
}

fn block_files(folder: &Path, span: (u64, u64)) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files.extend(block_files(&entry, span));
            continue;
        }
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        let number = name.split('.').next().unwrap().parse::<u64>();
        files.extend(number.is_ok_and(|n| (span.0..=span.1).contains(&n)).then_some(entry));
    }
    files.sort();
    files
}

/// Markets as a request names them; the others of the fixtures are not offered.
fn market(row: &Value) -> Option<&str> {
    match row["marketplace"].as_str().unwrap() {
        "seaport" => Some("opensea"),
        "0x" => Some("0xprotocol"),
        name => ["opensea", "blur", "looksrare", "x2y2"].into_iter().find(|known| *known == name),
    }
}

async fn every_confirmed_trade_is_listed(client: &Client, rows: &[&Value], counts: &mut Counts) {
    let mut asked: BTreeMap<(String, &str), Vec<Value>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row["confirmed"] == true) {
        let Some(market) = market(row) else { continue };
        let collection = text(&row["collection"]);
        let told = match asked.get(&(collection.clone(), market)) {
            Some(told) => told.clone(),
            None => {
                let path = format!(
                    "/api/v2.2/nft/{collection}/trades?chain=eth&marketplace={market}&limit=500"
                );
                let told = client.get(&path).await.json()["result"].as_array().unwrap().clone();
                asked.insert((collection.clone(), market), told.clone());
                told
            }
        };
        let receiver = &row["evidence"]["finalReceiver"];
        let buyer = if receiver.is_string() { receiver } else { &row["buyer"] };
        // A listing made to match a bid was sold at what the bidder gave.
        let price = bid_of(rows, row).map_or(&row["price"], |bid| &bid["price"]);
        let number = row["block"].to_string();
        let is_it = |trade: &Value| {
            trade["transaction_hash"] == row["tx"]
                && trade["token_ids"].as_array().unwrap().contains(&row["tokenId"])
                && trade["seller_address"] == row["seller"]
                && trade["buyer_address"] == *buyer
                && trade["token_address"] == row["collection"]
                && trade["marketplace_address"] == row["exchange"]
                && trade["price_token_address"] == row["currency"]
                && trade["price"] == *price
                && trade["block_number"] == number.as_str()
                && trade["block_timestamp"]
                    == api::date::iso_no_zone(row["timestamp"].as_u64().unwrap())
        };
        assert!(told.iter().any(is_it), "{row}\nnot among {told:#?}");
        counts.listed += 1;
    }
}

fn bid_of<'a>(rows: &[&'a Value], ask: &Value) -> Option<&'a Value> {
    let keys = ["tx", "collection", "tokenId", "seller"];
    let made_to_match = ask["side"] == "ask" && ask["seller"] == ask["buyer"];
    let mut bids = rows.iter().filter(|row| made_to_match && row["side"] == "bid");
    bids.find(|row| keys.iter().all(|key| row[*key] == ask[*key])).copied()
}

async fn lowest_price_is_known(
    client: &Client,
    collection: &str,
    told: &Value,
    counts: &mut Counts,
) {
    let path = format!("/api/v2.2/nft/{collection}/lowestprice?chain=eth&days=365");
    let answer = client.get_with(&path, &[("x-wire-profile", "live")]).await;
    assert_eq!(answer.status, 200, "{collection}: {}", answer.body);
    let ours = answer.json();
    if ours["price"] == told["lowest"]["price"] {
        assert_eq!(ours["transaction_hash"], told["lowest"]["tx"], "{collection}");
        assert_eq!(ours["token_ids"], serde_json::json!([told["lowest"]["tokenId"]]));
        counts.equal += 1;
        return;
    }
    // The file counts single tokens sold for native coin.
    let price = |value: &Value| text(value).parse::<u128>().unwrap();
    let is_more = ours["price_token_address"] != NATIVE
        || ours["token_quantities"] != serde_json::json!(["1"]);
    assert!(
        price(&ours["price"]) < price(&told["lowest"]["price"]) && is_more,
        "{collection}: {ours}"
    );
    counts.lower += 1;
}
