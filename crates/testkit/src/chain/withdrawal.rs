//! A payout of the staking layer (EIP-4895).

use super::rlp::List;
use alloy_primitives::Address;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Withdrawal {
    pub index: u64,
    pub validator_index: u64,
    pub address: Address,
    /// In gwei.
    pub amount: u64,
}

impl Withdrawal {
    pub(crate) fn encoded(&self) -> Vec<u8> {
        let mut list = List::default();
        list.field(&self.index).field(&self.validator_index);
        list.field(&self.address).field(&self.amount);
        list.into_bytes(None)
    }
}
