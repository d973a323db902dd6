//! Headers: what follows from the parent (fees, blob market) and what follows from the block (roots).

use super::{
    SimConfig,
    block::{Ending, SimBlock},
    builder::BlockBuilder,
    state::AccountChange,
};
use alloy_consensus::{EMPTY_ROOT_HASH, Header, proofs};
use alloy_eips::{
    eip1559::{BaseFeeParams, calc_next_block_base_fee},
    eip7685::EMPTY_REQUESTS_HASH,
    eip7840::BlobParams,
};
use alloy_primitives::{B256, Bloom, Keccak256, U256};
use rand::Rng;

/// With this much gas per transaction on average the base fee stands still.
const GAS_TARGET_PER_TX: u64 = 65_000;
const GAS_LIMIT_MIN: u64 = 600_000;
const BASE_FEE_START: u64 = 12_000_000_000;
/// Blob gas above which blocks hold fewer blobs than the target, so that their price comes down.
const EXCESS_BLOB_GAS_HIGH: u64 = 20_000_000;

/// Fees and limits of the block after `parent`.
pub(super) struct Terms {
    pub base_fee: u64,
    pub excess_blob_gas: u64,
    pub blob_price: u128,
    pub blobs_max: usize,
}

pub(super) fn next_terms(parent: &Header) -> Terms {
    let blobs = BlobParams::prague();
    let base_fee = calc_next_block_base_fee(
        parent.gas_used,
        parent.gas_limit,
        parent.base_fee_per_gas.unwrap_or(BASE_FEE_START),
        BaseFeeParams::ethereum(),
    );
    let excess_blob_gas = parent.next_block_excess_blob_gas(blobs).unwrap_or_default();
    let is_dear = excess_blob_gas > EXCESS_BLOB_GAS_HIGH;
    let blobs_max = if is_dear { 3 } else { blobs.max_blob_count as usize };
    let blob_price = blobs.calc_blob_fee(excess_blob_gas);
    Terms { base_fee, excess_blob_gas, blob_price, blobs_max }
}

pub(super) fn gas_limit(config: &SimConfig) -> u64 {
    (2 * GAS_TARGET_PER_TX * config.txs_per_block as u64).max(GAS_LIMIT_MIN)
}

pub(super) fn genesis(config: &SimConfig, changes: &[AccountChange]) -> Header {
    Header {
        state_root: state_root(
            super::cast::derive(config.seed, "genesis", config.chain_id),
            changes,
        ),
        gas_limit: gas_limit(config),
        timestamp: config.start_time,
        extra_data: extra_data(),
        base_fee_per_gas: Some(BASE_FEE_START),
        withdrawals_root: Some(EMPTY_ROOT_HASH),
        blob_gas_used: Some(0),
        // Well above zero, so that blobs have a price worth checking.
        excess_blob_gas: Some(EXCESS_BLOB_GAS_HIGH / 2),
        parent_beacon_block_root: Some(B256::ZERO),
        requests_hash: Some(EMPTY_REQUESTS_HASH),
        ..Header::default()
    }
}

/// The header over everything the builder gathered.
pub(super) fn header(
    builder: &mut BlockBuilder,
    parent: &SimBlock,
    terms: &Terms,
    ending: &Ending,
) -> Header {
    let txs: Vec<_> = builder.txs.iter().map(|tx| &tx.envelope).collect();
    let receipts: Vec<_> = builder.txs.iter().map(|tx| tx.consensus_receipt()).collect();
    let mut logs_bloom = Bloom::ZERO;
    builder.txs.iter().for_each(|tx| logs_bloom.accrue_bloom(&tx.bloom));
    Header {
        parent_hash: parent.hash,
        beneficiary: builder.miner,
        state_root: state_root(parent.header.state_root, &ending.changes),
        transactions_root: proofs::calculate_transaction_root(&txs),
        receipts_root: proofs::calculate_receipt_root(&receipts),
        logs_bloom,
        difficulty: U256::ZERO,
        number: builder.number,
        gas_limit: builder.gas_limit,
        gas_used: builder.gas_used,
        timestamp: parent.header.timestamp + builder.config.block_time_s,
        extra_data: extra_data(),
        mix_hash: builder.rng.random::<[u8; 32]>().into(),
        base_fee_per_gas: Some(terms.base_fee),
        withdrawals_root: Some(proofs::calculate_withdrawals_root(&ending.withdrawals)),
        blob_gas_used: Some(builder.txs.iter().map(|tx| tx.blob_gas_used).sum()),
        excess_blob_gas: Some(terms.excess_blob_gas),
        parent_beacon_block_root: Some(builder.rng.random::<[u8; 32]>().into()),
        requests_hash: Some(EMPTY_REQUESTS_HASH),
        ..Header::default()
    }
}

/// Not a trie: a hash over the parent's root and what changed is all that a reader can tell apart.
fn state_root(parent: B256, changes: &[AccountChange]) -> B256 {
    let mut hasher = Keccak256::new();
    hasher.update(parent);
    for change in changes {
        hasher.update(change.address);
        hasher.update(change.after.balance.to_be_bytes());
        hasher.update(change.after.nonce.to_be_bytes());
    }
    hasher.finalize()
}

fn extra_data() -> alloy_primitives::Bytes {
    b"headwater simulated".to_vec().into()
}
