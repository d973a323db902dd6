//! The unsigned transaction of each type, from the fields they share.

use alloy_consensus::{TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxLegacy};
use alloy_eips::{eip2930::AccessList, eip7702::SignedAuthorization};
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};

pub(super) struct Fields {
    pub chain_id: u64,
    pub nonce: u64,
    pub gas_limit: u64,
    pub base_fee: u128,
    pub tip: u128,
    /// None for a creation.
    pub target: Option<Address>,
    pub value: U256,
    pub input: Bytes,
    pub access_list: AccessList,
}

impl Fields {
    pub fn legacy(self, is_bound_to_chain: bool) -> TxLegacy {
        TxLegacy {
            chain_id: is_bound_to_chain.then_some(self.chain_id),
            nonce: self.nonce,
            gas_price: self.base_fee + self.tip,
            gas_limit: self.gas_limit,
            to: self.kind(),
            value: self.value,
            input: self.input,
        }
    }

    pub fn with_access_list(self) -> TxEip2930 {
        TxEip2930 {
            chain_id: self.chain_id,
            nonce: self.nonce,
            gas_price: self.base_fee + self.tip,
            gas_limit: self.gas_limit,
            to: self.kind(),
            value: self.value,
            access_list: self.access_list,
            input: self.input,
        }
    }

    pub fn dynamic_fee(self) -> TxEip1559 {
        TxEip1559 {
            chain_id: self.chain_id,
            nonce: self.nonce,
            gas_limit: self.gas_limit,
            max_fee_per_gas: self.max_fee(),
            max_priority_fee_per_gas: self.tip,
            to: self.kind(),
            value: self.value,
            access_list: self.access_list,
            input: self.input,
        }
    }

    pub fn blob(self, blob_versioned_hashes: Vec<B256>, blob_price: u128) -> TxEip4844 {
        TxEip4844 {
            chain_id: self.chain_id,
            nonce: self.nonce,
            gas_limit: self.gas_limit,
            max_fee_per_gas: self.max_fee(),
            max_priority_fee_per_gas: self.tip,
            to: self.target.unwrap_or_default(),
            value: self.value,
            access_list: self.access_list,
            blob_versioned_hashes,
            max_fee_per_blob_gas: blob_price * 2 + 1,
            input: self.input,
        }
    }

    pub fn set_code(self, authorization_list: Vec<SignedAuthorization>) -> TxEip7702 {
        TxEip7702 {
            chain_id: self.chain_id,
            nonce: self.nonce,
            gas_limit: self.gas_limit,
            max_fee_per_gas: self.max_fee(),
            max_priority_fee_per_gas: self.tip,
            to: self.target.unwrap_or_default(),
            value: self.value,
            access_list: self.access_list,
            authorization_list,
            input: self.input,
        }
    }

    fn kind(&self) -> TxKind {
        self.target.map_or(TxKind::Create, TxKind::Call)
    }

    /// Enough for the base fee to double before the transaction is left out.
    fn max_fee(&self) -> u128 {
        self.base_fee * 2 + self.tip
    }
}
