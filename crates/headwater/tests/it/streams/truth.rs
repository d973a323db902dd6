//! What a stream must have been told, made from the chain alone, the slow and obvious way.

use std::collections::BTreeSet;

use serde_json::Value;
use testkit::{SharedChain, read};

/// Items of confirmed blocks: block hash, kind, and what names the item.
pub type Items = BTreeSet<(String, &'static str, String)>;

#[derive(Clone, Debug)]
pub struct Watched {
    pub name: String,
    pub addresses: Vec<String>,
    pub logs: bool,
    pub internals: bool,
    pub retractions: bool,
}

fn is_any(addresses: &[String], value: &Value) -> bool {
    value.as_str().is_some_and(|text| addresses.iter().any(|it| it.eq_ignore_ascii_case(text)))
}

fn mentions(addresses: &[String], log: &Value) -> bool {
    let topics =
        log["topics"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()[2..].to_owned());
    let data = log["data"].as_str().unwrap()[2..].to_owned();
    let words: Vec<String> = topics
        .chain(data.as_bytes().chunks_exact(64).map(|it| String::from_utf8_lossy(it).into_owned()))
        .collect();
    let padded = |address: &String| format!("{}{}", "0".repeat(24), &address[2..]);
    is_any(addresses, &log["address"])
        || addresses
            .iter()
            .any(|it| words.iter().any(|word| word.eq_ignore_ascii_case(&padded(it))))
}

pub fn expected(
    chain: &SharedChain,
    watched: &Watched,
    blocks: std::ops::RangeInclusive<u64>,
) -> Items {
    let chain = read(chain);
    let mut items = Items::new();
    for number in blocks {
        let block: Value =
            serde_json::from_slice(&chain.block_json(number, true).unwrap()).unwrap();
        let receipts: Value =
            serde_json::from_slice(&chain.receipts_json(number).unwrap()).unwrap();
        let hash = block["hash"].as_str().unwrap().to_owned();
        for (tx, receipt) in
            block["transactions"].as_array().unwrap().iter().zip(receipts.as_array().unwrap())
        {
            let created =
                if receipt["status"] == "0x1" { &receipt["contractAddress"] } else { &Value::Null };
            if [&tx["from"], &tx["to"], created].iter().any(|it| is_any(&watched.addresses, it)) {
                items.insert((hash.clone(), "tx", tx["hash"].as_str().unwrap().to_owned()));
            }
            for log in receipt["logs"].as_array().unwrap() {
                if watched.logs && mentions(&watched.addresses, log) {
                    let index = log["logIndex"].as_str().unwrap().trim_start_matches("0x");
                    let index = u64::from_str_radix(index, 16).unwrap().to_string();
                    items.insert((hash.clone(), "log", index));
                }
            }
        }
        if watched.internals {
            internals(&chain.block(number).unwrap(), watched, &hash, &mut items);
        }
    }
    items
}

fn internals(block: &testkit::SimBlock, watched: &Watched, hash: &str, items: &mut Items) {
    for tx in &block.txs {
        let inside = watched.addresses.iter().filter(|it| tx.moves_inside_for(it.parse().unwrap()));
        if inside.count() > 0 {
            items.insert((hash.to_owned(), "internal", format!("{:#x}", tx.hash)));
        }
    }
}

/// What a delivery says.
pub fn told(body: &Value, items: &mut Items) {
    let hash = body["block"]["hash"].as_str().unwrap().to_owned();
    for tx in body["txs"].as_array().unwrap() {
        items.insert((hash.clone(), "tx", tx["hash"].as_str().unwrap().to_owned()));
    }
    for log in body["logs"].as_array().unwrap() {
        items.insert((hash.clone(), "log", log["logIndex"].as_str().unwrap().to_owned()));
    }
    for tx in body["txsInternal"].as_array().unwrap() {
        let named = tx["transactionHash"].as_str().unwrap().to_owned();
        items.insert((hash.clone(), "internal", named));
    }
}
