//! A receipt and its logs, as `eth_getBlockReceipts` gives them.

use alloy_primitives::{Address, B256, Bloom, Bytes, U256};

use crate::rpc_object;

rpc_object! {
    pub struct Receipt {
        transaction_hash: B256 = "transactionHash",
        transaction_index: u64 = "transactionIndex",
        block_hash: B256 = "blockHash",
        block_number: u64 = "blockNumber",
        from: Address = "from",
        to: Address = "to",
        cumulative_gas_used: u64 = "cumulativeGasUsed",
        gas_used: u64 = "gasUsed",
        effective_gas_price: U256 = "effectiveGasPrice",
        contract_address: Address = "contractAddress",
        logs_bloom: Bloom = "logsBloom",
        kind: u64 = "type",
        // Since Byzantium; before it, `root` stood here.
        status: u64 = "status",
        root: B256 = "root",
        blob_gas_used: u64 = "blobGasUsed",
        blob_gas_price: U256 = "blobGasPrice",
        // Optimism-stack deposits carry these two inside the receipt's own encoding.
        deposit_nonce: u64 = "depositNonce",
        deposit_receipt_version: u64 = "depositReceiptVersion",
        logs: Vec<Log> = "logs",
    }
}

rpc_object! {
    pub struct Log {
        address: Address = "address",
        topics: Vec<B256> = "topics",
        data: Bytes = "data",
        block_number: u64 = "blockNumber",
        transaction_hash: B256 = "transactionHash",
        transaction_index: u64 = "transactionIndex",
        block_hash: B256 = "blockHash",
        log_index: u64 = "logIndex",
        removed: bool = "removed",
        block_timestamp: u64 = "blockTimestamp",
    }
}
