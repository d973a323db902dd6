//! A signed transaction of one of the five types, and its encodings.
//!
//! In: the fields and a key. Out: the envelope, its hash and its bytes as a block holds them (EIP-2718;
//! blobs themselves are not part of them). Tests hold this against a library that we do not use here.

use super::{deposit::Deposit, rlp::List, sign::sign_hash};
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256, keccak256};
use secp256k1::SecretKey;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TxType {
    Legacy = 0,
    AccessList = 1,
    DynamicFee = 2,
    Blob = 3,
    SetCode = 4,
    /// The OP stack's own: made by the protocol, signed by nobody.
    Deposit = 0x7e,
}

/// What is signed. Fields that the type does not have are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsigned {
    pub tx_type: TxType,
    /// None for a legacy transaction that is valid on every chain (before EIP-155).
    pub chain_id: Option<u64>,
    pub nonce: u64,
    /// The tip, for types that have one. All others say one price.
    pub max_priority_fee_per_gas: Option<u128>,
    /// The gas price, for types without a tip.
    pub max_fee_per_gas: u128,
    pub gas_limit: u64,
    pub to: TxKind,
    pub value: U256,
    pub input: Bytes,
    pub access_list: Vec<AccessListItem>,
    pub max_fee_per_blob_gas: u128,
    pub blob_versioned_hashes: Vec<B256>,
    pub authorization_list: Vec<SignedAuthorization>,
    /// What only a deposit has.
    pub deposit: Option<Deposit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessListItem {
    pub address: Address,
    pub storage_keys: Vec<B256>,
}

/// EIP-7702: whoever signed it lets their account run the code of `address`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedAuthorization {
    pub chain_id: u64,
    pub address: Address,
    pub nonce: u64,
    pub signature: Signature,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub tx: Unsigned,
    pub signature: Signature,
    pub hash: B256,
}

const BLOB_GAS: u64 = 131_072;
/// Stands before an authorization when it is hashed, so that it cannot be taken for a transaction.
const AUTHORIZATION_BYTE: u8 = 5;

impl SignedAuthorization {
    pub(super) fn sign(key: &SecretKey, chain_id: u64, address: Address, nonce: u64) -> Self {
        let mut list = List::default();
        list.field(&chain_id).field(&address).field(&nonce);
        let hash = keccak256(list.into_bytes(Some(AUTHORIZATION_BYTE)));
        Self { chain_id, address, nonce, signature: sign_hash(key, hash) }
    }
}

impl Unsigned {
    pub(super) fn sign(self, key: &SecretKey) -> Envelope {
        let mut list = self.fields();
        if let (TxType::Legacy, Some(chain_id)) = (self.tx_type, self.chain_id) {
            list.field(&chain_id).field(&0u8).field(&0u8);
        }
        let signature = sign_hash(key, keccak256(list.into_bytes(self.type_byte())));
        let mut envelope = Envelope { tx: self, signature, hash: B256::ZERO };
        envelope.hash = keccak256(envelope.encoded());
        envelope
    }

    pub fn is_legacy(&self) -> bool {
        self.tx_type == TxType::Legacy
    }

    /// What is paid for a unit of gas in a block of that base fee.
    pub fn effective_gas_price(&self, base_fee: u128) -> u128 {
        match self.max_priority_fee_per_gas {
            Some(tip) => self.max_fee_per_gas.min(base_fee + tip),
            None => self.max_fee_per_gas,
        }
    }

    pub fn blob_gas_used(&self) -> u64 {
        self.blob_versioned_hashes.len() as u64 * BLOB_GAS
    }

    pub(super) fn type_byte(&self) -> Option<u8> {
        (!self.is_legacy()).then_some(self.tx_type as u8)
    }

    /// All that stands before the signature.
    fn fields(&self) -> List {
        let mut list = List::default();
        if !self.is_legacy() {
            list.field(&self.chain_id.unwrap_or_default());
        }
        list.field(&self.nonce);
        if let Some(tip) = &self.max_priority_fee_per_gas {
            list.field(tip);
        }
        list.field(&self.max_fee_per_gas).field(&self.gas_limit).field(&self.to);
        list.field(&self.value).field(&self.input);
        if !self.is_legacy() {
            list.lists(&self.access_list, |item, out| {
                out.field(&item.address).field(&item.storage_keys);
            });
        }
        if self.tx_type == TxType::Blob {
            list.field(&self.max_fee_per_blob_gas).field(&self.blob_versioned_hashes);
        }
        if self.tx_type == TxType::SetCode {
            list.lists(&self.authorization_list, |item, out| {
                out.field(&item.chain_id).field(&item.address).field(&item.nonce);
                signature_fields(out, item.signature.v().into(), &item.signature);
            });
        }
        list
    }
}

impl Envelope {
    /// The bytes that are hashed and that the transactions root is made of.
    pub fn encoded(&self) -> Vec<u8> {
        let mut list = match &self.tx.deposit {
            Some(deposit) => return deposit.encoded(&self.tx),
            None => self.tx.fields(),
        };
        signature_fields(&mut list, self.v(), &self.signature);
        list.into_bytes(self.tx.type_byte())
    }

    /// The parity of the signature; legacy transactions add a number that may hold the chain.
    pub fn v(&self) -> u128 {
        let parity = u128::from(self.signature.v());
        match (self.tx.is_legacy(), self.tx.chain_id) {
            (false, _) => parity,
            (true, None) => 27 + parity,
            (true, Some(chain_id)) => 35 + 2 * u128::from(chain_id) + parity,
        }
    }
}

fn signature_fields(list: &mut List, v: u128, signature: &Signature) {
    list.field(&v).field(&signature.r()).field(&signature.s());
}
