//! An archive written here from a simulated chain, and read back.

use std::io::Write;

use model::raw::{Block, read_receipts};
use model::rlp::put_list;

use super::Era1Blocks;
use crate::source::rlp::tests::{as_json, block, chain, encoded};
use crate::verify::encode_receipt;
use testkit::SimChain;

fn frame(data: &[u8]) -> Vec<u8> {
    let mut packer = snap::write::FrameEncoder::new(Vec::new());
    packer.write_all(data).unwrap();
    packer.into_inner().unwrap()
}

fn put_entry(out: &mut Vec<u8>, kind: u16, data: &[u8]) {
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&(data.len() as u32).to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(data);
}

fn with_receipts(chain: &SimChain, number: u64) -> Block {
    let mut block = block(chain, number);
    let receipts = read_receipts(&chain.receipts_json(number).unwrap()).unwrap();
    block.set_receipts(receipts).unwrap();
    block
}

fn receipts_of(block: &Block) -> Vec<u8> {
    let mut out = Vec::new();
    put_list(&mut out, |out| {
        for (tx, receipt) in block.txs.iter().zip(block.receipts.iter().flatten()) {
            let mut bytes = Vec::new();
            encode_receipt(tx, receipt, &receipt.logs_bloom.unwrap(), &mut bytes).unwrap();
            if bytes[0] < 0x80 {
                alloy_rlp::Encodable::encode(&bytes.as_slice(), out);
            } else {
                out.extend_from_slice(&bytes);
            }
        }
    });
    out
}

fn archive(chain: &SimChain) -> Vec<u8> {
    let mut file = Vec::new();
    put_entry(&mut file, 0x3265, &[]);
    for number in 0..=20 {
        let block = with_receipts(chain, number);
        let (header, parts) = encoded(&block);
        let mut body = Vec::new();
        put_list(&mut body, |out| out.extend(parts));
        put_entry(&mut file, 3, &frame(&header));
        put_entry(&mut file, 4, &frame(&body));
        put_entry(&mut file, 5, &frame(&receipts_of(&block)));
        put_entry(&mut file, 6, &[0; 32]);
    }
    put_entry(&mut file, 7, &[0; 32]);
    put_entry(&mut file, 0x3266, &[0; 16]);
    file
}

#[test]
fn an_archive_gives_blocks_with_their_receipts() {
    let chain = chain();
    let file = archive(&chain);
    let blocks: Vec<Block> =
        Era1Blocks::new(file.as_slice(), 1 << 20).map(Result::unwrap).collect();
    assert_eq!(blocks.len(), 21);
    let mut logs = 0;
    for (number, read) in (0..).zip(&blocks) {
        let expected = with_receipts(&chain, number);
        assert_eq!(as_json(read)["hash"], as_json(&expected)["hash"]);
        assert_eq!(as_json(read)["size"], as_json(&expected)["size"], "{number}");
        for (read, expected) in
            read.receipts.iter().flatten().zip(expected.receipts.iter().flatten())
        {
            assert_eq!(read.logs.as_ref().map(Vec::len), expected.logs.as_ref().map(Vec::len));
            for (read, expected) in read.logs.iter().flatten().zip(expected.logs.iter().flatten()) {
                assert_eq!((&read.address, &read.topics), (&expected.address, &expected.topics));
                assert_eq!((&read.data, read.log_index), (&expected.data, expected.log_index));
                logs += 1;
            }
            assert_eq!(read.gas_used, expected.gas_used);
            assert_eq!(read.contract_address, expected.contract_address);
            assert_eq!(read.effective_gas_price, expected.effective_gas_price);
            assert_eq!((read.status, read.root), (expected.status, expected.root));
        }
        assert!(read.has_all_receipts());
    }
    assert!(logs > 50);
}

#[test]
fn an_archive_that_is_cut_or_out_of_order_says_so() {
    let file = archive(&chain());
    for cut in [3, 9, 40, file.len() / 3, file.len() / 2] {
        let read: Vec<_> = Era1Blocks::new(&file[..cut], 1 << 20).collect();
        assert!(read.last().unwrap().is_err(), "{cut}");
    }
    let mut odd = Vec::new();
    put_entry(&mut odd, 4, &frame(&[0xc0]));
    assert!(Era1Blocks::new(odd.as_slice(), 1 << 20).next().unwrap().is_err());
}
