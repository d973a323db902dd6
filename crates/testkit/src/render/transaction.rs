//! A transaction object. Fields depend on the type; `gasPrice` is the price paid, as geth gives it.

use super::writer::{Object, hex_string};
use crate::chain::{
    AccessListItem, DEPOSIT_RECEIPT_VERSION, Envelope, SignedAuthorization, SimBlock, SimTx,
    TxType, Unsigned,
};

pub(super) fn write(out: &mut Vec<u8>, block: &SimBlock, index: usize, tx: &SimTx) {
    let unsigned = &tx.envelope.tx;
    let mut object = Object::new(out);
    object.hex("blockHash", block.hash.as_slice());
    object.quantity("blockNumber", block.number().into());
    object.quantity("blockTimestamp", block.header.timestamp.into());
    object.quantity("transactionIndex", index as u128);
    object.hex("hash", tx.hash.as_slice());
    object.quantity("type", unsigned.tx_type as u128);
    object.hex("from", tx.from.as_slice());
    object.hex_or_null("to", tx.to().as_ref().map(|to| to.as_slice()));
    object.quantity("nonce", unsigned.nonce.into());
    object.big_quantity("value", unsigned.value);
    object.quantity("gas", unsigned.gas_limit.into());
    object.quantity("gasPrice", tx.effective_gas_price);
    object.hex("input", &unsigned.input);
    if let Some(chain_id) = unsigned.chain_id {
        object.quantity("chainId", chain_id.into());
    }
    if let Some(deposit) = &unsigned.deposit {
        object.hex("sourceHash", deposit.source_hash.as_slice());
        object.quantity("mint", deposit.mint);
        object.quantity("depositReceiptVersion", DEPOSIT_RECEIPT_VERSION.into());
        zero_signature(&mut object);
        return object.end();
    }
    typed_fields(&mut object, unsigned);
    signature(&mut object, &tx.envelope);
    object.end();
}

fn typed_fields(object: &mut Object, tx: &Unsigned) {
    if let Some(tip) = tx.max_priority_fee_per_gas {
        object.quantity("maxFeePerGas", tx.max_fee_per_gas);
        object.quantity("maxPriorityFeePerGas", tip);
    }
    if tx.tx_type == TxType::Blob {
        object.quantity("maxFeePerBlobGas", tx.max_fee_per_blob_gas);
        let hashes = &tx.blob_versioned_hashes;
        object.array("blobVersionedHashes", hashes, |out, hash| hex_string(out, hash.as_slice()));
    }
    if !tx.is_legacy() {
        object.array("accessList", &tx.access_list, access_list_item);
    }
    if tx.tx_type == TxType::SetCode {
        object.array("authorizationList", &tx.authorization_list, authorization);
    }
}

/// As op-geth writes what nobody signed.
fn zero_signature(object: &mut Object) {
    ["v", "r", "s"].into_iter().for_each(|name| object.quantity(name, 0));
}

fn signature(object: &mut Object, envelope: &Envelope) {
    object.quantity("v", envelope.v());
    if !envelope.tx.is_legacy() {
        object.quantity("yParity", envelope.v());
    }
    object.big_quantity("r", envelope.signature.r());
    object.big_quantity("s", envelope.signature.s());
}

fn access_list_item(out: &mut Vec<u8>, item: &AccessListItem) {
    let mut object = Object::new(out);
    object.hex("address", item.address.as_slice());
    object.array("storageKeys", &item.storage_keys, |out, key| hex_string(out, key.as_slice()));
    object.end();
}

fn authorization(out: &mut Vec<u8>, authorization: &SignedAuthorization) {
    let mut object = Object::new(out);
    object.quantity("chainId", authorization.chain_id.into());
    object.hex("address", authorization.address.as_slice());
    object.quantity("nonce", authorization.nonce.into());
    object.quantity("yParity", authorization.signature.v().into());
    object.big_quantity("r", authorization.signature.r());
    object.big_quantity("s", authorization.signature.s());
    object.end();
}
