//! Signatures: real ones, deterministic (RFC 6979), so the same seed gives the same transaction hash.

use alloy_primitives::{B256, Signature};
use secp256k1::{Message, SECP256K1, SecretKey};

pub(super) fn sign_hash(key: &SecretKey, hash: B256) -> Signature {
    let signature = SECP256K1.sign_ecdsa_recoverable(Message::from_digest(hash.0), key);
    let (id, bytes) = signature.serialize_compact();
    Signature::from_bytes_and_parity(&bytes, i32::from(id) & 1 == 1)
}
