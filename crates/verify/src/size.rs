//! How many bytes a block has: those of its header, transactions and withdrawals, where all of it is held.

use super::checks::{Checks, Lie};
use super::header_hash;

const EMPTY_LIST: usize = 1;

impl Checks<'_> {
    /// True where the size that was told is that of the block, or cannot be known: of uncles only their
    /// hashes are held, and withdrawals are left out by some.
    pub(super) fn size(&self, txs: &[Vec<u8>]) -> Result<bool, Lie> {
        let header = &self.block.header;
        let Some(told) = header.size else { return Ok(true) };
        if !self.is_strict() || header.uncles.as_ref().is_none_or(|uncles| !uncles.is_empty()) {
            return Ok(true);
        }
        let Some(count) = self.fork_fields else { return Ok(true) };
        let withdrawals = match &header.withdrawals {
            _ if count < header_hash::FORK_FIELDS_WITH_WITHDRAWALS => 0,
            Some(list) => list_length(list.iter().map(withdrawal_length).sum()),
            None => return Ok(true),
        };
        let Some(head) = header_hash::encode_first(header, count) else { return Ok(true) };
        let txs: usize = txs.iter().map(|bytes| tx_length(bytes)).sum();
        let size_with =
            |withdrawals| list_length(head.len() + list_length(txs) + EMPTY_LIST + withdrawals);
        let expected = size_with(withdrawals);
        // anvil does not count the list of withdrawals that it has.
        let is_uncounted = withdrawals == EMPTY_LIST && told == size_with(0) as u64;
        if told == expected as u64 || is_uncounted {
            return Ok(true);
        }
        self.contradiction("block size", expected, told)
    }
}

/// In a block a typed transaction is a string of bytes, a legacy one the list that it is.
fn tx_length(bytes: &[u8]) -> usize {
    if bytes.first().is_some_and(|first| *first < 0x80) {
        list_length(bytes.len())
    } else {
        bytes.len()
    }
}

fn withdrawal_length(item: &model::raw::Withdrawal) -> usize {
    use alloy_rlp::Encodable;
    let numbers = [item.index, item.validator_index, item.amount];
    let numbers: usize = numbers.iter().flatten().map(Encodable::length).sum();
    list_length(numbers + item.address.unwrap_or_default().length())
}

/// Bytes of a list (or of a string longer than one byte) with so many bytes inside.
fn list_length(payload: usize) -> usize {
    payload + alloy_rlp::length_of_length(payload)
}
