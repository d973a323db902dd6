//! The deposit that opens every block of an OP-stack chain: attributes of the chain below, for a contract.
//!
//! In: the block's number and the depositor's nonce. Out: the envelope (nobody signed it), what it does, its
//! gas. Written after the specification of deposits: `0x7e || rlp([source, from, to, mint, value, gas,
//! is_system, data])`.

use super::{
    draft::Gas,
    envelope::{Envelope, TxType, Unsigned},
    frame::Frame,
    rlp::List,
    scenario::Plan,
};
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256, address, keccak256};
use rand::{Rng, rngs::StdRng};

/// Since Canyon receipts of deposits carry this and the nonce in their encoding.
pub(crate) const DEPOSIT_RECEIPT_VERSION: u64 = 1;
pub(super) const DEPOSITOR: Address = address!("deaddeaddeaddeaddeaddeaddeaddeaddead0001");
const L1_BLOCK: Address = address!("4200000000000000000000000000000000000015");
const GAS_LIMIT: u64 = 1_000_000;
const GAS_USED: u64 = 43_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deposit {
    pub source_hash: B256,
    pub from: Address,
    pub mint: u128,
}

impl Deposit {
    pub(super) fn encoded(&self, tx: &Unsigned) -> Vec<u8> {
        let mut list = List::default();
        list.field(&self.source_hash).field(&self.from).field(&tx.to).field(&self.mint);
        list.field(&tx.value).field(&tx.gas_limit).field(&false).field(&tx.input);
        list.into_bytes(tx.type_byte())
    }
}

pub(super) fn system_deposit(number: u64, nonce: u64, rng: &mut StdRng) -> (Envelope, Plan, Gas) {
    let mut input = vec![0u8; 164];
    rng.fill(input.as_mut_slice());
    let input = Bytes::from(input);
    let source_hash = keccak256(number.to_be_bytes());
    let tx = Unsigned {
        tx_type: TxType::Deposit,
        chain_id: None,
        nonce,
        max_priority_fee_per_gas: None,
        max_fee_per_gas: 0,
        gas_limit: GAS_LIMIT,
        to: TxKind::Call(L1_BLOCK),
        value: U256::ZERO,
        input: input.clone(),
        access_list: Vec::new(),
        max_fee_per_blob_gas: 0,
        blob_versioned_hashes: Vec::new(),
        authorization_list: Vec::new(),
        deposit: Some(Deposit { source_hash, from: DEPOSITOR, mint: 0 }),
    };
    let signature = Signature::new(U256::ZERO, U256::ZERO, false);
    let mut envelope = Envelope { tx, signature, hash: B256::ZERO };
    envelope.hash = keccak256(envelope.encoded());
    let root = Frame::call(DEPOSITOR, L1_BLOCK, 0).input(input).gas(GAS_USED - 21_000);
    (envelope, Plan::call(root), Gas { intrinsic: 21_000, limit: GAS_LIMIT })
}
