//! A finished block: header, transactions with effects, withdrawals, account changes, rendered text.

use super::{state::AccountChange, transaction::SimTx};
use crate::render::Text;
use alloy_consensus::Header;
use alloy_eips::eip4895::{Withdrawal, Withdrawals};
use alloy_primitives::{Address, B256};
use alloy_rlp::Encodable;

#[derive(Debug)]
pub struct SimBlock {
    pub header: Header,
    pub hash: B256,
    pub txs: Vec<SimTx>,
    pub withdrawals: Withdrawals,
    /// Every account the block touched, before and after.
    pub changes: Vec<AccountChange>,
    /// Bytes of the whole block in RLP.
    pub size: usize,
    pub(crate) text: Text,
}

/// What follows the transactions of a block.
pub(super) struct Ending {
    pub withdrawals: Vec<Withdrawal>,
    pub changes: Vec<AccountChange>,
}

impl SimBlock {
    pub(super) fn seal(header: Header, txs: Vec<SimTx>, ending: Ending, keep_text: bool) -> Self {
        let hash = header.hash_slow();
        let Ending { withdrawals, changes } = ending;
        let withdrawals = Withdrawals::new(withdrawals);
        let size = rlp_size(&header, &txs, &withdrawals);
        Self { header, hash, txs, withdrawals, changes, size, text: Text::new(keep_text) }
    }

    pub fn number(&self) -> u64 {
        self.header.number
    }

    pub fn change(&self, address: Address) -> Option<&AccountChange> {
        let place = self.changes.binary_search_by_key(&address, |change| change.address).ok()?;
        self.changes.get(place)
    }

    pub fn base_fee(&self) -> u128 {
        u128::from(self.header.base_fee_per_gas.unwrap_or_default())
    }
}

fn rlp_size(header: &Header, txs: &[SimTx], withdrawals: &Withdrawals) -> usize {
    let txs_payload: usize = txs.iter().map(|tx| tx.envelope.length()).sum();
    let no_uncles = 1;
    let payload = header.length() + list_length(txs_payload) + no_uncles + withdrawals.length();
    list_length(payload)
}

fn list_length(payload: usize) -> usize {
    payload + alloy_rlp::length_of_length(payload)
}
