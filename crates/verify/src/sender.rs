//! The sender of a transaction, recovered from its signature.

use alloy_primitives::{Address, U256, keccak256};
use model::raw::Tx;
use model::raw::tx_rlp::{signing_hash, y_parity};
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{Message, SECP256K1};

/// What a signature says about who sent the transaction.
#[derive(Debug, PartialEq)]
pub enum Signer {
    Is(Address),
    /// No signature to speak of: protocol transactions, dev nodes acting for an account.
    Nobody,
    /// A signature, but over a form we do not model.
    Unknown,
}

/// Values that no signature has by chance; the transaction's hash covers them, so a node cannot
/// put them in place of a real signature.
fn is_placeholder(word: U256) -> bool {
    word < U256::from(u32::MAX)
}

/// A transaction that the protocol or a dev node made, and nobody signed. On Ethereum itself there are
/// such values in signatures: whoever deploys at the same address on every chain makes one up.
pub fn is_unsigned(tx: &Tx) -> bool {
    tx.r.is_none_or(is_placeholder) || tx.s.is_none_or(is_placeholder)
}

pub fn signer(tx: &Tx) -> Signer {
    match (tx.r, tx.s) {
        (Some(r), Some(s)) if !is_unsigned(tx) => recovered(tx, r, s),
        _ => Signer::Nobody,
    }
}

/// Whatever the signature looks like.
pub fn signer_by_any_signature(tx: &Tx) -> Signer {
    match (tx.r, tx.s) {
        (Some(r), Some(s)) => recovered(tx, r, s),
        _ => Signer::Nobody,
    }
}

fn recovered(tx: &Tx, r: U256, s: U256) -> Signer {
    recover(tx, r, s).map_or(Signer::Unknown, Signer::Is)
}

fn recover(tx: &Tx, r: U256, s: U256) -> Option<Address> {
    let digest = signing_hash(tx)?;
    let id = RecoveryId::try_from(i32::from(y_parity(tx)?)).ok()?;
    let mut compact = [0u8; 64];
    let (left, right) = compact.split_at_mut(32);
    left.copy_from_slice(&r.to_be_bytes::<32>());
    right.copy_from_slice(&s.to_be_bytes::<32>());
    let signature = RecoverableSignature::from_compact(&compact, id).ok()?;
    let key = SECP256K1.recover_ecdsa(Message::from_digest(digest.0), &signature).ok()?;
    let [_, point @ ..] = key.serialize_uncompressed();
    Some(Address::from_slice(keccak256(point).get(12..)?))
}
