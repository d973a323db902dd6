//! Verification of real blocks, where the fixtures are at hand.

use std::path::{Path, PathBuf};

use ingest::source::files;
use ingest::verify::{Rules, Senders, verify};
use model::chain::{ChainTable, Verification};
use model::proof::{Level, Proof};
use model::raw::Block;
use serde_json::Value;

/// Files of a folder of the fixtures, and of the folders in it.
fn files_in(folder: &str) -> Option<Vec<PathBuf>> {
    let Some(root) = testkit::fixtures::fixtures_dir() else {
        testkit::fixtures::skip(folder);
        return None;
    };
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|e| e == "gz") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    assert!(found.len() > 20, "{folder}");
    Some(found)
}

fn rules(chain_id: u64) -> Rules {
    let table = ChainTable::builtin().unwrap();
    match table.get(chain_id.into()) {
        Some(chain) => Rules::of(chain, Senders::All),
        None => {
            let verification = Verification::Lenient;
            Rules { verification, chain_id, genesis: None, senders: Senders::All }
        }
    }
}

fn read_gz(path: &Path) -> Value {
    let file = std::fs::File::open(path).unwrap();
    serde_json::from_reader(flate2::read::MultiGzDecoder::new(file)).unwrap()
}

fn written(block: &Block) -> Value {
    let mut out = Vec::new();
    block.write_json(true, &mut out);
    serde_json::from_slice(&out).unwrap()
}

/// Every block of these files is proven whole; says how many have transactions.
fn all_verified(paths: &[PathBuf]) -> usize {
    let mut whole = 0;
    for path in paths {
        for block in files::open(path).unwrap() {
            let block = block.unwrap();
            let proof = verify(&block, &rules(1)).unwrap_or_else(|lie| panic!("{path:?}: {lie}"));
            assert_eq!(proof.level(), Level::Verified, "{path:?}");
            assert!(proof.has(Proof::SENDERS), "{path:?}");
            assert_eq!(proof.has(Proof::TRACES), block.traces.is_some(), "{path:?}");
            whole += usize::from(!block.txs.is_empty());
        }
    }
    whole
}

fn is_lines(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".jsonl.gz")
}

#[test]
fn mainnet_blocks_are_verified_with_every_sender() {
    let Some(paths) = files_in("blocks-mainnet") else { return };
    let paths: Vec<PathBuf> = paths.into_iter().filter(|path| !is_lines(path)).collect();
    assert!(all_verified(&paths) >= 60);
}

#[test]
fn the_first_mainnet_blocks_are_verified() {
    let Some(paths) = files_in("blocks-mainnet") else { return };
    let paths: Vec<PathBuf> = paths.into_iter().filter(|path| is_lines(path)).collect();
    assert_eq!(all_verified(&paths), 0, "they are all empty");
}

#[test]
fn blocks_of_other_chains_are_never_refused_and_proven_as_far_as_known() {
    let Some(paths) = files_in("blocks-multichain") else { return };
    for path in paths {
        let file = read_gz(&path);
        let meta = &file["meta"];
        let block = files::open(&path).unwrap().next().unwrap().unwrap();
        let rules = rules(meta["chainId"].as_u64().unwrap());
        let proof = verify(&block, &rules).unwrap_or_else(|lie| panic!("{path:?}: {lie}"));
        let is = |name: &str| meta[name] == Value::Bool(true);
        assert_eq!(proof.has(Proof::HEADER), is("headerHashOk"), "{path:?} {meta}");
        assert_eq!(proof.has(Proof::TRANSACTIONS), is("txRootOk"), "{path:?} {meta}");
        assert_eq!(written(&block), file["block"], "{path:?}");
        let is_traced = file["traces"].as_array().is_some_and(|list| !list.is_empty());
        assert_eq!(block.traces.is_some(), is_traced || block.txs.is_empty(), "{path:?}");
        assert_eq!(proof.has(Proof::TRACES), block.traces.is_some(), "{path:?}");
    }
}

#[test]
fn traces_of_mainnet_blocks_are_all_read_and_consistent() {
    let Some(paths) = files_in("blocks-mainnet") else { return };
    let (mut traced, mut frames) = (0, 0);
    for path in paths.iter().filter(|path| !is_lines(path)) {
        let file = read_gz(path);
        if file["traces"].as_array().is_none_or(Vec::is_empty) {
            continue;
        }
        let block = files::open(path).unwrap().next().unwrap().unwrap();
        let proof = verify(&block, &rules(1)).unwrap_or_else(|lie| panic!("{path:?}: {lie}"));
        assert!(proof.has(Proof::TRACES), "{path:?}");
        traced += 1;
        frames += block.traces.iter().flatten().map(Vec::len).sum::<usize>();
    }
    println!("{frames} frames of {traced} blocks are consistent");
    assert!(traced > 40 && frames > 10_000, "{traced} {frames}");
}

/// Some sources of the recordings spell traces otherwise than nodes do.
#[test]
fn recorded_traces_are_written_as_they_were_read_or_left_to_a_node() {
    let Some(paths) = files_in("blocks-mainnet") else { return };
    let (mut exact, mut traced) = (0, 0);
    for path in paths.iter().filter(|path| !is_lines(path)) {
        let file = read_gz(path);
        let block = files::open(path).unwrap().next().unwrap().unwrap();
        if block.txs.is_empty() || block.traces.is_none() {
            continue;
        }
        traced += 1;
        let Some(written) = block.write_traces() else { continue };
        exact += 1;
        let written: Value = serde_json::from_str(&written).unwrap();
        assert!(written == file["traces"], "{path:?}");
    }
    println!("traces of {exact} of {traced} blocks are written as they were read");
    assert!(exact > 20, "{exact} of {traced}");
}

#[test]
fn mainnet_blocks_are_written_as_they_were_read() {
    let Some(paths) = files_in("blocks-mainnet") else { return };
    for path in paths.iter().filter(|path| !is_lines(path)) {
        let file = read_gz(path);
        let block = files::open(path).unwrap().next().unwrap().unwrap();
        assert_eq!(written(&block), file["block"], "{path:?}");
        let receipts: Vec<Value> = block
            .receipts
            .iter()
            .flatten()
            .map(|receipt| {
                let mut out = Vec::new();
                receipt.write_json(&mut out);
                serde_json::from_slice(&out).unwrap()
            })
            .collect();
        assert_eq!(Value::Array(receipts), file["receipts"], "{path:?}");
    }
}
