//! Signatures: real ones, deterministic (RFC 6979), so the same seed gives the same transaction hash.

use super::{cast::Wallet, envelope::SignedAuthorization, rlp::List};
use alloy_primitives::{Address, B256, Signature, keccak256};
use secp256k1::{Message, SECP256K1, SecretKey};

/// Stands before an authorization when it is hashed, so that it cannot be taken for a transaction.
const AUTHORIZATION_BYTE: u8 = 5;

/// An EIP-7702 authorization: `authority` lets its account run the code of `delegate`.
pub(super) fn authorize(
    authority: &Wallet,
    chain_id: u64,
    delegate: Address,
    nonce: u64,
) -> SignedAuthorization {
    let mut list = List::default();
    list.field(&chain_id).field(&delegate).field(&nonce);
    let hash = keccak256(list.into_bytes(Some(AUTHORIZATION_BYTE)));
    let signature = sign_hash(&authority.key, hash);
    SignedAuthorization { chain_id, address: delegate, nonce, signature }
}

pub(super) fn sign_hash(key: &SecretKey, hash: B256) -> Signature {
    let signature = SECP256K1.sign_ecdsa_recoverable(Message::from_digest(hash.0), key);
    let (id, bytes) = signature.serialize_compact();
    Signature::from_bytes_and_parity(&bytes, i32::from(id) & 1 == 1)
}
