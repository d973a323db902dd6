//! How fast blocks are made and rendered: `cargo run --release -p testkit --example speed`.

use std::time::Instant;
use testkit::{SimChain, SimConfig};

fn main() {
    let config =
        SimConfig { txs_per_block: 150, wallets: 1_000, keep_text: false, ..SimConfig::default() };
    let mut chain = SimChain::new(config);
    let start = Instant::now();
    let blocks = chain.extend(400);
    let txs: usize = blocks.iter().map(|block| block.txs.len()).sum();
    let gas: u64 = blocks.iter().map(|block| block.header.gas_used).sum();
    report("generated", txs, start);
    let start = Instant::now();
    let bytes: usize =
        blocks.iter().map(|b| b.block_json(true).len() + b.receipts_json().len()).sum();
    report("block and receipts rendered", txs, start);
    let start = Instant::now();
    let traces: usize = blocks.iter().map(|block| block.traces_geth_json().len()).sum();
    report("traces rendered", txs, start);
    eprintln!(
        "{} gas/tx, {} JSON bytes/tx, {} trace bytes/tx",
        gas / txs as u64,
        bytes / txs,
        traces / txs
    );
    for block in blocks.iter().step_by(50) {
        eprintln!(
            "base fee {} gwei, blob excess {:?}",
            block.base_fee() / 1_000_000_000,
            block.header.excess_blob_gas
        );
    }
}

fn report(what: &str, txs: usize, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    eprintln!(
        "{what}: {txs} transactions in {seconds:.2} s, {:.0} per second",
        txs as f64 / seconds
    );
}
