//! Builds consensus objects back from JSON alone, so that hashes and roots can be computed anew, with a
//! library that the simulated chain does not use.

use crate::json::{address, bytes, hash, list, u64, u128, u256};
use alloy_consensus::{
    Eip658Value, EthereumTxEnvelope, Header, Receipt, ReceiptEnvelope, ReceiptWithBloom, Signed,
    TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxLegacy, TxType,
};
use alloy_eips::{
    eip2930::{AccessList, AccessListItem},
    eip4895::Withdrawal,
    eip7702::{Authorization, SignedAuthorization},
};
use alloy_primitives::{Address, B256, Bloom, Log, Signature, TxKind, keccak256};
use secp256k1::{Message, SECP256K1, ecdsa::RecoverableSignature, ecdsa::RecoveryId};
use serde_json::Value;

pub type Envelope = EthereumTxEnvelope<TxEip4844>;

pub fn header(block: &Value) -> Header {
    Header {
        parent_hash: hash(block, "parentHash"),
        ommers_hash: hash(block, "sha3Uncles"),
        beneficiary: address(block, "miner"),
        state_root: hash(block, "stateRoot"),
        transactions_root: hash(block, "transactionsRoot"),
        receipts_root: hash(block, "receiptsRoot"),
        logs_bloom: Bloom::from_slice(&bytes(block, "logsBloom")),
        difficulty: u256(block, "difficulty"),
        number: u64(block, "number"),
        gas_limit: u64(block, "gasLimit"),
        gas_used: u64(block, "gasUsed"),
        timestamp: u64(block, "timestamp"),
        extra_data: bytes(block, "extraData"),
        mix_hash: hash(block, "mixHash"),
        nonce: block["nonce"].as_str().unwrap().parse().unwrap(),
        base_fee_per_gas: Some(u64(block, "baseFeePerGas")),
        withdrawals_root: Some(hash(block, "withdrawalsRoot")),
        blob_gas_used: Some(u64(block, "blobGasUsed")),
        excess_blob_gas: Some(u64(block, "excessBlobGas")),
        parent_beacon_block_root: Some(hash(block, "parentBeaconBlockRoot")),
        requests_hash: Some(hash(block, "requestsHash")),
        block_access_list_hash: None,
        slot_number: None,
    }
}

pub fn withdrawals(block: &Value) -> Vec<Withdrawal> {
    let one = |w: &Value| Withdrawal {
        index: u64(w, "index"),
        validator_index: u64(w, "validatorIndex"),
        address: address(w, "address"),
        amount: u64(w, "amount"),
    };
    list(block, "withdrawals").iter().map(one).collect()
}

pub fn envelope(tx: &Value) -> Envelope {
    let sig = signature(tx);
    match u64(tx, "type") {
        0 => Envelope::Legacy(Signed::new_unhashed(legacy(tx), sig)),
        1 => Envelope::Eip2930(Signed::new_unhashed(with_access_list(tx), sig)),
        2 => Envelope::Eip1559(Signed::new_unhashed(dynamic_fee(tx), sig)),
        3 => Envelope::Eip4844(Signed::new_unhashed(blob(tx), sig)),
        4 => Envelope::Eip7702(Signed::new_unhashed(set_code(tx), sig)),
        other => panic!("unknown type {other}"),
    }
}

fn kind(tx: &Value) -> TxKind {
    if tx["to"].is_null() { TxKind::Create } else { TxKind::Call(address(tx, "to")) }
}

fn legacy(tx: &Value) -> TxLegacy {
    TxLegacy {
        chain_id: tx["chainId"].as_str().map(|_| u64(tx, "chainId")),
        nonce: u64(tx, "nonce"),
        gas_price: u128(tx, "gasPrice"),
        gas_limit: u64(tx, "gas"),
        to: kind(tx),
        value: u256(tx, "value"),
        input: bytes(tx, "input"),
    }
}

fn with_access_list(tx: &Value) -> TxEip2930 {
    TxEip2930 {
        chain_id: u64(tx, "chainId"),
        nonce: u64(tx, "nonce"),
        gas_price: u128(tx, "gasPrice"),
        gas_limit: u64(tx, "gas"),
        to: kind(tx),
        value: u256(tx, "value"),
        access_list: access_list(tx),
        input: bytes(tx, "input"),
    }
}

fn dynamic_fee(tx: &Value) -> TxEip1559 {
    TxEip1559 {
        chain_id: u64(tx, "chainId"),
        nonce: u64(tx, "nonce"),
        gas_limit: u64(tx, "gas"),
        max_fee_per_gas: u128(tx, "maxFeePerGas"),
        max_priority_fee_per_gas: u128(tx, "maxPriorityFeePerGas"),
        to: kind(tx),
        value: u256(tx, "value"),
        access_list: access_list(tx),
        input: bytes(tx, "input"),
    }
}

fn blob(tx: &Value) -> TxEip4844 {
    TxEip4844 {
        chain_id: u64(tx, "chainId"),
        nonce: u64(tx, "nonce"),
        gas_limit: u64(tx, "gas"),
        max_fee_per_gas: u128(tx, "maxFeePerGas"),
        max_priority_fee_per_gas: u128(tx, "maxPriorityFeePerGas"),
        to: address(tx, "to"),
        value: u256(tx, "value"),
        access_list: access_list(tx),
        blob_versioned_hashes: hashes(tx, "blobVersionedHashes"),
        max_fee_per_blob_gas: u128(tx, "maxFeePerBlobGas"),
        input: bytes(tx, "input"),
    }
}

fn set_code(tx: &Value) -> TxEip7702 {
    TxEip7702 {
        chain_id: u64(tx, "chainId"),
        nonce: u64(tx, "nonce"),
        gas_limit: u64(tx, "gas"),
        max_fee_per_gas: u128(tx, "maxFeePerGas"),
        max_priority_fee_per_gas: u128(tx, "maxPriorityFeePerGas"),
        to: address(tx, "to"),
        value: u256(tx, "value"),
        access_list: access_list(tx),
        authorization_list: list(tx, "authorizationList").iter().map(authorization).collect(),
        input: bytes(tx, "input"),
    }
}

pub fn receipt(receipt: &Value) -> ReceiptEnvelope {
    let log = |log: &Value| {
        Log::new_unchecked(address(log, "address"), hashes(log, "topics"), bytes(log, "data"))
    };
    let inner = Receipt {
        status: Eip658Value::Eip658(u64(receipt, "status") == 1),
        cumulative_gas_used: u64(receipt, "cumulativeGasUsed"),
        logs: list(receipt, "logs").iter().map(log).collect(),
    };
    let logs_bloom = Bloom::from_slice(&bytes(receipt, "logsBloom"));
    assert_eq!(inner.bloom_slow(), logs_bloom);
    let tx_type = TxType::try_from(u64(receipt, "type")).unwrap();
    ReceiptEnvelope::from_typed(tx_type, ReceiptWithBloom { receipt: inner, logs_bloom })
}

/// Who signed it.
pub fn sender(envelope: &Envelope) -> Address {
    recover(envelope.signature(), envelope.signature_hash())
}

/// Who gave an authorization.
pub fn authority(authorization: &SignedAuthorization) -> Address {
    let signature = authorization.signature().unwrap();
    recover(&signature, authorization.inner().signature_hash())
}

fn recover(signature: &Signature, message: B256) -> Address {
    let id = RecoveryId::from_u8_masked(signature.v().into());
    let compact = RecoverableSignature::from_compact(&signature.as_bytes()[..64], id).unwrap();
    let key = SECP256K1.recover_ecdsa(Message::from_digest(message.0), &compact).unwrap();
    Address::from_word(keccak256(&key.serialize_uncompressed()[1..]))
}

fn signature(tx: &Value) -> Signature {
    let v = u64(tx, "v");
    let parity = match tx["yParity"].as_str() {
        Some(_) => u64(tx, "yParity") == 1,
        None if v >= 35 => (v - 35) % 2 == 1,
        None => v == 28,
    };
    if tx["type"] == "0x0" {
        let chain = tx["chainId"].as_str().map(|_| u64(tx, "chainId"));
        assert_eq!(v, chain.map_or(27, |id| id * 2 + 35) + u64::from(parity));
    } else {
        assert_eq!(v, u64::from(parity));
    }
    Signature::new(u256(tx, "r"), u256(tx, "s"), parity)
}

fn authorization(item: &Value) -> SignedAuthorization {
    let inner = Authorization {
        chain_id: u256(item, "chainId"),
        address: address(item, "address"),
        nonce: u64(item, "nonce"),
    };
    let parity = u64(item, "yParity") == 1;
    inner.into_signed(Signature::new(u256(item, "r"), u256(item, "s"), parity))
}

fn access_list(tx: &Value) -> AccessList {
    let item = |item: &Value| AccessListItem {
        address: address(item, "address"),
        storage_keys: hashes(item, "storageKeys"),
    };
    AccessList(list(tx, "accessList").iter().map(item).collect())
}

fn hashes(object: &Value, field: &str) -> Vec<B256> {
    list(object, field).iter().map(|hash| hash.as_str().unwrap().parse().unwrap()).collect()
}
