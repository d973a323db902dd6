//! A block object, and the header object of `newHeads`.

use super::{
    transaction,
    writer::{Object, hex_string},
};
use crate::chain::{Fork, SimBlock, Withdrawal};

pub(super) fn write(out: &mut Vec<u8>, block: &SimBlock, full: bool) {
    let mut object = Object::new(out);
    header_fields(&mut object, block);
    object.quantity("size", block.size as u128);
    object.array("transactions", block.txs.iter().enumerate(), |out, (index, tx)| {
        if full {
            transaction::write(out, block, index, tx);
        } else {
            hex_string(out, tx.hash.as_slice());
        }
    });
    object.raw("uncles", "[]");
    if block.header.fork >= Fork::Shanghai {
        object.array("withdrawals", block.withdrawals.iter(), withdrawal);
    }
    object.end();
}

pub(super) fn write_header(out: &mut Vec<u8>, block: &SimBlock) {
    let mut object = Object::new(out);
    header_fields(&mut object, block);
    object.end();
}

fn header_fields(object: &mut Object, block: &SimBlock) {
    let header = &block.header;
    object.quantity("number", header.number.into());
    object.hex("hash", block.hash.as_slice());
    object.hex("parentHash", header.parent_hash.as_slice());
    object.hex("sha3Uncles", header.ommers_hash.as_slice());
    object.hex("miner", header.beneficiary.as_slice());
    object.hex("stateRoot", header.state_root.as_slice());
    object.hex("transactionsRoot", header.transactions_root.as_slice());
    object.hex("receiptsRoot", header.receipts_root.as_slice());
    object.hex("logsBloom", header.logs_bloom.as_slice());
    object.big_quantity("difficulty", header.difficulty);
    object.quantity("gasLimit", header.gas_limit.into());
    object.quantity("gasUsed", header.gas_used.into());
    object.quantity("timestamp", header.timestamp.into());
    object.hex("extraData", &header.extra_data);
    object.hex("mixHash", header.mix_hash.as_slice());
    object.hex("nonce", header.nonce.as_slice());
    if header.fork >= Fork::London {
        object.quantity("baseFeePerGas", header.base_fee_per_gas.into());
    }
    if header.fork >= Fork::Cancun {
        object.quantity("blobGasUsed", header.blob_gas_used.into());
        object.quantity("excessBlobGas", header.excess_blob_gas.into());
    }
    if header.fork >= Fork::Shanghai {
        object.hex("withdrawalsRoot", header.withdrawals_root.as_slice());
    }
    if header.fork >= Fork::Cancun {
        object.hex("parentBeaconBlockRoot", header.parent_beacon_block_root.as_slice());
    }
    if header.fork >= Fork::Prague {
        object.hex("requestsHash", header.requests_hash.as_slice());
    }
}

fn withdrawal(out: &mut Vec<u8>, withdrawal: &Withdrawal) {
    let mut object = Object::new(out);
    object.quantity("index", withdrawal.index.into());
    object.quantity("validatorIndex", withdrawal.validator_index.into());
    object.hex("address", withdrawal.address.as_slice());
    object.quantity("amount", withdrawal.amount.into());
    object.end();
}
