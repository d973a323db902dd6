//! Finds and reads the real chain data that lies beside the project.

use std::io::Read;
use std::path::{Path, PathBuf};

use alloy_primitives::Address;
use model::raw::{Block, Receipt, Tx};
use serde_json::Value;

/// `$HEADWATER_FIXTURES`, else `shared/fixtures` beside the workspace. Absence is said aloud: a test
/// that cannot run must not look like one that passed.
pub fn fixtures(what: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folder = std::env::var_os("HEADWATER_FIXTURES").map_or_else(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: {what}: fixtures not found (set HEADWATER_FIXTURES to the folder)");
    None
}

pub fn text(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    match path.extension().is_some_and(|it| it == "gz") {
        true => flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap(),
        false => bytes.as_slice().read_to_string(&mut text).unwrap(),
    };
    text
}

pub fn json(path: &Path) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

pub fn lines(path: &Path) -> Vec<Value> {
    text(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn mainnet_blocks(fixtures: &Path) -> Vec<Block> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(fixtures.join("blocks-mainnet")).unwrap() {
        let folder = entry.unwrap().path();
        if folder.is_dir() {
            files.extend(std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    let mut blocks: Vec<Block> = files.iter().map(|path| block(&json(path), "receipts")).collect();
    blocks.sort_by_key(|block| block.number);
    blocks
}

pub fn block(record: &Value, receipts: &str) -> Block {
    let mut block = Block::read(record["block"].to_string().as_bytes()).unwrap().unwrap();
    let receipts: Vec<Receipt> = serde_json::from_str(&record[receipts].to_string()).unwrap();
    block.set_receipts(receipts).unwrap();
    block
}

/// A block of one transaction, of which nothing but the receipt is known.
pub fn block_of(receipt: &Value) -> Block {
    let receipt: Receipt = serde_json::from_str(&receipt.to_string()).unwrap();
    Block { txs: vec![Tx::default()], receipts: vec![Some(receipt)], ..Block::default() }
}

pub fn address(value: &Value) -> Address {
    value.as_str().and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("no address: {value}"))
}
