//! Signatures: real ones, deterministic (RFC 6979), so the same seed gives the same transaction hash.

use super::cast::Wallet;
use alloy_consensus::{SignableTransaction, Signed};
use alloy_eips::eip7702::{Authorization, SignedAuthorization};
use alloy_primitives::{Address, B256, Signature, U256};
use secp256k1::{Message, SECP256K1, SecretKey};

pub(super) fn signed<T: SignableTransaction<Signature>>(tx: T, key: &SecretKey) -> Signed<T> {
    let signature = sign_hash(key, tx.signature_hash());
    tx.into_signed(signature)
}

/// An EIP-7702 authorization: `authority` lets its account run the code of `delegate`.
pub(super) fn authorize(
    authority: &Wallet,
    chain_id: u64,
    delegate: Address,
    nonce: u64,
) -> SignedAuthorization {
    let authorization = Authorization { chain_id: U256::from(chain_id), address: delegate, nonce };
    let signature = sign_hash(&authority.key, authorization.signature_hash());
    authorization.into_signed(signature)
}

fn sign_hash(key: &SecretKey, hash: B256) -> Signature {
    let signature = SECP256K1.sign_ecdsa_recoverable(Message::from_digest(hash.0), key);
    let (id, bytes) = signature.serialize_compact();
    Signature::from_bytes_and_parity(&bytes, i32::from(id) & 1 == 1)
}
