//! A finished block: header, transactions with effects, withdrawals, account changes, rendered text.

use super::{
    fork::Fork, header::Header, market::Holdings, rlp::list_length, state::AccountChange,
    transaction::SimTx, withdrawal::Withdrawal,
};
use crate::render::Text;
use alloy_primitives::{Address, B256};

#[derive(Debug)]
pub struct SimBlock {
    pub header: Header,
    pub hash: B256,
    pub txs: Vec<SimTx>,
    pub withdrawals: Vec<Withdrawal>,
    /// Every account the block touched, before and after.
    pub changes: Vec<AccountChange>,
    /// What the market's pools hold after it, in their order; those that are open.
    pub pools: Vec<Holdings>,
    /// Bytes of the whole block in RLP.
    pub size: usize,
    pub(crate) text: Text,
}

/// What follows the transactions of a block.
pub(super) struct BlockEffects {
    pub withdrawals: Vec<Withdrawal>,
    pub changes: Vec<AccountChange>,
    pub pools: Vec<Holdings>,
}

impl SimBlock {
    pub(super) fn seal(
        header: Header,
        txs: Vec<SimTx>,
        effects: BlockEffects,
        keep_text: bool,
    ) -> Self {
        let hash = header.hash();
        let BlockEffects { withdrawals, changes, pools } = effects;
        let size = rlp_size(&header, &txs, &withdrawals);
        Self { header, hash, txs, withdrawals, changes, pools, size, text: Text::new(keep_text) }
    }

    pub fn number(&self) -> u64 {
        self.header.number
    }

    pub fn change(&self, address: Address) -> Option<&AccountChange> {
        let place = self.changes.binary_search_by_key(&address, |change| change.address).ok()?;
        self.changes.get(place)
    }

    pub fn base_fee(&self) -> u128 {
        self.header.base_fee_per_gas.into()
    }
}

fn rlp_size(header: &Header, txs: &[SimTx], withdrawals: &[Withdrawal]) -> usize {
    let txs_payload: usize = txs.iter().map(rlp_item_length).sum();
    let withdrawals: usize = withdrawals.iter().map(|one| one.encoded().len()).sum();
    let no_uncles = 1;
    let withdrawals = if header.fork < Fork::Shanghai { 0 } else { list_length(withdrawals) };
    let body = list_length(txs_payload) + no_uncles + withdrawals;
    list_length(header.encoded().len() + body)
}

/// In a block a typed transaction is a string of bytes, a legacy one stays the list it is.
fn rlp_item_length(tx: &SimTx) -> usize {
    let length = tx.envelope.encoded().len();
    if tx.envelope.tx.is_legacy() { length } else { list_length(length) }
}
