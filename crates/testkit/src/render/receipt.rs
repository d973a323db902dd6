//! A receipt object and the log objects in it.

use super::writer::{Object, hex_string};
use crate::chain::{DEPOSIT_RECEIPT_VERSION, SimBlock, SimTx};

pub(super) fn write(out: &mut Vec<u8>, block: &SimBlock, index: usize, tx: &SimTx) {
    let mut object = Object::new(out);
    object.hex("blockHash", block.hash.as_slice());
    object.quantity("blockNumber", block.number().into());
    object.hex("transactionHash", tx.hash.as_slice());
    object.quantity("transactionIndex", index as u128);
    object.quantity("type", tx.envelope.tx.tx_type as u128);
    object.hex("from", tx.from.as_slice());
    object.hex_or_null("to", tx.to().as_ref().map(|to| to.as_slice()));
    object.hex_or_null("contractAddress", tx.contract_address.as_ref().map(|a| a.as_slice()));
    match tx.state_root {
        Some(root) => object.hex("root", root.as_slice()),
        None => object.quantity("status", tx.succeeded.into()),
    }
    if tx.envelope.tx.deposit.is_some() {
        object.quantity("depositNonce", tx.envelope.tx.nonce.into());
        object.quantity("depositReceiptVersion", DEPOSIT_RECEIPT_VERSION.into());
    }
    object.quantity("gasUsed", tx.gas_used.into());
    object.quantity("cumulativeGasUsed", tx.cumulative_gas_used.into());
    object.quantity("effectiveGasPrice", tx.effective_gas_price);
    if tx.blob_gas_used > 0 {
        object.quantity("blobGasUsed", tx.blob_gas_used.into());
        object.quantity("blobGasPrice", tx.blob_gas_price);
    }
    object.hex("logsBloom", tx.bloom.as_slice());
    object.array("logs", 0..tx.logs.len(), |out, place| log_json(out, block, index, place));
    object.end();
}

/// `place` is the log's place in its transaction.
pub(crate) fn log_json(out: &mut Vec<u8>, block: &SimBlock, tx_index: usize, place: usize) {
    let Some(tx) = block.txs.get(tx_index) else { return };
    let Some(log) = tx.logs.get(place) else { return };
    let mut object = Object::new(out);
    object.hex("address", log.address.as_slice());
    object.array("topics", log.topics(), |out, topic| hex_string(out, topic.as_slice()));
    object.hex("data", &log.data.data);
    object.quantity("blockNumber", block.number().into());
    object.hex("transactionHash", tx.hash.as_slice());
    object.quantity("transactionIndex", tx_index as u128);
    object.hex("blockHash", block.hash.as_slice());
    object.quantity("blockTimestamp", block.header.timestamp.into());
    object.quantity("logIndex", u128::from(tx.first_log_index) + place as u128);
    object.raw("removed", "false");
    object.end();
}
