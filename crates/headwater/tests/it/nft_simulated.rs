//! Sales on the simulated chain, asked back through a server that read them from a node: followed,
//! reorganised, and filled from history.

use serde_json::{Value, json};
use testkit::{ExpectedSale, SimConfig, read, write};

use crate::client::Client;
use crate::world::{CHAIN, Live};

fn config() -> SimConfig {
    let (txs_per_block, nft_sales_per_block) = (8, 3);
    SimConfig { txs_per_block, nft_sales_per_block, wallets: 30, ..SimConfig::seeded(33) }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_sale_is_listed_and_the_cheapest_is_known_through_reorgs() {
    let live = Live::start(config(), 40, |serve| {
        serve.set(&format!("chains.{CHAIN}.contracts_of"), "\"eth\"")
    })
    .await;
    compare(&live).await;
    for (depth, added) in [(1, 2), (3, 4), (5, 5)] {
        write(&live.chain).reorg(depth, added);
        live.until_indexed().await;
        compare(&live).await;
    }
    let metrics = live.client.get("/metrics").await.body;
    assert!(metrics.contains("headwater_trades_decoded_total"), "{metrics}");
    assert!(!metrics.contains("headwater_trades_unreconciled_total"), "all sales are whole");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_without_known_marketplaces_has_no_trades() {
    let live = Live::start(config(), 5, |serve| serve).await;
    let contract = live.address("nft");
    assert_eq!(rows(&live.client, &contract, "", 10).await, Vec::<Value>::new());
}

async fn compare(live: &Live) {
    let contract = live.address("nft");
    let sales = read(&live.chain).expected_sales();
    assert!(sales.len() >= 100, "{} sales are too few to prove anything", sales.len());
    let all: Vec<Value> = sales.iter().map(|sale| row(live, sale)).collect();
    for limit in [4, 50] {
        assert_eq!(rows(&live.client, &contract, "", limit).await, all);
    }
    for market in ["opensea", "blur", "looksrare", "x2y2"] {
        let own = sales.iter().filter(|sale| sale.sale.venue.market() == market);
        let own: Vec<&ExpectedSale> = own.collect();
        let told = rows(&live.client, &contract, &format!("&marketplace={market}"), 7).await;
        assert_eq!(told, own.iter().map(|sale| row(live, sale)).collect::<Vec<_>>(), "{market}");
        // Newest first, so of equal prices the last is the oldest.
        let cheapest = own.iter().rev().min_by_key(|sale| sale.sale.price);
        let path = format!(
            "/api/v2.2/nft/{contract}/lowestprice?chain={CHAIN}&days=365&marketplace={market}"
        );
        let answer = live.client.get(&path).await;
        match cheapest {
            Some(sale) => {
                let mut expected = row(live, sale);
                for absent in ["token_address", "price_token_address", "verified_collection"] {
                    expected.as_object_mut().unwrap().remove(absent);
                }
                assert_eq!(answer.json(), expected);
            }
            None => assert_eq!(answer.status, 404),
        }
    }
}

/// As the interface's tables write it.
fn row(live: &Live, expected: &ExpectedSale) -> Value {
    let (at, sale) = (&expected.at, &expected.sale);
    let chain = read(&live.chain);
    let block = chain.block(at.block_number).unwrap();
    let ids: Vec<String> = sale.ids.iter().map(ToString::to_string).collect();
    json!({
        "transaction_hash": format!("{:#x}", at.hash),
        "transaction_index": at.tx_index.to_string(),
        "token_ids": ids,
        "seller_address": format!("{:#x}", sale.seller),
        "buyer_address": format!("{:#x}", sale.buyer),
        "token_address": format!("{:#x}", sale.contract),
        "marketplace_address": format!("{:#x}", sale.venue.exchange()),
        "price_token_address": format!("{:#x}", sale.currency),
        "price": sale.price.to_string(),
        "block_timestamp": api::date::iso_no_zone(block.header.timestamp),
        "block_number": at.block_number.to_string(),
        "block_hash": format!("{:#x}", block.hash),
        "verified_collection": "false",
    })
}

/// Operation 2, page after page to the end.
async fn rows(client: &Client, contract: &str, query: &str, limit: usize) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!(
            "/api/v2.2/nft/{contract}/trades?chain={CHAIN}{query}&limit={limit}&cursor={cursor}"
        );
        let answer = client.get(&path).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let mut page = answer.json();
        rows.append(page["result"].as_array_mut().unwrap());
        cursor = page["cursor"].as_str().unwrap().to_owned();
        if cursor.is_empty() {
            return rows;
        }
    }
}
