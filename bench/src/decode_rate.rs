//! (f) What decoding costs: all decoders on real blocks, held against `serde_json` reading the same
//! blocks and receipts into its own tree, in the same run.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use decode::Decoder;
use model::chain::ChainTable;
use model::raw::Block;
use model::raw::read_receipts;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::say;

/// The most that decoding may cost, in parts of that reading.
const GOAL: f64 = 0.25;

struct Real {
    block_json: String,
    receipts_json: String,
    block: Block,
}

pub fn run(rounds: usize) -> Result<()> {
    let Some(fixtures) = testkit::fixtures::fixtures_dir() else {
        testkit::fixtures::skip("decoding real blocks");
        return Ok(());
    };
    let mut files = Vec::new();
    find_blocks(&fixtures.join("blocks-mainnet"), &mut files)?;
    let blocks: Vec<Real> = files.iter().map(|path| read(path)).collect::<Result<_>>()?;
    let table = ChainTable::builtin()?;
    let decoder = Decoder::new(table.find("eth").context("eth")?);
    let bytes: usize = blocks.iter().map(|it| it.block_json.len() + it.receipts_json.len()).sum();
    let txs: usize = blocks.iter().map(|it| it.block.txs.len()).sum();

    // The quickest round of each: what disturbs a run only ever makes it slower.
    let (mut parsing, mut decoding) = (Duration::MAX, Duration::MAX);
    let mut trades = 0;
    for _ in 0..rounds.max(1) {
        let start = Instant::now();
        for real in &blocks {
            std::hint::black_box(serde_json::from_str::<Value>(&real.block_json)?);
            std::hint::black_box(serde_json::from_str::<Value>(&real.receipts_json)?);
        }
        parsing = parsing.min(start.elapsed());
        let start = Instant::now();
        trades = blocks.iter().map(|real| decoder.decode(&real.block).trades.len()).sum();
        decoding = decoding.min(start.elapsed());
    }
    let ratio = decoding.as_secs_f64() / parsing.as_secs_f64();
    let per_tx = |time: Duration| time.as_secs_f64() * 1e6 / txs as f64;
    say(&format!(
        "decode: {} real blocks, {txs} transactions, {:.1} MB of JSON, {trades} trades; best of {rounds}",
        blocks.len(),
        bytes as f64 / 1e6
    ))?;
    say(&format!("  serde_json to its own tree {:8.3} us/tx", per_tx(parsing)))?;
    say(&format!("  all decoders               {:8.3} us/tx", per_tx(decoding)))?;
    let word = if ratio <= GOAL { "within" } else { "over" };
    say(&format!("  ratio {:.2} %, {word} the {:.0} % allowed", 100.0 * ratio, 100.0 * GOAL))
}

fn find_blocks(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_blocks(&path, files)?;
        } else if path.to_string_lossy().ends_with(".json.gz") {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

fn read(path: &Path) -> Result<Real> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    let record: std::collections::HashMap<&str, &RawValue> = serde_json::from_str(&text)?;
    let part = |name| record.get(name).map(|raw| raw.get().to_owned()).context("a part is missing");
    let (block_json, receipts_json) = (part("block")?, part("receipts")?);
    let mut block = Block::read(block_json.as_bytes())?.context("null block")?;
    block.set_receipts(read_receipts(receipts_json.as_bytes())?)?;
    Ok(Real { block_json, receipts_json, block })
}
