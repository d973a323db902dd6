//! A transaction as `eth_getBlockBy…(…, true)` lists it: types 0–4 and what L2s add.

use alloy_primitives::{Address, B256, Bytes, U256};

use crate::rpc_object;

rpc_object! {
    pub struct Tx {
        block_hash: B256 = "blockHash",
        block_number: u64 = "blockNumber",
        from: Address = "from",
        gas: u64 = "gas",
        gas_price: U256 = "gasPrice",
        max_fee_per_gas: U256 = "maxFeePerGas",
        max_priority_fee_per_gas: U256 = "maxPriorityFeePerGas",
        max_fee_per_blob_gas: U256 = "maxFeePerBlobGas",
        hash: B256 = "hash",
        input: Bytes = "input",
        nonce: u64 = "nonce",
        to: Address = "to",
        transaction_index: u64 = "transactionIndex",
        value: U256 = "value",
        kind: u64 = "type",
        access_list: Vec<AccessListItem> = "accessList",
        chain_id: u64 = "chainId",
        blob_versioned_hashes: Vec<B256> = "blobVersionedHashes",
        authorization_list: Vec<Authorization> = "authorizationList",
        v: U256 = "v",
        r: U256 = "r",
        s: U256 = "s",
        y_parity: u64 = "yParity",
        block_timestamp: u64 = "blockTimestamp",
        // Optimism-stack deposits (type 0x7e).
        source_hash: B256 = "sourceHash",
        mint: U256 = "mint",
        is_system_tx: bool = "isSystemTx",
    }
}

rpc_object! {
    pub struct AccessListItem {
        address: Address = "address",
        storage_keys: Vec<B256> = "storageKeys",
    }
}

rpc_object! {
    /// One EIP-7702 authorization.
    pub struct Authorization {
        chain_id: U256 = "chainId",
        address: Address = "address",
        nonce: u64 = "nonce",
        y_parity: u64 = "yParity",
        r: U256 = "r",
        s: U256 = "s",
    }
}
