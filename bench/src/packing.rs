//! (k) How small a block's rows become, and what packing and unpacking costs: row by row and in frames, with and
//! without a dictionary. Dictionaries are trained on other blocks than those that are measured.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use model::chain::{ChainId, ChainTable};
use model::proof::Proof;
use model::raw::{Block, read_parity_traces, read_receipts};
use serde_json::value::RawValue;
use store::VerifiedBlock;
use zstd::zstd_safe::{CCtx, CDict, DCtx, DDict};

use crate::say;

const KINDS: [&str; 3] = ["txs", "logs", "traces"];
const ROUNDS: usize = 5;

/// Rows of one kind, block by block.
pub type Rows = Vec<Vec<Vec<u8>>>;

pub fn run() -> Result<()> {
    let Some(Recorded { measured, training, txs }) = recorded()? else { return Ok(()) };
    say(&format!(
        "packing: {txs} transactions of neighbouring blocks, dictionaries of others; best of {ROUNDS}"
    ))?;
    for (name, (rows, others)) in KINDS.iter().zip(measured.by_kind.iter().zip(&training.by_kind)) {
        measure(name, rows, others, txs)?;
    }
    measure("txs and logs", &measured.txs_and_logs, &training.txs_and_logs, txs)
}

fn measure(name: &str, rows: &Rows, training: &Rows, txs: usize) -> Result<()> {
    let raw: usize = rows.iter().flatten().map(Vec::len).sum();
    let count = rows.iter().flatten().count();
    let per_tx = |bytes: usize| bytes as f64 / txs as f64;
    say(&format!(
        "  {name}: {count} rows of {} bytes, {:.1} bytes/tx",
        raw / count.max(1),
        per_tx(raw)
    ))?;
    let lz4: usize =
        frames(rows, 16 << 10, true).iter().map(|frame| lz4_flex::compress(frame).len()).sum();
    say(&format!("    lz4, 16 KiB of neighbours          {:7.1} bytes/tx", per_tx(lz4)))?;
    let samples: Vec<&[u8]> = training.iter().flatten().map(Vec::as_slice).collect();
    let start = Instant::now();
    let trained = zstd::dict::from_samples(&samples, 112 << 10)?;
    let took = start.elapsed();
    let sampled: usize = samples.iter().map(|sample| sample.len()).sum();
    say(&format!(
        "    (dictionary of {} bytes from {sampled} bytes in {} ms)",
        trained.len(),
        took.as_millis()
    ))?;
    let small = zstd::dict::from_samples(&samples, 32 << 10)?;
    // The last of the samples as they are, without training.
    let mut plain: Vec<u8> = samples.concat();
    let plain = plain.split_off(plain.len().saturating_sub(112 << 10));
    let dictionaries: [(&str, Option<&[u8]>); 4] = [
        ("no dictionary", None),
        ("untrained 112 KiB", Some(&plain)),
        ("trained 32 KiB", Some(&small)),
        ("trained 112 KiB", Some(&trained)),
    ];
    let shapes = [
        ("rows of 16", frames(rows, 0, false)),
        ("8 KiB", frames(rows, 8 << 10, false)),
        ("16 KiB", frames(rows, 16 << 10, false)),
        ("32 KiB", frames(rows, 32 << 10, false)),
        ("64 KiB", frames(rows, 64 << 10, false)),
        ("64 KiB across blocks", frames(rows, 64 << 10, true)),
        ("256 KiB across blocks", frames(rows, 256 << 10, true)),
    ];
    for level in [-3, -1, 1, 3] {
        for (shape, frames) in &shapes {
            for (dictionary, bytes) in dictionaries {
                let cost = pack(frames, bytes, level)?;
                let us = |time: Duration| time.as_secs_f64() * 1e6;
                say(&format!(
                    "    level {level}, {shape:21} {dictionary:17} {:7.1} bytes/tx  pack {:6.2} us/tx  unpack {:6.2} us/tx, {:6.1} us/frame",
                    per_tx(cost.bytes),
                    us(cost.packing) / txs as f64,
                    us(cost.unpacking) / txs as f64,
                    us(cost.unpacking) / frames.len() as f64,
                ))?;
            }
        }
    }
    Ok(())
}

/// Rows one behind the other until a frame is at least so large; a frame ends with its block unless it is `across`.
fn frames(rows: &Rows, bytes_min: usize, across: bool) -> Vec<Vec<u8>> {
    let (mut all, mut frame) = (Vec::new(), Vec::new());
    for block in rows {
        for row in block {
            frame.extend_from_slice(row);
            if frame.len() >= bytes_min {
                all.push(std::mem::take(&mut frame));
            }
        }
        if !across && !frame.is_empty() {
            all.push(std::mem::take(&mut frame));
        }
    }
    if !frame.is_empty() {
        all.push(frame);
    }
    all
}

struct Cost {
    bytes: usize,
    packing: Duration,
    unpacking: Duration,
}

fn pack(frames: &[Vec<u8>], dictionary: Option<&[u8]>, level: i32) -> Result<Cost> {
    let failed = |code| anyhow::anyhow!("zstd: {}", zstd::zstd_safe::get_error_name(code));
    let with = dictionary.map(|bytes| (CDict::create(bytes, level), DDict::create(bytes)));
    let (mut packer, mut unpacker) = (CCtx::create(), DCtx::create());
    let mut cost = Cost { bytes: 0, packing: Duration::MAX, unpacking: Duration::MAX };
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut packed = Vec::with_capacity(frames.len());
        for frame in frames {
            let mut out = Vec::with_capacity(zstd::zstd_safe::compress_bound(frame.len()));
            match &with {
                Some((dictionary, _)) => packer.compress_using_cdict(&mut out, frame, dictionary),
                None => packer.compress(&mut out, frame, level),
            }
            .map_err(failed)?;
            packed.push(out);
        }
        let between = Instant::now();
        let mut out = Vec::new();
        for (frame, packed) in frames.iter().zip(&packed) {
            out.clear();
            out.reserve(frame.len());
            match &with {
                Some((_, dictionary)) => {
                    unpacker.decompress_using_ddict(&mut out, packed, dictionary)
                }
                None => unpacker.decompress(&mut out, packed),
            }
            .map_err(failed)?;
            anyhow::ensure!(out == *frame, "it does not come back");
        }
        cost.packing = cost.packing.min(between - start);
        cost.unpacking = cost.unpacking.min(between.elapsed());
        cost.bytes = packed.iter().map(Vec::len).sum();
    }
    Ok(cost)
}

#[derive(Default)]
pub struct RecordedRows {
    /// Transactions, logs, traces.
    pub by_kind: [Rows; 3],
    pub txs_and_logs: Rows,
}

pub struct Recorded {
    /// Of neighbouring blocks.
    pub measured: RecordedRows,
    /// Of others.
    pub training: RecordedRows,
    /// How many transactions the first have.
    pub txs: usize,
}

/// None where there are no recorded blocks.
pub fn recorded() -> Result<Option<Recorded>> {
    let Some(fixtures) = testkit::fixtures::fixtures_dir() else {
        testkit::fixtures::skip("packing real blocks");
        return Ok(None);
    };
    let folder = fixtures.join("blocks-mainnet");
    let chain = ChainTable::builtin()?.find("eth").context("eth")?.id;
    let (measured, txs) = rows(&folder, chain, "contig-")?;
    let (training, _) = rows(&folder, chain, "single")?;
    Ok(Some(Recorded { measured, training, txs }))
}

/// The rows of all blocks in folders of that name, and how many transactions there are.
fn rows(folder: &Path, chain: ChainId, name: &str) -> Result<(RecordedRows, usize)> {
    let mut rows = RecordedRows::default();
    let mut txs = 0;
    for path in files(folder, name)? {
        let block = read(&path)?;
        txs += block.txs.len();
        let mut proof = Proof::default();
        for part in [Proof::HEADER, Proof::TRANSACTIONS, Proof::RECEIPTS] {
            proof.add(part);
        }
        let facts = model::facts::Facts::default();
        let of_block = store::body_rows(chain, VerifiedBlock { block, proof, facts });
        for (all, some) in rows.by_kind.iter_mut().zip(of_block.by_kind) {
            all.push(some);
        }
        rows.txs_and_logs.push(of_block.txs_and_logs);
    }
    Ok((rows, txs))
}

fn files(folder: &Path, name: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_meant = path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(name));
        if is_meant && path.is_dir() {
            for file in std::fs::read_dir(path)? {
                files.push(file?.path());
            }
        }
    }
    files.retain(|path| path.to_string_lossy().ends_with(".json.gz"));
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<Block> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    let record: std::collections::HashMap<&str, &RawValue> = serde_json::from_str(&text)?;
    let part = |name| record.get(name).map(|raw| raw.get()).context("a part is missing");
    let mut block = Block::read(part("block")?.as_bytes())?.context("null block")?;
    block.set_receipts(read_receipts(part("receipts")?.as_bytes())?)?;
    if let Ok(traces) = part("traces")
        && traces != "null"
    {
        block.traces = Some(read_parity_traces(traces, &block.txs)?);
    }
    Ok(block)
}
