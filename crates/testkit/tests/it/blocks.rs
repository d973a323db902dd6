//! Every block holds what its header promises, recomputed from JSON with nothing but the protocol.

use crate::{
    json::{address, hash, list, parse, u64, u128},
    rebuild::{self, Envelope},
};
use alloy_consensus::{Block, BlockBody, Transaction, proofs};
use alloy_eips::{
    eip1559::BaseFeeParams, eip2718::Decodable2718, eip2718::Encodable2718, eip7840::BlobParams,
};
use alloy_primitives::{Address, B256, Bloom, map::HashMap};
use alloy_rlp::Encodable;
use serde_json::Value;
use std::collections::HashSet;
use testkit::{Kind, SimChain, SimConfig, rounds};

fn chain(seed: u64, txs_per_block: usize, blocks: usize) -> SimChain {
    let mut chain = SimChain::new(SimConfig { txs_per_block, ..SimConfig::seeded(seed) });
    chain.extend(blocks);
    chain
}

fn block_and_receipts(chain: &SimChain, number: u64) -> (Value, Vec<Value>) {
    let block = parse(&chain.block_json(number, true).unwrap());
    let receipts = parse(&chain.receipts_json(number).unwrap());
    (block, receipts.as_array().unwrap().clone())
}

#[test]
fn hashes_roots_and_blooms_follow_from_the_json() {
    let blocks = rounds(60, 3_000);
    let chain = chain(3, 25, blocks as usize);
    for number in 0..=blocks {
        let (block, receipts) = block_and_receipts(&chain, number);
        let header = rebuild::header(&block);
        assert_eq!(header.hash_slow(), hash(&block, "hash"), "block {number}");
        let txs: Vec<Envelope> =
            list(&block, "transactions").iter().map(rebuild::envelope).collect();
        assert_eq!(proofs::calculate_transaction_root(&txs), header.transactions_root);
        let rebuilt: Vec<_> = receipts.iter().map(rebuild::receipt).collect();
        assert_eq!(proofs::calculate_receipt_root(&rebuilt), header.receipts_root);
        let withdrawals = rebuild::withdrawals(&block);
        let root = proofs::calculate_withdrawals_root(&withdrawals);
        assert_eq!(Some(root), header.withdrawals_root);
        let bloom = rebuilt.iter().fold(Bloom::ZERO, |all, r| all | *r.logs_bloom());
        assert_eq!(bloom, header.logs_bloom);
        let size = u64(&block, "size") as usize;
        let withdrawals = Some(withdrawals.into());
        let body = BlockBody { transactions: txs, ommers: vec![], withdrawals };
        assert_eq!(Block { header, body }.length(), size);
    }
}

#[test]
fn senders_are_recovered_and_encodings_decode() {
    let chain = chain(4, 30, 20);
    for number in 1..=20 {
        for tx in list(&block_and_receipts(&chain, number).0, "transactions") {
            let envelope = rebuild::envelope(tx);
            assert_eq!(*envelope.tx_hash(), hash(tx, "hash"));
            assert_eq!(rebuild::sender(&envelope), address(tx, "from"));
            let decoded = Envelope::decode_2718(&mut envelope.encoded_2718().as_slice()).unwrap();
            assert_eq!(decoded, envelope);
        }
    }
}

#[test]
fn headers_are_linked_and_fees_follow_the_protocol() {
    let chain = chain(5, 40, 120);
    for number in 1..=120 {
        let parent = rebuild::header(&block_and_receipts(&chain, number - 1).0);
        let block = rebuild::header(&block_and_receipts(&chain, number).0);
        assert_eq!(block.parent_hash, parent.hash_slow());
        assert_eq!(block.number, number);
        assert_eq!(block.timestamp, parent.timestamp + 12);
        assert_eq!(block.base_fee_per_gas, parent.next_block_base_fee(BaseFeeParams::ethereum()));
        let blobs = BlobParams::prague();
        assert_eq!(block.excess_blob_gas, parent.next_block_excess_blob_gas(blobs));
        assert!(block.gas_used <= block.gas_limit);
        let base_fee = block.base_fee_per_gas.unwrap();
        assert!(
            (500_000_000..500_000_000_000).contains(&base_fee),
            "base fee ran away: {base_fee}"
        );
    }
}

#[test]
fn receipts_add_up() {
    let chain = chain(6, 25, 60);
    for number in 1..=60 {
        let (block, receipts) = block_and_receipts(&chain, number);
        let (mut gas, mut logs) = (0, 0);
        for (place, (tx, receipt)) in list(&block, "transactions").iter().zip(&receipts).enumerate()
        {
            gas += u64(receipt, "gasUsed");
            assert_eq!(gas, u64(receipt, "cumulativeGasUsed"));
            assert!(u64(receipt, "gasUsed") <= u64(tx, "gas"));
            assert_eq!(hash(tx, "hash"), hash(receipt, "transactionHash"));
            assert_eq!(u64(receipt, "transactionIndex"), place as u64);
            assert_eq!(u128(receipt, "effectiveGasPrice"), u128(tx, "gasPrice"));
            if receipt["status"] == "0x0" {
                assert!(list(receipt, "logs").is_empty());
            }
            for log in list(receipt, "logs") {
                assert_eq!(u64(log, "logIndex"), logs);
                assert_eq!(log["transactionHash"], tx["hash"]);
                logs += 1;
            }
            let is_creation = tx["to"].is_null();
            assert_eq!(is_creation, !receipt["contractAddress"].is_null());
            if is_creation {
                let made = address(tx, "from").create(u64(tx, "nonce"));
                assert_eq!(address(receipt, "contractAddress"), made);
            }
            if tx["type"] == "0x3" {
                let blobs = list(tx, "blobVersionedHashes").len() as u64;
                assert_eq!(u64(receipt, "blobGasUsed"), blobs * 131_072);
                let price = rebuild::header(&block).blob_fee(BlobParams::prague()).unwrap();
                assert_eq!(u128(receipt, "blobGasPrice"), price);
            }
        }
        assert_eq!(gas, u64(&block, "gasUsed"));
    }
}

#[test]
fn nonces_have_no_gap_and_authorizations_use_theirs_up() {
    let chain = chain(7, 30, 80);
    let mut nonces: HashMap<Address, u64> = HashMap::default();
    for number in 1..=80 {
        for tx in list(&block_and_receipts(&chain, number).0, "transactions") {
            let envelope = rebuild::envelope(tx);
            let next = nonces.entry(address(tx, "from")).or_default();
            assert_eq!(envelope.nonce(), *next);
            *next += 1;
            for authorization in envelope.authorization_list().into_iter().flatten() {
                let next = nonces.entry(rebuild::authority(authorization)).or_default();
                if authorization.nonce == *next {
                    *next += 1;
                }
            }
        }
    }
    for (address, nonce) in nonces {
        assert_eq!(chain.account_at(address, 80).nonce, nonce);
    }
}

#[test]
fn a_short_thin_chain_shows_every_kind_and_every_type() {
    let chain = chain(8, 1, 18);
    let kinds: HashSet<Kind> = chain.blocks().iter().flat_map(|b| &b.txs).map(|t| t.kind).collect();
    assert_eq!(kinds.len(), 18);
    let mut chain = chain;
    chain.extend(40);
    let types: HashSet<u8> =
        chain.blocks().iter().flat_map(|b| &b.txs).map(|t| t.envelope.tx.tx_type as u8).collect();
    assert_eq!(types, HashSet::from([0, 1, 2, 3, 4]));
    assert!(chain.blocks().iter().flat_map(|b| &b.txs).any(|t| t.envelope.tx.chain_id.is_none()));
}

#[test]
fn the_same_seed_gives_the_same_chain() {
    let hashes =
        |chain: &SimChain| -> Vec<B256> { chain.blocks().iter().map(|b| b.hash).collect() };
    let mut in_steps = chain(9, 10, 5);
    in_steps.extend(7);
    assert_eq!(hashes(&chain(9, 10, 12)), hashes(&in_steps));
    assert_ne!(hashes(&chain(10, 10, 12)), hashes(&in_steps));
}

#[test]
fn the_thin_form_lists_the_hashes_of_the_full_one() {
    let chain = chain(11, 10, 3);
    let full = block_and_receipts(&chain, 3).0;
    let mut thin = parse(&chain.block_json(3, false).unwrap());
    let hashes: Vec<Value> =
        list(&full, "transactions").iter().map(|tx| tx["hash"].clone()).collect();
    assert_eq!(thin["transactions"], Value::Array(hashes));
    thin["transactions"] = full["transactions"].clone();
    assert_eq!(thin, full);
    assert_eq!(
        parse(&chain.transaction_json(chain.head().txs[4].hash).unwrap()),
        full["transactions"][4]
    );
}
