//! The bytes of a row: header, transaction with receipt, logs, frames.
//!
//! What follows from the surroundings is left out by packing against a template; a receipt's bloom,
//! which follows from its logs, is marked and made again when asked for.

use alloy_primitives::B256;
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::wire::{put_varint, take_bytes, take_varint, unpack_list};
use model::raw::{Frame, Header, Log, Receipt, Tx, block_template};

/// What most questions need of a block, readable without the header behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stamp {
    pub number: u64,
    pub hash: B256,
    pub timestamp: u64,
    pub proof: Proof,
    pub tx_count: u32,
    /// False where the source could not trace: internal transactions are then unknown.
    pub has_traces: bool,
}

pub fn pack_header(stamp: &Stamp, header: &Header) -> Vec<u8> {
    let mut out = Vec::with_capacity(700);
    out.extend_from_slice(stamp.hash.as_slice());
    out.extend_from_slice(&stamp.timestamp.to_be_bytes());
    out.extend_from_slice(&stamp.proof.bits().to_be_bytes());
    out.push(u8::from(stamp.has_traces));
    put_varint(&mut out, u64::from(stamp.tx_count));
    header.pack_with(&header_template(stamp), &mut out);
    out
}

fn header_template(stamp: &Stamp) -> Header {
    Header {
        number: Some(stamp.number),
        hash: Some(stamp.hash),
        timestamp: Some(stamp.timestamp),
        ..Header::default()
    }
}

pub fn unpack_stamp(number: u64, input: &mut &[u8]) -> Option<Stamp> {
    let hash = B256::from_slice(take_bytes(input, 32)?);
    let timestamp = u64::from_be_bytes(take_bytes(input, 8)?.try_into().ok()?);
    let proof = u16::from_be_bytes(take_bytes(input, 2)?.try_into().ok()?);
    let has_traces = *take_bytes(input, 1)?.first()? != 0;
    let tx_count = u32::try_from(take_varint(input)?).ok()?;
    let proof = Proof::from_bits(proof);
    Some(Stamp { number, hash, timestamp, proof, tx_count, has_traces })
}

pub fn unpack_header(number: u64, mut input: &[u8]) -> Option<(Stamp, Header)> {
    let stamp = unpack_stamp(number, &mut input)?;
    let header = Header::unpack_with(&header_template(&stamp), &mut input)?;
    Some((stamp, header))
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

fn tx_template(stamp: &Stamp, chain: ChainId, index: u32) -> Tx {
    let header = header_template(stamp);
    block_template(&header, chain.0, index as usize)
}

const NO_RECEIPT: u8 = 0;
const RECEIPT: u8 = 1;
/// The bloom is left out: it is that of the logs.
const RECEIPT_BLOOM_OF_LOGS: u8 = 2;

/// `receipt` comes without logs; they are a row of their own.
pub fn pack_tx(
    stamp: &Stamp,
    chain: ChainId,
    index: u32,
    tx: &Tx,
    receipt: Option<(&Receipt, bool)>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    tx.pack_with(&tx_template(stamp, chain, index), &mut out);
    match receipt {
        None => out.push(NO_RECEIPT),
        Some((receipt, bloom_of_logs)) => {
            out.push(if bloom_of_logs { RECEIPT_BLOOM_OF_LOGS } else { RECEIPT });
            receipt.pack_with(&receipt_template(tx), &mut out);
        }
    }
    out
}

pub struct TxRow {
    pub tx: Tx,
    /// Without logs.
    pub receipt: Option<Receipt>,
    /// The receipt's bloom is that of its logs and must be made from them.
    pub bloom_of_logs: bool,
}

pub fn unpack_tx(stamp: &Stamp, chain: ChainId, index: u32, mut input: &[u8]) -> Option<TxRow> {
    let input = &mut input;
    let tx = Tx::unpack_with(&tx_template(stamp, chain, index), input)?;
    let mark = *take_bytes(input, 1)?.first()?;
    let receipt = match mark {
        NO_RECEIPT => None,
        _ => Some(Receipt::unpack_with(&receipt_template(&tx), input)?),
    };
    Some(TxRow { tx, receipt, bloom_of_logs: mark == RECEIPT_BLOOM_OF_LOGS })
}

/// The first log's number stands in front; the others count on from it.
pub fn pack_logs(tx: &Tx, logs: &[Log]) -> Vec<u8> {
    let mut out = Vec::with_capacity(logs.len() * 128);
    let first = logs.first().and_then(|log| log.log_index).unwrap_or(0);
    put_varint(&mut out, first);
    put_varint(&mut out, logs.len() as u64);
    for (i, log) in logs.iter().enumerate() {
        log.pack_with(&log_template(tx, first.wrapping_add(i as u64)), &mut out);
    }
    out
}

pub fn unpack_logs(tx: &Tx, mut input: &[u8]) -> Option<Vec<Log>> {
    let first = take_varint(&mut input)?;
    let count = take_varint(&mut input)?;
    let mut logs = Vec::with_capacity(usize::try_from(count).ok()?.min(input.len()));
    for i in 0..count {
        logs.push(Log::unpack_with(&log_template(tx, first.wrapping_add(i)), &mut input)?);
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

pub fn pack_frames(frames: &[Frame]) -> Vec<u8> {
    let mut out = Vec::with_capacity(frames.len() * 160);
    put_varint(&mut out, frames.len() as u64);
    frames.iter().for_each(|frame| frame.pack(&mut out));
    out
}

pub fn unpack_frames(mut input: &[u8]) -> Option<Vec<Frame>> {
    unpack_list(&mut input, Frame::unpack)
}
