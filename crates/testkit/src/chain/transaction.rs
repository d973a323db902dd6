//! A transaction that is in a block, with all its effects.

use super::{
    deposit::DEPOSIT_RECEIPT_VERSION, envelope::Envelope, frame::Frame, rlp::List, sale::Sale,
    scenario::Kind, state::Move,
};
use alloy_primitives::{Address, B256, Bloom, Log};

#[derive(Clone, Debug)]
pub struct SimTx {
    pub kind: Kind,
    pub envelope: Envelope,
    pub hash: B256,
    pub from: Address,
    pub succeeded: bool,
    /// The state after it, which receipts told before they told the status.
    pub state_root: Option<B256>,
    /// Address a creation was for; given for failed ones, too, as nodes do.
    pub contract_address: Option<Address>,
    pub intrinsic_gas: u64,
    pub gas_used: u64,
    pub cumulative_gas_used: u64,
    pub effective_gas_price: u128,
    pub blob_gas_used: u64,
    pub blob_gas_price: u128,
    pub logs: Vec<Log>,
    pub sale: Option<Sale>,
    pub bloom: Bloom,
    /// Index in the block of the first log here.
    pub first_log_index: u64,
    /// Root frame. Its gas is what execution got and used, without the intrinsic part.
    pub trace: Frame,
    /// Coins moved below the root frame, nothing undone among them.
    pub inner_moves: Vec<Move>,
}

impl SimTx {
    /// The target of a call; none for a creation.
    pub fn to(&self) -> Option<Address> {
        self.envelope.tx.to.to().copied()
    }

    pub fn created(&self) -> Option<Address> {
        self.contract_address.filter(|_| self.succeeded)
    }

    /// The coins the transaction itself carried, where it succeeded.
    pub fn root_move(&self) -> Option<Move> {
        let Frame { from, to, value, .. } = self.trace;
        self.succeeded.then_some(Move { from, to, value })
    }

    /// What the sender paid for being included, blobs among it.
    pub fn fee(&self) -> u128 {
        u128::from(self.gas_used) * self.effective_gas_price
            + u128::from(self.blob_gas_used) * self.blob_gas_price
    }

    pub fn is_direct_for(&self, address: Address) -> bool {
        self.from == address || self.to() == Some(address) || self.created() == Some(address)
    }

    pub fn moves_inside_for(&self, address: Address) -> bool {
        let touches = |m: &Move| m.value > 0 && (m.from == address || m.to == address);
        self.inner_moves.iter().any(touches)
    }

    /// The receipt as the receipts root takes it in: behind the type byte, as the transaction.
    pub(crate) fn encoded_receipt(&self) -> Vec<u8> {
        let mut list = List::default();
        match &self.state_root {
            Some(root) => list.field(root),
            None => list.field(&self.succeeded),
        };
        list.field(&self.cumulative_gas_used).field(&self.bloom).field(&self.logs);
        if self.envelope.tx.deposit.is_some() {
            list.field(&self.envelope.tx.nonce).field(&DEPOSIT_RECEIPT_VERSION);
        }
        list.into_bytes(self.envelope.tx.type_byte())
    }
}
