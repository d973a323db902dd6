//! Simulated blocks as files for `headwater import`.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use testkit::{SimChain, SimConfig};

/// The chain of tests that need no node: the same blocks on every machine.
pub fn chain(blocks: usize) -> SimChain {
    let config = SimConfig { txs_per_block: 12, wallets: 40, ..SimConfig::seeded(11) };
    let mut chain = SimChain::new(config);
    chain.extend(blocks);
    chain
}

#[derive(Clone, Copy, PartialEq)]
pub enum Traces {
    Geth,
    Parity,
    Without,
}

/// One record a line.
pub fn write(
    folder: &Path,
    chain: &SimChain,
    blocks: RangeInclusive<u64>,
    traces: Traces,
) -> PathBuf {
    let path = folder.join(format!("blocks-{}-{}.jsonl", blocks.start(), blocks.end()));
    let mut out = Vec::new();
    for number in blocks {
        let mut part = |name: &str, json: &[u8]| {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(json);
        };
        part("{\"block\":", &chain.block_json(number, true).unwrap());
        part(",\"receipts\":", &chain.receipts_json(number).unwrap());
        match traces {
            Traces::Geth => part(",\"traces\":", &chain.traces_geth_json(number).unwrap()),
            Traces::Parity => part(",\"traces\":", &chain.traces_parity_json(number).unwrap()),
            Traces::Without => {}
        }
        out.extend_from_slice(b"}\n");
    }
    std::fs::write(&path, out).unwrap();
    path
}
