//! Blocks of a simulated chain, encoded and read back: what comes out is what its node says.

use alloy_rlp::Encodable;
use model::raw::tx_rlp::encode_signed;
use model::raw::{Block, Tx, Withdrawal};
use model::rlp::put_list;
use serde_json::Value;
use testkit::{SimChain, SimConfig};

use super::RlpBlocks;
use crate::verify::encode_header;

pub fn chain() -> SimChain {
    let config = SimConfig { txs_per_block: 12, withdrawals_per_block: 2, ..SimConfig::seeded(17) };
    let mut chain = SimChain::new(config);
    chain.extend(20);
    chain
}

pub fn block(chain: &SimChain, number: u64) -> Block {
    Block::read(&chain.block_json(number, true).unwrap()).unwrap().unwrap()
}

fn put_tx(out: &mut Vec<u8>, tx: &Tx) {
    let mut bytes = Vec::new();
    encode_signed(tx, &mut bytes).unwrap();
    // A typed transaction is bytes, a legacy one the list that it is.
    if bytes[0] < 0x80 { bytes.as_slice().encode(out) } else { out.extend_from_slice(&bytes) }
}

fn put_withdrawal(out: &mut Vec<u8>, item: &Withdrawal) {
    put_list(out, |out| {
        item.index.unwrap().encode(out);
        item.validator_index.unwrap().encode(out);
        item.address.unwrap().encode(out);
        item.amount.unwrap().encode(out);
    });
}

/// Header, and the parts of the body one behind the other.
pub fn encoded(block: &Block) -> (Vec<u8>, Vec<u8>) {
    let mut body = Vec::new();
    put_list(&mut body, |out| block.txs.iter().for_each(|tx| put_tx(out, tx)));
    put_list(&mut body, |_| {});
    if let Some(list) = &block.header.withdrawals {
        put_list(&mut body, |out| list.iter().for_each(|item| put_withdrawal(out, item)));
    }
    (encode_header(&block.header).unwrap(), body)
}

pub fn as_json(block: &Block) -> Value {
    let mut out = Vec::new();
    block.write_json(true, &mut out);
    serde_json::from_slice(&out).unwrap()
}

fn file(chain: &SimChain) -> Vec<u8> {
    let mut file = Vec::new();
    for number in 0..=20 {
        let (header, body) = encoded(&block(chain, number));
        put_list(&mut file, |out| out.extend(header.into_iter().chain(body)));
    }
    file
}

/// Nodes differ in what they leave out; all that both say is the same, and nothing but these is missing.
fn assert_same(read: &Value, node: &Value, what: &str) {
    for (name, value) in node.as_object().unwrap() {
        match (&read[name], value) {
            (Value::Array(read), Value::Array(node)) if name == "transactions" => {
                assert_eq!(read.len(), node.len(), "{what}");
                for (index, (read, node)) in read.iter().zip(node).enumerate() {
                    assert_same(read, node, &format!("{what}, transaction {index}"));
                }
            }
            (Value::Null, _) if ["totalDifficulty", "mixHash"].contains(&name.as_str()) => {}
            // Fields that only typed transactions have in the encoding.
            (Value::Null, _) if ["yParity", "chainId", "accessList"].contains(&name.as_str()) => {
                assert_eq!(node["type"], "0x0", "{what}: {name}");
            }
            (read, value) => assert_eq!(read, value, "{what}: {name}"),
        }
    }
}

#[test]
fn exported_blocks_are_read_as_their_node_says_them() {
    let chain = chain();
    let file = file(&chain);
    let blocks: Vec<Block> = RlpBlocks::new(file.as_slice(), 1 << 20).map(Result::unwrap).collect();
    assert_eq!(blocks.len(), 21);
    let mut txs = 0;
    for (number, read) in (0..).zip(&blocks) {
        let node: Value = serde_json::from_slice(&chain.block_json(number, true).unwrap()).unwrap();
        assert_same(&as_json(read), &node, &format!("block {number}"));
        txs += read.txs.len();
        assert!(read.receipts.iter().all(Option::is_none));
    }
    assert!(txs > 100);
}

#[test]
fn a_file_that_is_cut_or_bent_says_so_and_stops() {
    let file = file(&chain());
    for cut in [1, 2, 100, file.len() / 2, file.len() - 1] {
        let read: Vec<_> = RlpBlocks::new(&file[..cut], 1 << 20).collect();
        assert!(read.last().unwrap().is_err(), "{cut}");
        assert!(read.iter().rev().skip(1).all(Result::is_ok), "{cut}");
    }
    assert!(RlpBlocks::new(file.as_slice(), 100).next().unwrap().is_err());
    for bent in 0..300 {
        let mut bytes = file.clone();
        bytes[bent * 7 % file.len()] ^= 1 << (bent % 8);
        // Some of it cannot be read any more; nothing panics, and it ends.
        assert!(RlpBlocks::new(bytes.as_slice(), 1 << 20).count() <= 64);
    }
}
