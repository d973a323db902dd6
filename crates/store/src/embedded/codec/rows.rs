//! The bytes of a row: header, transaction with receipt, logs, frames.
//!
//! What follows from the surroundings is left out by packing against a template; a receipt's bloom,
//! which follows from its logs, is marked and made again when asked for; a transaction's hash, which
//! follows from its fields, is made again whenever the row is read.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::tx_rlp::hash_of;
use model::raw::{Frame, Header, Log, Receipt, Tx};

use super::bytes::{take_byte, take_bytes};
use super::groups;
use super::object::PackedObject;
use super::value::{Packed, unpack_list};
use super::varint::{put_varint, take_varint};

use crate::block::{BlockRef, BlockSummary};

/// Written in front of every group of transactions, so that one look finds all that they need.
pub fn pack_block_ref(block: &BlockRef, out: &mut Vec<u8>) {
    out.extend_from_slice(block.hash.as_slice());
    put_varint(out, block.timestamp);
    out.push(u8::from(block.has_traces));
}

pub fn unpack_block_ref(number: u64, input: &mut &[u8]) -> Option<BlockRef> {
    let hash = B256::from_slice(take_bytes(input, 32)?);
    let timestamp = take_varint(input)?;
    let has_traces = *take_bytes(input, 1)?.first()? != 0;
    Some(BlockRef { number, hash, timestamp, has_traces })
}

/// What a block's own rows need not repeat.
fn header_template(block: &BlockRef) -> Header {
    Header {
        number: Some(block.number),
        hash: Some(block.hash),
        timestamp: Some(block.timestamp),
        ..Header::default()
    }
}

/// The summary stands in front, readable without the header behind it.
pub fn pack_header(summary: &BlockSummary, header: &Header) -> Vec<u8> {
    let mut out = Vec::with_capacity(700);
    out.extend_from_slice(summary.hash.as_slice());
    out.extend_from_slice(&summary.timestamp.to_be_bytes());
    out.extend_from_slice(&summary.proof.bits().to_be_bytes());
    out.push(u8::from(summary.has_traces));
    put_varint(&mut out, u64::from(summary.tx_count));
    header.pack_with(&header_template(&summary.block_ref()), &mut out);
    out
}

pub fn unpack_summary(number: u64, input: &mut &[u8]) -> Option<BlockSummary> {
    let hash = B256::from_slice(take_bytes(input, 32)?);
    let timestamp = u64::from_be_bytes(take_bytes(input, 8)?.try_into().ok()?);
    let proof = u16::from_be_bytes(take_bytes(input, 2)?.try_into().ok()?);
    let has_traces = take_byte(input)? != 0;
    let tx_count = u32::try_from(take_varint(input)?).ok()?;
    let proof = Proof::from_bits(proof);
    Some(BlockSummary { number, hash, timestamp, proof, tx_count, has_traces })
}

pub fn unpack_header(number: u64, mut input: &[u8]) -> Option<(BlockSummary, Header)> {
    let summary = unpack_summary(number, &mut input)?;
    let header = Header::unpack_with(&header_template(&summary.block_ref()), &mut input)?;
    Some((summary, header))
}

/// What a transaction's receipt repeats of it.
fn receipt_template(tx: &Tx) -> Receipt {
    Receipt {
        transaction_hash: tx.hash,
        transaction_index: tx.transaction_index,
        block_hash: tx.block_hash,
        block_number: tx.block_number,
        from: tx.from,
        to: tx.to,
        kind: tx.kind,
        effective_gas_price: tx.gas_price,
        status: Some(1),
        ..Receipt::default()
    }
}

const NO_RECEIPT: u8 = 0;
const RECEIPT: u8 = 1;
/// The bloom is left out: it is that of the logs.
const RECEIPT_BLOOM_OF_LOGS: u8 = 2;

/// Whether a transaction's hash is in its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TxHash {
    #[default]
    Kept,
    /// To be said only of one that was verified: it is the hash of the other fields.
    LeftOut,
}

/// In the place of a hash that was left out, until it is made.
const NOT_MADE: B256 = B256::ZERO;

/// Packs and unpacks the transactions of one block: what they share with it is made once.
pub struct TxPacker {
    template: Tx,
}

impl TxPacker {
    pub fn new(block: &BlockRef, chain: ChainId) -> Self {
        let template = Tx {
            block_hash: Some(block.hash),
            block_number: Some(block.number),
            block_timestamp: Some(block.timestamp),
            chain_id: Some(chain.0),
            ..Tx::default()
        };
        TxPacker { template }
    }

    fn at(&mut self, index: u32, hash: Option<B256>) -> &Tx {
        self.template.transaction_index = Some(u64::from(index));
        self.template.hash = hash;
        &self.template
    }

    /// `receipt` comes without logs; they are a row of their own.
    pub fn pack(
        &mut self,
        (index, hash): (u32, TxHash),
        tx: &Tx,
        receipt: Option<(&Receipt, bool)>,
        out: &mut Vec<u8>,
    ) {
        debug_assert!(hash == TxHash::Kept || tx.hash == hash_of(tx), "it was not verified");
        let left_out = tx.hash.filter(|_| hash == TxHash::LeftOut);
        tx.pack_with(self.at(index, left_out), out);
        match receipt {
            None => out.push(NO_RECEIPT),
            Some((receipt, bloom_of_logs)) => {
                out.push(if bloom_of_logs { RECEIPT_BLOOM_OF_LOGS } else { RECEIPT });
                receipt.pack_with(&receipt_template(tx), out);
            }
        }
    }

    pub fn unpack(&mut self, index: u32, input: &[u8]) -> Option<TxRow> {
        let mut row = TxRow::default();
        row.marks = self.unpack_to((index, input), &mut row.tx, &mut row.receipt)?;
        Some(row)
    }

    /// The same into an empty transaction, where it lies.
    pub fn unpack_to(
        &mut self,
        (index, mut input): (u32, &[u8]),
        tx: &mut Tx,
        receipt: &mut Option<Receipt>,
    ) -> Option<RowMarks> {
        let input = &mut input;
        tx.fill_with(self.at(index, Some(NOT_MADE)), input)?;
        let hash = if tx.hash == Some(NOT_MADE) { TxHash::LeftOut } else { TxHash::Kept };
        if hash == TxHash::LeftOut {
            tx.hash = Some(hash_of(tx)?);
        }
        let mark = take_byte(input)?;
        if mark != NO_RECEIPT {
            receipt.insert(Receipt::default()).fill_with(&receipt_template(tx), input)?;
        }
        Some(RowMarks { hash, bloom_of_logs: mark == RECEIPT_BLOOM_OF_LOGS })
    }
}

/// A transaction with its receipt, without logs.
#[derive(Default)]
pub struct TxRow {
    pub tx: Tx,
    pub receipt: Option<Receipt>,
    pub marks: RowMarks,
}

/// What a row says of how it was packed.
#[derive(Clone, Copy, Default)]
pub struct RowMarks {
    pub hash: TxHash,
    /// The receipt's bloom is that of its logs and must be made from them.
    pub bloom_of_logs: bool,
}

/// A group of transactions as it would be if no hash were left out.
pub fn with_hashes((chain, number, group): (ChainId, u64, u32), row: &[u8]) -> Option<Vec<u8>> {
    let mut rest = row;
    let block = unpack_block_ref(number, &mut rest)?;
    let mut out = Vec::with_capacity(row.len() + groups::GROUP as usize * 32);
    out.extend_from_slice(row.strip_suffix(rest)?);
    let mut packer = TxPacker::new(&block, chain);
    let mut part = Vec::new();
    let first = group.checked_mul(groups::GROUP)?;
    for index in first.. {
        if rest.is_empty() {
            break;
        }
        let stored = groups::take(&mut rest)?;
        let TxRow { tx, receipt, marks: RowMarks { hash, bloom_of_logs } } =
            packer.unpack(index, stored)?;
        if hash == TxHash::Kept {
            groups::put(&mut out, stored);
            continue;
        }
        part.clear();
        let receipt = receipt.as_ref().map(|receipt| (receipt, bloom_of_logs));
        packer.pack((index, TxHash::Kept), &tx, receipt, &mut part);
        groups::put(&mut out, &part);
    }
    Some(out)
}

/// The first log's number stands in front; the others count on from it.
pub fn pack_logs(tx: &Tx, logs: &[Log], out: &mut Vec<u8>) {
    let first = logs.first().and_then(|log| log.log_index).unwrap_or(0);
    put_varint(out, first);
    put_varint(out, logs.len() as u64);
    let mut template = log_template(tx, first);
    for (i, log) in logs.iter().enumerate() {
        template.log_index = Some(first.wrapping_add(i as u64));
        log.pack_with(&template, out);
    }
}

pub fn unpack_logs(tx: &Tx, mut input: &[u8]) -> Option<Vec<Log>> {
    let first = take_varint(&mut input)?;
    let count = take_varint(&mut input)?;
    let mut logs = Vec::with_capacity(usize::try_from(count).ok()?.min(input.len()));
    let mut template = log_template(tx, first);
    for i in 0..count {
        template.log_index = Some(first.wrapping_add(i));
        logs.push(Log::unpack_with(&template, &mut input)?);
    }
    Some(logs)
}

fn log_template(tx: &Tx, log_index: u64) -> Log {
    Log {
        block_number: tx.block_number,
        block_hash: tx.block_hash,
        block_timestamp: tx.block_timestamp,
        transaction_hash: tx.hash,
        transaction_index: tx.transaction_index,
        log_index: Some(log_index),
        removed: Some(false),
        ..Log::default()
    }
}

/// What is kept of the root, if anything is, stands in front of the others.
pub fn pack_frames(root: Option<&Frame>, frames: &[Frame], out: &mut Vec<u8>) {
    put_varint(out, (usize::from(root.is_some()) + frames.len()) as u64);
    root.into_iter().chain(frames).for_each(|frame| frame.pack(out));
}

/// A group of frames as it would be if no root were kept; empty where it would not be at all.
pub fn without_roots(mut group: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut part, mut is_needed) = (Vec::with_capacity(group.len()), Vec::new(), false);
    while !group.is_empty() {
        let frames = groups::take(&mut group)?;
        part.clear();
        if !frames.is_empty() {
            let mut rest = frames;
            let count = take_varint(&mut rest)?;
            let below = rest;
            let root = Frame::unpack(&mut rest).filter(|first| first.path.is_empty());
            let (count, below) = match root {
                Some(_) => (count.checked_sub(1)?, rest),
                None => (count, below),
            };
            if count > 0 {
                put_varint(&mut part, count);
                part.extend_from_slice(below);
                is_needed = true;
            }
        }
        groups::put(&mut out, &part);
    }
    Some(if is_needed { out } else { Vec::new() })
}

pub fn unpack_frames(mut input: &[u8]) -> Option<Vec<Frame>> {
    unpack_list(&mut input, Frame::unpack)
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{Address, Bytes, U256};

    use super::*;

    fn tx(nonce: u64) -> Tx {
        let mut tx = Tx {
            kind: Some(0),
            nonce: Some(nonce),
            gas_price: Some(U256::from(7)),
            gas: Some(21_000),
            to: Some(Address::repeat_byte(3)),
            value: Some(U256::from(5)),
            input: Some(Bytes::from_static(b"input")),
            v: Some(U256::from(37)),
            r: Some(U256::from(11)),
            s: Some(U256::from(12)),
            ..Tx::default()
        };
        tx.hash = hash_of(&tx);
        tx
    }

    #[test]
    fn a_hash_that_is_left_out_is_made_again_and_digests_do_not_see_it() {
        let block =
            BlockRef { number: 9, hash: B256::repeat_byte(1), timestamp: 5, has_traces: false };
        let (chain, group) = (ChainId(1), 2);
        let first = group * groups::GROUP;
        let rows = |hash: TxHash| {
            let mut packer = TxPacker::new(&block, chain);
            let mut row = Vec::new();
            pack_block_ref(&block, &mut row);
            for index in first..first + 3 {
                let tx = tx(u64::from(index));
                let receipt = Receipt { transaction_hash: tx.hash, ..Receipt::default() };
                let mut part = Vec::new();
                packer.pack((index, hash), &tx, Some((&receipt, false)), &mut part);
                let read = packer.unpack(index, &part).unwrap();
                assert_eq!((read.tx, read.marks.hash), (tx, hash));
                assert_eq!(read.receipt, Some(receipt));
                groups::put(&mut row, &part);
            }
            row
        };
        let (kept, left_out) = (rows(TxHash::Kept), rows(TxHash::LeftOut));
        assert_eq!(kept.len(), left_out.len() + 3 * 32);
        let whole = |row: &[u8]| with_hashes((chain, 9, group), row);
        assert_eq!(whole(&left_out), Some(kept.clone()));
        assert_eq!(whole(&kept), Some(kept));
        assert_eq!(whole(&left_out[..left_out.len() - 1]), None);
    }

    #[test]
    fn a_transaction_whose_hash_cannot_be_made_is_no_row() {
        let block = BlockRef { number: 9, hash: B256::ZERO, timestamp: 5, has_traces: false };
        let mut packer = TxPacker::new(&block, ChainId(1));
        let odd = Tx { kind: Some(99), hash: Some(B256::repeat_byte(7)), ..Tx::default() };
        let mut part = Vec::new();
        odd.pack_with(packer.at(0, odd.hash), &mut part);
        part.push(NO_RECEIPT);
        assert!(packer.unpack(0, &part).is_none());
    }
}
