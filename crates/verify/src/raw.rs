//! Bytes of a block as they are hashed, made again from its fields. Given only where they are proven: by the block's
//! hash, by a transaction's, or by a root of the header.

use alloy_primitives::keccak256;
use model::bloom::BloomMaker;
use model::raw::tx_rlp::encode_signed;
use model::raw::{Block, Tx};
use model::rlp::{put_bytes, put_list};

use super::header::{NO_UNCLES, encoded_withdrawals};
use super::header_hash::{self, FORK_FIELDS_WITH_WITHDRAWALS};
use super::receipt_encoding::encode_receipt;
use super::root::ordered_root;

/// The header, where its hash is the block's.
pub fn raw_header(block: &Block) -> Option<Vec<u8>> {
    proven_header(block).map(|(header, _)| header)
}

/// With how many fields of forks it is encoded.
fn proven_header(block: &Block) -> Option<(Vec<u8>, usize)> {
    let fork_fields = header_hash::fork_fields(&block.header, block.hash)?;
    Some((header_hash::encode_first(&block.header, fork_fields)?, fork_fields))
}

/// The transaction, where its hash is the one that it bears.
pub fn raw_transaction(tx: &Tx) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(256);
    encode_signed(tx, &mut out)?;
    (Some(keccak256(&out)) == tx.hash).then_some(out)
}

/// All receipts, where they add up to the header's root.
pub fn raw_receipts(block: &Block) -> Option<Vec<Vec<u8>>> {
    let mut maker = BloomMaker::default();
    let mut encoded = Vec::with_capacity(block.txs.len());
    for (place, tx) in block.txs.iter().enumerate() {
        let receipt = block.receipts.get(place)?.as_ref()?;
        let bloom = maker.of_logs(receipt.logs.as_deref()?);
        let mut out = Vec::with_capacity(512);
        encode_receipt(tx, receipt, &bloom, &mut out)?;
        encoded.push(out);
    }
    (Some(ordered_root(&encoded)) == block.header.receipts_root).then_some(encoded)
}

/// Header and body. None also where it has uncles: of those only the hashes are stored.
pub fn raw_block(block: &Block) -> Option<Vec<u8>> {
    let (header, fork_fields) = proven_header(block)?;
    (block.header.sha3_uncles == Some(NO_UNCLES)).then_some(())?;
    let txs = block.txs.iter().map(raw_transaction).collect::<Option<Vec<_>>>()?;
    (Some(ordered_root(&txs)) == block.header.transactions_root).then_some(())?;
    let has_withdrawals = fork_fields >= FORK_FIELDS_WITH_WITHDRAWALS;
    let withdrawals = if has_withdrawals { Some(raw_withdrawals(block)?) } else { None };
    let mut out = Vec::with_capacity(header.len() + txs.iter().map(Vec::len).sum::<usize>() + 64);
    put_list(&mut out, |out| {
        out.extend_from_slice(&header);
        put_list(out, |out| block.txs.iter().zip(&txs).for_each(|(tx, raw)| put_tx(tx, raw, out)));
        put_list(out, |_| ());
        if let Some(withdrawals) = &withdrawals {
            put_list(out, |out| withdrawals.iter().for_each(|raw| out.extend_from_slice(raw)));
        }
    });
    Some(out)
}

/// A typed transaction stands in a body as a string, a legacy one as the list that it is.
fn put_tx(tx: &Tx, raw: &[u8], out: &mut Vec<u8>) {
    match tx.kind.unwrap_or(0) {
        0 => out.extend_from_slice(raw),
        _ => put_bytes(out, raw),
    }
}

fn raw_withdrawals(block: &Block) -> Option<Vec<Vec<u8>>> {
    let encoded = encoded_withdrawals(block.header.withdrawals.as_deref()?)?;
    (Some(ordered_root(&encoded)) == block.header.withdrawals_root).then_some(encoded)
}
