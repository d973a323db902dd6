//! A transaction object. Fields depend on the type; `gasPrice` is the price paid, as geth gives it.

use super::writer::{Object, hex_string};
use crate::chain::{Envelope, SimBlock, SimTx};
use alloy_consensus::{Transaction, transaction::to_eip155_value};
use alloy_eips::{eip2930::AccessListItem, eip7702::SignedAuthorization};

pub(super) fn write(out: &mut Vec<u8>, block: &SimBlock, index: usize, tx: &SimTx) {
    let envelope = &tx.envelope;
    let mut object = Object::new(out);
    object.hex("blockHash", block.hash.as_slice());
    object.quantity("blockNumber", block.number().into());
    object.quantity("blockTimestamp", block.header.timestamp.into());
    object.quantity("transactionIndex", index as u128);
    object.hex("hash", tx.hash.as_slice());
    object.quantity("type", u8::from(envelope.tx_type()).into());
    object.hex("from", tx.from.as_slice());
    object.hex_or_null("to", tx.to().as_ref().map(|to| to.as_slice()));
    object.quantity("nonce", envelope.nonce().into());
    object.big_quantity("value", envelope.value());
    object.quantity("gas", envelope.gas_limit().into());
    object.quantity("gasPrice", tx.effective_gas_price);
    object.hex("input", envelope.input());
    if let Some(chain_id) = envelope.chain_id() {
        object.quantity("chainId", chain_id.into());
    }
    typed_fields(&mut object, envelope);
    signature(&mut object, envelope);
    object.end();
}

fn typed_fields(object: &mut Object, envelope: &Envelope) {
    if let Some(tip) = envelope.max_priority_fee_per_gas() {
        object.quantity("maxFeePerGas", envelope.max_fee_per_gas());
        object.quantity("maxPriorityFeePerGas", tip);
    }
    if let Some(max) = envelope.max_fee_per_blob_gas() {
        object.quantity("maxFeePerBlobGas", max);
    }
    if let Some(hashes) = envelope.blob_versioned_hashes() {
        object.array("blobVersionedHashes", hashes, |out, hash| hex_string(out, hash.as_slice()));
    }
    if let Some(list) = envelope.access_list() {
        object.array("accessList", list.iter(), access_list_item);
    }
    if let Some(list) = envelope.authorization_list() {
        object.array("authorizationList", list, authorization);
    }
}

fn signature(object: &mut Object, envelope: &Envelope) {
    let signature = envelope.signature();
    let y_parity = signature.v();
    if envelope.is_legacy() {
        object.quantity("v", to_eip155_value(y_parity, envelope.chain_id()));
    } else {
        object.quantity("v", y_parity.into());
        object.quantity("yParity", y_parity.into());
    }
    object.big_quantity("r", signature.r());
    object.big_quantity("s", signature.s());
}

fn access_list_item(out: &mut Vec<u8>, item: &AccessListItem) {
    let mut object = Object::new(out);
    object.hex("address", item.address.as_slice());
    object.array("storageKeys", &item.storage_keys, |out, key| hex_string(out, key.as_slice()));
    object.end();
}

fn authorization(out: &mut Vec<u8>, authorization: &SignedAuthorization) {
    let mut object = Object::new(out);
    object.big_quantity("chainId", authorization.chain_id);
    object.hex("address", authorization.address.as_slice());
    object.quantity("nonce", authorization.nonce.into());
    object.quantity("yParity", authorization.y_parity().into());
    object.big_quantity("r", authorization.r());
    object.big_quantity("s", authorization.s());
    object.end();
}
