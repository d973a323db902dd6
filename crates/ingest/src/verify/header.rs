//! What a header says of its block: its hash, its withdrawals, and where transactions stand.

use alloy_primitives::B256;

use super::checks::{Checks, Lie, show};
use super::{header_hash, rlp};

impl Checks<'_> {
    /// Where a transaction says it stands must be where it stands.
    pub(super) fn place(&self) -> Result<(), Lie> {
        let block = self.block;
        for (i, tx) in block.txs.iter().enumerate() {
            let agrees = tx.block_hash.is_none_or(|h| h == block.hash)
                && tx.block_number.is_none_or(|n| n == block.number)
                && tx.transaction_index.is_none_or(|n| n == i as u64)
                && tx.block_timestamp.is_none_or(|t| t == block.timestamp);
            if !agrees {
                let expected = format!("transaction {i} of block {}", block.hash);
                let got = format!(
                    "transaction {:?} of block {:?} number {:?} time {:?}",
                    tx.transaction_index, tx.block_hash, tx.block_number, tx.block_timestamp
                );
                return Err(self.lie("transaction place", expected, got));
            }
        }
        Ok(())
    }

    pub(super) fn header(&self) -> Result<bool, Lie> {
        let header = &self.block.header;
        let computed = header_hash::header_hash(header);
        if computed == Some(self.block.hash) {
            return Ok(true);
        }
        let foreign_form = computed.is_none() || header_hash::has_unknown_fields(header);
        if foreign_form && !self.is_strict() {
            return Ok(false);
        }
        let got = computed.map_or("a header with fields missing".to_owned(), |h| h.to_string());
        Err(self.lie("header hash", self.block.hash, got))
    }

    pub(super) fn withdrawals(&self) -> Result<bool, Lie> {
        let header = &self.block.header;
        let (Some(root), Some(list)) = (header.withdrawals_root, header.withdrawals.as_ref())
        else {
            return Ok(false);
        };
        // Optimism-stack chains put another root into this field and keep the list empty.
        if list.is_empty() && !self.is_strict() {
            return Ok(false);
        }
        let computed = withdrawals_root(list);
        if computed == Some(root) {
            Ok(true)
        } else {
            Err(self.lie("withdrawals root", root, show(computed)))
        }
    }
}

fn withdrawals_root(list: &[model::raw::Withdrawal]) -> Option<B256> {
    use alloy_rlp::Encodable;
    let mut encoded = Vec::with_capacity(list.len());
    for item in list {
        let (index, validator) = (item.index?, item.validator_index?);
        let (address, amount) = (item.address?, item.amount?);
        let mut bytes = Vec::with_capacity(64);
        rlp::put_list(&mut bytes, |out| {
            index.encode(out);
            validator.encode(out);
            address.encode(out);
            amount.encode(out);
        });
        encoded.push(bytes);
    }
    Some(alloy_trie::root::ordered_trie_root_encoded(&encoded))
}
