//! Blocks to change: simulated ones of every fork, recorded ones of every fork of mainnet.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use ingest::source::read_record;
use ingest::verify::{Rules, Senders, verify};
use model::chain::{Chain, ChainId, ChainTable, PrivateChain, Verification};
use model::proof::Proof;
use serde_json::{Value, json};
use testkit::lies::BlockLie;
use testkit::{Fork, SimChain, SimConfig};

/// Blocks of one chain under one set of rules.
pub struct Case {
    pub name: String,
    pub chain: Arc<Chain>,
    pub records: Vec<Value>,
}

/// What becomes of a record.
pub enum Outcome {
    Refused(String),
    Stored(Proof),
}

const CHAIN: ChainId = ChainId(1337);

pub fn outcome(record: &Value, chain: &Chain) -> Outcome {
    let block = match read_record(record.to_string().as_bytes()) {
        Ok(block) => block,
        Err(malformed) => return Outcome::Refused(malformed.to_string()),
    };
    match verify(&block, &Rules::of(chain, Senders::All)) {
        Ok(proof) => Outcome::Stored(proof),
        Err(lie) => Outcome::Refused(lie.to_string()),
    }
}

/// The record with the change in it, where it has something to change.
pub fn changed(record: &Value, lie: &BlockLie) -> Option<Value> {
    let mut record = record.clone();
    let part = if lie.is_about_receipts() { "receipts" } else { "block" };
    lie.apply(record.get_mut(part)?).then_some(record)
}

pub fn simulated() -> Vec<Case> {
    let forks = Fork::ALL.into_iter().map(|fork| sim_case(fork, false));
    forks.chain([sim_case(Fork::Prague, true)]).collect()
}

fn sim_case(fork: Fork, op_stack: bool) -> Case {
    let config = SimConfig {
        fork,
        op_stack,
        txs_per_block: 10,
        wallets: 20,
        withdrawals_per_block: if op_stack { 0 } else { 2 },
        ..SimConfig::seeded(31)
    };
    let mut sim = SimChain::new(config);
    sim.extend(18);
    let parse = |bytes: &[u8]| -> Value { serde_json::from_slice(bytes).unwrap() };
    let record = |number| {
        json!({
            "block": parse(&sim.block_json(number, true).unwrap()),
            "receipts": parse(&sim.receipts_json(number).unwrap()),
            "traces": parse(&sim.traces_geth_json(number).unwrap()),
        })
    };
    let mut private = PrivateChain::new(CHAIN, "sim");
    let family = if op_stack { Verification::OpStack } else { Verification::Full };
    private.verification = Some(family);
    let table = ChainTable::default().with_private(private).unwrap();
    Case {
        name: format!("simulated {fork:?}{}", if op_stack { ", OP stack" } else { "" }),
        chain: Arc::new(table.get(CHAIN).unwrap().clone()),
        records: (1..=18).map(record).collect(),
    }
}

/// Recorded mainnet blocks with all receipts, the smallest few of every fork.
pub fn recorded() -> Option<Vec<Case>> {
    let Some(root) = testkit::fixtures::fixtures_dir() else {
        testkit::fixtures::skip("blocks-mainnet");
        return None;
    };
    let eth = Arc::new(ChainTable::builtin().unwrap().get(ChainId(1)).unwrap().clone());
    let mut found: Vec<(usize, u64, Value)> = Vec::new();
    for path in files(root.join("blocks-mainnet/single")) {
        let mut text = String::new();
        let file = std::fs::File::open(&path).unwrap();
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        let number = record["block"]["number"].as_str().unwrap().trim_start_matches("0x");
        let number = u64::from_str_radix(number, 16).unwrap();
        found.push((record["block"]["transactions"].as_array().unwrap().len(), number, record));
    }
    found.sort_by_key(|(count, number, _)| (*count, *number));
    let case = |(name, from, to): (&str, u64, u64)| {
        let of_fork =
            found.iter().filter(|(count, number, _)| *count > 0 && (from..to).contains(number));
        let records: Vec<Value> = of_fork.take(2).map(|(.., record)| record.clone()).collect();
        assert!(!records.is_empty(), "{name}");
        Case { name: format!("recorded {name}"), chain: eth.clone(), records }
    };
    Some(MAINNET.map(case).into())
}

/// Forks of mainnet that changed a form, by block.
const MAINNET: [(&str, u64, u64); 7] = [
    ("Homestead", 0, 4_370_000),
    ("Byzantium", 4_370_000, 12_244_000),
    ("Berlin", 12_244_000, 12_965_000),
    ("London", 12_965_000, 15_537_394),
    ("Paris", 15_537_394, 17_034_870),
    ("Shanghai", 17_034_870, 19_426_587),
    ("Cancun", 19_426_587, 22_431_084),
];

fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".json.gz"));
    paths.sort();
    paths
}
