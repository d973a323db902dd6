//! What a header says of its block: its hash, its uncles, its withdrawals, and where the chain began.

use alloy_primitives::{B256, b256};
use alloy_rlp::Encodable;
use model::raw::Withdrawal;
use model::rlp;

use super::checks::{Checks, Lie, show};
use super::header_hash::{self, FORK_FIELDS_WITH_WITHDRAWALS};

/// The hash of an empty list of uncles.
pub(super) const NO_UNCLES: B256 =
    b256!("1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347");

impl Checks<'_> {
    /// True when the hash is that of the fields, and those beside it fit them.
    pub(super) fn header(&self) -> Result<bool, Lie> {
        let (block, header) = (self.block, &self.block.header);
        if let Some(genesis) = self.rules.genesis.filter(|hash| *hash != block.hash)
            && block.number == 0
        {
            return Err(self.lie("genesis hash", genesis, block.hash));
        }
        if self.fork_fields.is_some() {
            return match header.unreadable() {
                Some(field) => self.unreadable("the header", field),
                None => self.uncles(),
            };
        }
        let computed = header_hash::header_hash(header);
        let foreign_form = computed.is_none() || header_hash::has_unknown_fields(header);
        if foreign_form && !self.knows_all_forms() {
            return Ok(false);
        }
        let got = computed.map_or("a header with fields missing".to_owned(), |h| h.to_string());
        Err(self.lie("header hash", block.hash, got))
    }

    /// A block holds hashes of uncles only, so that there are some or none is all that can be told.
    fn uncles(&self) -> Result<bool, Lie> {
        let header = &self.block.header;
        let Some(uncles) = &header.uncles else { return Ok(true) };
        let none = header.sha3_uncles == Some(NO_UNCLES);
        if none == uncles.is_empty() {
            return Ok(true);
        }
        let expected = if none { "none" } else { "some" };
        self.contradiction("uncles", expected, uncles.len())
    }

    /// True when the list is there and adds up to the header's root.
    pub(super) fn withdrawals(&self, header_holds: bool) -> Result<bool, Lie> {
        let header = &self.block.header;
        let list = header.withdrawals.as_deref().unwrap_or_default();
        let has_root = self.fork_fields.is_none_or(|count| count >= FORK_FIELDS_WITH_WITHDRAWALS);
        let Some(root) = header.withdrawals_root.filter(|_| has_root) else {
            if header_holds && !list.is_empty() {
                return Err(self.lie("withdrawals", "none, as the header has no root", list.len()));
            }
            return Ok(false);
        };
        if header.withdrawals.is_none() {
            return Ok(false);
        }
        let computed = withdrawals_root(list);
        if computed == Some(root) {
            return Ok(true);
        }
        // Chains of the OP stack put another root into this field and keep the list empty.
        if list.is_empty() && !self.knows_all_forms() {
            return Ok(false);
        }
        Err(self.lie("withdrawals root", root, show(computed)))
    }
}

fn withdrawals_root(list: &[Withdrawal]) -> Option<B256> {
    Some(alloy_trie::root::ordered_trie_root_encoded(&encoded_withdrawals(list)?))
}

pub(super) fn encoded_withdrawals(list: &[Withdrawal]) -> Option<Vec<Vec<u8>>> {
    let encode = |item: &Withdrawal| {
        let (index, validator) = (item.index?, item.validator_index?);
        let (address, amount) = (item.address?, item.amount?);
        let mut bytes = Vec::with_capacity(64);
        rlp::put_list(&mut bytes, |out| {
            index.encode(out);
            validator.encode(out);
            address.encode(out);
            amount.encode(out);
        });
        Some(bytes)
    };
    list.iter().map(encode).collect()
}
