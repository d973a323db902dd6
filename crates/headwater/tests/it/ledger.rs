//! The ledger identity, from the API's answers alone: operation 1 with internal transactions for what
//! moved and what was paid for it, operation 6 for the block's miner, base fee, blobs, withdrawals.
//!
//! after − before = value in − value out − fees + tips as miner + withdrawals

use std::collections::{BTreeMap, BTreeSet, HashMap};

use alloy_primitives::{I256, U256};
use serde_json::Value;

use crate::client::{Client, Row};

const GWEI: u64 = 1_000_000_000;
/// Blob gas of one blob, and how fast its price rises (EIP-7691).
const GAS_PER_BLOB: u64 = 1 << 17;
const BLOB_PRICE_FRACTION: u64 = 5_007_716;

/// One block's ledger as the API tells it.
pub struct BlockLedger {
    number: u64,
    /// Operation 1 of everyone who was asked for so far.
    rows: HashMap<String, Vec<Row>>,
    miner: String,
    /// What the miner got.
    tips: U256,
    /// What blobs cost, by transaction.
    blob_fees: HashMap<String, U256>,
    pub withdrawals: BTreeMap<String, U256>,
}

impl BlockLedger {
    pub async fn read(client: &Client, chain: &str, hash: &str) -> Self {
        let block = client.rpc(chain, "eth_getBlockByHash", serde_json::json!([hash, true])).await;
        let mut ledger = BlockLedger {
            number: quantity(&block["number"]).to(),
            rows: HashMap::new(),
            miner: text(&block["miner"]),
            tips: U256::ZERO,
            blob_fees: blob_fees(&block),
            withdrawals: withdrawals(&block),
        };
        let base_fee = quantity(&block["baseFeePerGas"]);
        let transactions = block["transactions"].as_array().unwrap();
        let senders: BTreeSet<String> = transactions.iter().map(|tx| text(&tx["from"])).collect();
        let mut seen = 0;
        for sender in senders {
            for row in ledger.rows_of(client, chain, &sender).await {
                if row.from_address == sender {
                    ledger.tips += row.receipt_gas_used.0 * (row.gas_price.0 - base_fee);
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, transactions.len(), "every transaction is a row of its sender");
        ledger
    }

    async fn rows_of(&mut self, client: &Client, chain: &str, address: &str) -> Vec<Row> {
        if let Some(rows) = self.rows.get(address) {
            return rows.clone();
        }
        let number = self.number;
        let query = format!(
            "chain={chain}&from_block={number}&to_block={number}&include=internal_transactions"
        );
        let rows = client.whole_wallet(address, &query, 500).await;
        self.rows.insert(address.to_owned(), rows.clone());
        rows
    }

    /// What the block did to the account.
    pub async fn delta(&mut self, client: &Client, chain: &str, address: &str) -> I256 {
        let rows = self.rows_of(client, chain, address).await;
        let mut delta =
            rows.iter().map(|row| self.of_row(row, address)).fold(I256::ZERO, |a, b| a + b);
        if self.miner == address {
            delta += signed(self.tips);
        }
        delta + signed(self.withdrawals.get(address).copied().unwrap_or_default())
    }

    fn of_row(&self, row: &Row, address: &str) -> I256 {
        let mut delta = I256::ZERO;
        let mut transfer = |from: &str, to: Option<&str>, value: U256| {
            if from == address {
                delta -= signed(value);
            }
            if to == Some(address) {
                delta += signed(value);
            }
        };
        if row.receipt_status.is_none_or(|status| !status.0.is_zero()) {
            let to = row.to_address.as_deref().or(row.receipt_contract_address.as_deref());
            transfer(&row.from_address, to, row.value.0);
        }
        let inside =
            row.internal_transactions.as_ref().expect("internal transactions were asked for");
        for inner in inside.iter().filter(|inner| inner.moves_value()) {
            transfer(&inner.from, Some(&inner.to), inner.value.0);
        }
        if row.from_address == address {
            let blobs = self.blob_fees.get(&row.hash).copied().unwrap_or_default();
            delta -= signed(row.receipt_gas_used.0 * row.gas_price.0 + blobs);
        }
        delta
    }
}

fn blob_fees(block: &Value) -> HashMap<String, U256> {
    let Some(excess) = block["excessBlobGas"].as_str() else { return HashMap::new() };
    let price = blob_price(excess.trim_start_matches("0x"));
    let fee = |tx: &Value| {
        let blobs = tx["blobVersionedHashes"].as_array()?.len() as u64;
        Some((text(&tx["hash"]), U256::from(blobs * GAS_PER_BLOB) * price))
    };
    block["transactions"].as_array().unwrap().iter().filter_map(fee).collect()
}

/// e^(excess / fraction) in whole numbers, as EIP-4844 defines it.
fn blob_price(excess_hex: &str) -> U256 {
    let excess = U256::from_str_radix(excess_hex, 16).unwrap();
    let fraction = U256::from(BLOB_PRICE_FRACTION);
    let (mut sum, mut term, mut i) = (U256::ZERO, fraction, U256::from(1));
    while !term.is_zero() {
        sum += term;
        term = term * excess / (fraction * i);
        i += U256::from(1);
    }
    sum / fraction
}

fn withdrawals(block: &Value) -> BTreeMap<String, U256> {
    let mut sums = BTreeMap::new();
    for withdrawal in block["withdrawals"].as_array().into_iter().flatten() {
        let wei = quantity(&withdrawal["amount"]) * U256::from(GWEI);
        *sums.entry(text(&withdrawal["address"])).or_default() += wei;
    }
    sums
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

pub fn quantity(value: &Value) -> U256 {
    U256::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

pub fn signed(value: U256) -> I256 {
    I256::try_from(value).unwrap()
}
