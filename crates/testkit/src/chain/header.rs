//! A block's header and its hash: the fields up to its fork, at most Prague; proof of stake, so some are
//! always the same.

use super::{fork::Fork, rlp::List};
use alloy_primitives::{Address, B64, B256, Bloom, Bytes, U256, b256, keccak256};

/// The hash of an empty list of uncles.
pub(super) const NO_OMMERS: B256 =
    b256!("1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347");
/// SHA-256 of nothing: no request of the execution layer (EIP-7685).
pub(super) const NO_REQUESTS: B256 =
    b256!("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");

#[derive(Clone, Debug)]
pub struct Header {
    /// Fields of later forks hold values that nobody is told.
    pub fork: Fork,
    pub parent_hash: B256,
    pub ommers_hash: B256,
    pub beneficiary: Address,
    pub state_root: B256,
    pub transactions_root: B256,
    pub receipts_root: B256,
    pub logs_bloom: Bloom,
    pub difficulty: U256,
    pub number: u64,
    pub gas_limit: u64,
    pub gas_used: u64,
    pub timestamp: u64,
    pub extra_data: Bytes,
    pub mix_hash: B256,
    pub nonce: B64,
    pub base_fee_per_gas: u64,
    pub withdrawals_root: B256,
    pub blob_gas_used: u64,
    pub excess_blob_gas: u64,
    pub parent_beacon_block_root: B256,
    pub requests_hash: B256,
}

impl Header {
    pub fn hash(&self) -> B256 {
        keccak256(self.encoded())
    }

    pub(crate) fn encoded(&self) -> Vec<u8> {
        let mut list = List::default();
        list.field(&self.parent_hash).field(&self.ommers_hash).field(&self.beneficiary);
        list.field(&self.state_root).field(&self.transactions_root).field(&self.receipts_root);
        list.field(&self.logs_bloom).field(&self.difficulty).field(&self.number);
        list.field(&self.gas_limit).field(&self.gas_used).field(&self.timestamp);
        list.field(&self.extra_data).field(&self.mix_hash).field(&self.nonce);
        if self.fork >= Fork::London {
            list.field(&self.base_fee_per_gas);
        }
        if self.fork >= Fork::Shanghai {
            list.field(&self.withdrawals_root);
        }
        if self.fork >= Fork::Cancun {
            list.field(&self.blob_gas_used).field(&self.excess_blob_gas);
            list.field(&self.parent_beacon_block_root);
        }
        if self.fork >= Fork::Prague {
            list.field(&self.requests_hash);
        }
        list.into_bytes(None)
    }
}
