//! A block without its transactions, as `eth_getBlockBy…` gives it.

use alloy_primitives::{Address, B64, B256, Bloom, Bytes, U256};

use super::Tx;
use crate::rpc_object;

rpc_object! {
    pub struct Header {
        number: u64 = "number",
        hash: B256 = "hash",
        parent_hash: B256 = "parentHash",
        nonce: B64 = "nonce",
        sha3_uncles: B256 = "sha3Uncles",
        logs_bloom: Bloom = "logsBloom",
        transactions_root: B256 = "transactionsRoot",
        state_root: B256 = "stateRoot",
        receipts_root: B256 = "receiptsRoot",
        miner: Address = "miner",
        difficulty: U256 = "difficulty",
        total_difficulty: U256 = "totalDifficulty",
        extra_data: Bytes = "extraData",
        size: u64 = "size",
        gas_limit: u64 = "gasLimit",
        gas_used: u64 = "gasUsed",
        timestamp: u64 = "timestamp",
        mix_hash: B256 = "mixHash",
        base_fee_per_gas: U256 = "baseFeePerGas",
        withdrawals_root: B256 = "withdrawalsRoot",
        blob_gas_used: u64 = "blobGasUsed",
        excess_blob_gas: u64 = "excessBlobGas",
        parent_beacon_block_root: B256 = "parentBeaconBlockRoot",
        requests_hash: B256 = "requestsHash",
        uncles: Vec<B256> = "uncles",
        withdrawals: Vec<Withdrawal> = "withdrawals",
        // Read with the block, then taken out and stored row by row.
        transactions: Vec<Tx> = "transactions",
    }
}

rpc_object! {
    pub struct Withdrawal {
        index: u64 = "index",
        validator_index: u64 = "validatorIndex",
        address: Address = "address",
        amount: u64 = "amount",
    }
}
