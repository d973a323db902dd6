//! Headers over what a block holds: roots, blooms, what follows from the parent.
//!
//! In: the built block and its parent. Out: the header. The state root is a trie's only where proofs are wanted.

use super::{
    SimConfig,
    block::{BlockEffects, SimBlock},
    builder::BlockBuilder,
    fees::{BlockFees, EXCESS_BLOB_GAS_HIGH},
    header::{Header, NO_OMMERS, NO_REQUESTS},
    state::AccountChange,
    state_trie,
    withdrawal::Withdrawal,
};
use alloy_primitives::{Address, B64, B256, Bloom, Keccak256, U256};
use alloy_trie::{EMPTY_ROOT_HASH, root::ordered_trie_root_encoded};
use rand::Rng;

/// With this much gas per transaction on average the base fee stands still.
const GAS_TARGET_PER_TX: u64 = 65_000;
const GAS_LIMIT_MIN: u64 = 600_000;
const BASE_FEE_START: u64 = 12_000_000_000;

pub(super) fn gas_limit(config: &SimConfig) -> u64 {
    (2 * GAS_TARGET_PER_TX * config.txs_per_block as u64).max(GAS_LIMIT_MIN)
}

pub(super) fn genesis(config: &SimConfig, changes: &[AccountChange]) -> Header {
    let seed = super::actors::derive(config.seed, "genesis", config.chain_id);
    Header {
        fork: config.fork,
        parent_hash: B256::ZERO,
        ommers_hash: NO_OMMERS,
        beneficiary: Address::ZERO,
        state_root: match config.state_proofs {
            true => state_trie::root(&mut changes.iter().map(|it| (it.address, it.after))),
            false => state_root(seed, changes),
        },
        transactions_root: EMPTY_ROOT_HASH,
        receipts_root: EMPTY_ROOT_HASH,
        logs_bloom: Bloom::ZERO,
        difficulty: U256::ZERO,
        number: 0,
        gas_limit: gas_limit(config),
        gas_used: 0,
        timestamp: config.start_time,
        extra_data: extra_data(),
        mix_hash: B256::ZERO,
        nonce: B64::ZERO,
        base_fee_per_gas: BASE_FEE_START,
        withdrawals_root: EMPTY_ROOT_HASH,
        blob_gas_used: 0,
        // Well above zero, so that blobs have a price worth checking.
        excess_blob_gas: EXCESS_BLOB_GAS_HIGH / 2,
        parent_beacon_block_root: B256::ZERO,
        requests_hash: NO_REQUESTS,
    }
}

/// The header over everything the builder gathered.
pub(super) fn header(
    builder: &mut BlockBuilder,
    parent: &SimBlock,
    fees: &BlockFees,
    effects: &BlockEffects,
) -> Header {
    let txs: Vec<_> = builder.txs.iter().map(|tx| tx.envelope.encoded()).collect();
    let receipts: Vec<_> = builder.txs.iter().map(|tx| tx.encoded_receipt()).collect();
    let withdrawals_root = match builder.config.op_stack {
        // The storage root of a contract, in truth: nothing that a block could prove.
        true => builder.rng.random::<[u8; 32]>().into(),
        false => withdrawals_root(&effects.withdrawals),
    };
    let mut logs_bloom = Bloom::ZERO;
    builder.txs.iter().for_each(|tx| logs_bloom.accrue_bloom(&tx.bloom));
    Header {
        fork: builder.config.fork,
        parent_hash: parent.hash,
        ommers_hash: NO_OMMERS,
        beneficiary: builder.miner,
        state_root: match builder.config.state_proofs {
            true => state_trie::root(&mut builder.state.accounts()),
            false => state_root(parent.header.state_root, &effects.changes),
        },
        transactions_root: ordered_trie_root_encoded(&txs),
        receipts_root: ordered_trie_root_encoded(&receipts),
        logs_bloom,
        difficulty: U256::ZERO,
        number: builder.number,
        gas_limit: builder.gas_limit,
        gas_used: builder.gas_used,
        timestamp: builder.timestamp,
        extra_data: extra_data(),
        mix_hash: builder.rng.random::<[u8; 32]>().into(),
        nonce: B64::ZERO,
        base_fee_per_gas: fees.base_fee,
        withdrawals_root,
        blob_gas_used: builder.txs.iter().map(|tx| tx.blob_gas_used).sum(),
        excess_blob_gas: fees.excess_blob_gas,
        parent_beacon_block_root: builder.rng.random::<[u8; 32]>().into(),
        requests_hash: NO_REQUESTS,
    }
}

fn withdrawals_root(list: &[Withdrawal]) -> B256 {
    let encoded: Vec<_> = list.iter().map(|one| one.encoded()).collect();
    ordered_trie_root_encoded(&encoded)
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
