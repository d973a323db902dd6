//! The ledger identity: every wei of every account is explained by what the JSON says.
//!
//! after − before = value in − value out (frames that stand) − fees + tips as miner + withdrawals.

use crate::{
    json::{address, list, parse, u64, u128},
    traces::{Row, geth_rows, parity_rows},
};
use alloy_primitives::Address;
use serde_json::Value;
use std::collections::BTreeMap;
use testkit::{SimChain, SimConfig};

type Deltas = BTreeMap<Address, i128>;

/// Whether a frame or one above it failed.
pub fn is_undone(row: &Row, rows: &[Row]) -> bool {
    let above = |other: &&Row| other.tx == row.tx && row.path.starts_with(&other.path);
    rows.iter().filter(above).any(|other| other.failed)
}

pub fn moves_value(row: &Row) -> bool {
    matches!(row.kind.as_str(), "call" | "create" | "create2" | "selfdestruct")
}

fn add(deltas: &mut Deltas, address: Address, amount: i128) {
    *deltas.entry(address).or_default() += amount;
}

fn add_fees(deltas: &mut Deltas, block: &Value, receipts: &Value) {
    let base_fee = u128(block, "baseFeePerGas");
    for receipt in receipts.as_array().unwrap() {
        let (gas, price) = (u128(receipt, "gasUsed"), u128(receipt, "effectiveGasPrice"));
        let blobs = match receipt["blobGasUsed"].as_str() {
            Some(_) => u128(receipt, "blobGasUsed") * u128(receipt, "blobGasPrice"),
            None => 0,
        };
        add(deltas, address(receipt, "from"), -((gas * price + blobs) as i128));
        add(deltas, address(block, "miner"), (gas * (price - base_fee)) as i128);
    }
    for withdrawal in list(block, "withdrawals") {
        let wei = u64(withdrawal, "amount") as i128 * 1_000_000_000;
        add(deltas, address(withdrawal, "address"), wei);
    }
}

fn add_moves(deltas: &mut Deltas, rows: &[Row]) {
    for row in rows.iter().filter(|row| moves_value(row) && !is_undone(row, rows)) {
        add(deltas, row.from, -(row.value as i128));
        add(deltas, row.to.unwrap(), row.value as i128);
    }
}

#[test]
fn the_ledger_identity_holds_over_two_hundred_blocks_in_both_dialects() {
    let mut chain = SimChain::new(SimConfig { txs_per_block: 15, ..SimConfig::seeded(31) });
    chain.extend(200);
    for number in 1..=200 {
        let block = parse(&chain.block_json(number, true).unwrap());
        let receipts = parse(&chain.receipts_json(number).unwrap());
        for rows in [geth_rows(&chain, number), parity_rows(&chain, number)] {
            let mut deltas = Deltas::new();
            add_fees(&mut deltas, &block, &receipts);
            add_moves(&mut deltas, &rows);
            for change in &chain.block(number).unwrap().changes {
                deltas.entry(change.address).or_default();
            }
            for (address, delta) in deltas {
                let before = chain.account_at(address, number - 1).balance as i128;
                let after = chain.account_at(address, number).balance as i128;
                assert_eq!(after - before, delta, "{address} in block {number}");
            }
        }
    }
}
