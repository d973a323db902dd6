//! A transaction's own bytes: what its hash, its root and its signature are made over.

use alloy_primitives::{B256, U256, keccak256};
use alloy_rlp::Encodable;

use super::Tx;
use crate::rlp::{EMPTY, put_bytes, put_list, put_to, put_uint};

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Signed,
    /// Without the signature: what the sender signed.
    Unsigned,
}

/// The enveloped form with signature; `None` for types and shapes we do not model.
pub fn encode_signed(tx: &Tx, out: &mut Vec<u8>) -> Option<()> {
    encode(tx, Part::Signed, out)
}

/// Its hash, made from its fields.
pub fn hash_of(tx: &Tx) -> Option<B256> {
    let mut out = Vec::with_capacity(256);
    encode_signed(tx, &mut out)?;
    Some(keccak256(&out))
}

/// The digest that the sender signed.
pub fn signing_hash(tx: &Tx) -> Option<B256> {
    let mut out = Vec::with_capacity(256);
    encode(tx, Part::Unsigned, &mut out)?;
    Some(keccak256(&out))
}

/// 0 or 1. Legacy transactions fold it into `v` together with the chain, and have nothing else: a parity
/// beside it is covered by no hash.
pub fn y_parity(tx: &Tx) -> Option<u8> {
    let v = match tx.y_parity.filter(|_| tx.kind.unwrap_or(0) != 0) {
        Some(parity) => U256::from(parity),
        None => tx.v?,
    };
    let parity = match u64::try_from(v).unwrap_or(u64::MAX) {
        v @ (0 | 1) => v,
        v @ (27 | 28) => v - 27,
        35.. => u64::from(!v.bit(0)),
        _ => return None,
    };
    u8::try_from(parity).ok()
}

/// The type of Optimism-stack deposits.
pub const DEPOSIT: u64 = 0x7e;

/// Scroll has another transaction under the same number.
pub fn is_deposit(tx: &Tx) -> bool {
    tx.kind == Some(DEPOSIT) && tx.source_hash.is_some()
}

fn encode(tx: &Tx, part: Part, out: &mut Vec<u8>) -> Option<()> {
    match tx.kind.unwrap_or(0) {
        0 => legacy(tx, part, out),
        kind @ 1..=4 => typed(tx, kind as u8, part, out),
        DEPOSIT if is_deposit(tx) && part == Part::Signed => deposit(tx, out),
        _ => None,
    }
}

fn legacy(tx: &Tx, part: Part, out: &mut Vec<u8>) -> Option<()> {
    let (nonce, price, gas, value) = (tx.nonce?, tx.gas_price?, tx.gas?, tx.value?);
    let input = tx.input.as_ref()?;
    let (v, r, s) = (tx.v?, tx.r?, tx.s?);
    put_list(out, |out| {
        nonce.encode(out);
        put_uint(out, price);
        gas.encode(out);
        put_to(out, tx.to);
        put_uint(out, value);
        put_bytes(out, input);
        if part == Part::Signed {
            [v, r, s].into_iter().for_each(|word| put_uint(out, word));
        } else if v >= U256::from(35) {
            // EIP-155: the chain is signed too, and `v` tells which.
            put_uint(out, (v - U256::from(35)) / U256::from(2));
            out.extend([EMPTY, EMPTY]);
        }
    });
    Some(())
}

fn typed(tx: &Tx, kind: u8, part: Part, out: &mut Vec<u8>) -> Option<()> {
    let (chain, nonce, gas, value) = (tx.chain_id?, tx.nonce?, tx.gas?, tx.value?);
    let input = tx.input.as_ref()?;
    let signature = match part {
        Part::Signed => Some((y_parity(tx)?, tx.r?, tx.s?)),
        Part::Unsigned => None,
    };
    let price = match kind {
        1 => [tx.gas_price?, U256::ZERO],
        _ => [tx.max_priority_fee_per_gas?, tx.max_fee_per_gas?],
    };
    let mut tail = Vec::new();
    put_access_list(tx, &mut tail)?;
    if kind == 3 {
        put_uint(&mut tail, tx.max_fee_per_blob_gas?);
        tx.blob_versioned_hashes.as_ref()?.encode(&mut tail);
    }
    if kind == 4 {
        put_authorizations(tx, &mut tail)?;
    }
    out.push(kind);
    put_list(out, |out| {
        chain.encode(out);
        nonce.encode(out);
        put_uint(out, price[0]);
        if kind != 1 {
            put_uint(out, price[1]);
        }
        gas.encode(out);
        put_to(out, tx.to);
        put_uint(out, value);
        put_bytes(out, input);
        out.append(&mut tail);
        if let Some((parity, r, s)) = signature {
            parity.encode(out);
            put_uint(out, r);
            put_uint(out, s);
        }
    });
    Some(())
}

fn put_access_list(tx: &Tx, out: &mut Vec<u8>) -> Option<()> {
    let mut items = Vec::new();
    for item in tx.access_list.iter().flatten() {
        let (address, keys) = (item.address?, item.storage_keys.as_ref()?);
        put_list(&mut items, |out| {
            address.encode(out);
            keys.encode(out);
        });
    }
    put_list(out, |out| out.append(&mut items));
    Some(())
}

fn put_authorizations(tx: &Tx, out: &mut Vec<u8>) -> Option<()> {
    let mut items = Vec::new();
    for item in tx.authorization_list.as_ref()? {
        let (chain, address, nonce) = (item.chain_id?, item.address?, item.nonce?);
        let (parity, r, s) = (item.y_parity?, item.r?, item.s?);
        put_list(&mut items, |out| {
            put_uint(out, chain);
            address.encode(out);
            nonce.encode(out);
            parity.encode(out);
            put_uint(out, r);
            put_uint(out, s);
        });
    }
    put_list(out, |out| out.append(&mut items));
    Some(())
}

/// Optimism-stack deposit: made by the protocol, signed by nobody.
fn deposit(tx: &Tx, out: &mut Vec<u8>) -> Option<()> {
    let (source, from, value, gas) = (tx.source_hash?, tx.from?, tx.value?, tx.gas?);
    let input = tx.input.as_ref()?;
    out.push(0x7e);
    put_list(out, |out| {
        source.encode(out);
        from.encode(out);
        put_to(out, tx.to);
        put_uint(out, tx.mint.unwrap_or_default());
        put_uint(out, value);
        gas.encode(out);
        tx.is_system_tx.unwrap_or(false).encode(out);
        put_bytes(out, input);
    });
    Some(())
}
