//! Recomputes what can be recomputed of a block before it is believed.
//!
//! In: a block as a node or file gave it. Out: a `Proof` of what held, or the `Lie` that was found.
//! Forms we do not model (L2 transaction types, AuRa seals, state-sync transactions) lower the proof
//! and are never a reason to refuse; a modelled form that does not add up always is.

mod header_hash;
mod lanes;
mod receipt_encoding;
mod receipts;
mod rlp;
mod root;
mod sender;
mod senders;
mod traces;
mod transactions;
mod tx_encoding;

use alloy_primitives::B256;
use model::chain::Verification;
use model::proof::Proof;
use model::raw::Block;

/// A contradiction in what a source said, with the evidence.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("block {block}: {check}: expected {expected}, got {got}")]
pub struct Lie {
    pub block: u64,
    pub check: &'static str,
    pub expected: String,
    pub got: String,
}

/// How many senders to recover; each costs as much as hashing a large transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Senders {
    All,
    /// One transaction per block, chosen by the block's hash: cheap, and a node that changes
    /// senders is caught within a few blocks. Receipts' blooms are then held against the roots that
    /// cover them, not made anew from their logs.
    Sample,
}

pub struct Rules {
    pub verification: Verification,
    pub chain_id: u64,
    pub senders: Senders,
}

pub fn verify(block: &Block, rules: &Rules) -> Result<Proof, Lie> {
    let mut proof = Proof::default();
    let check = Checks { block, rules };
    check.place()?;
    if check.header()? {
        proof.add(Proof::HEADER);
    }
    if check.transactions()? {
        proof.add(Proof::TRANSACTIONS);
    }
    if check.receipts()? {
        proof.add(Proof::RECEIPTS);
    }
    if check.withdrawals()? {
        proof.add(Proof::WITHDRAWALS);
    }
    if check.senders()? {
        proof.add(Proof::SENDERS);
    }
    if check.traces()? {
        proof.add(Proof::TRACES);
    }
    Ok(proof)
}

/// The block in its own encoding, as far as it is modelled: for comparing sizes.
pub fn encoded(block: &Block) -> Vec<u8> {
    let mut out = header_hash::encode(&block.header).unwrap_or_default();
    for (tx, receipt) in block.txs.iter().zip(&block.receipts) {
        let _ = tx_encoding::encode_signed(tx, &mut out);
        if let Some(receipt) = receipt {
            let bloom = receipt.logs_bloom.unwrap_or_default();
            let _ = receipt_encoding::encode_receipt(receipt, &bloom, &mut out);
        }
    }
    out
}

struct Checks<'a> {
    block: &'a Block,
    rules: &'a Rules,
}

impl Checks<'_> {
    fn lie<A: ToString, B: ToString>(&self, check: &'static str, expected: A, got: B) -> Lie {
        Lie {
            block: self.block.number,
            check,
            expected: expected.to_string(),
            got: got.to_string(),
        }
    }

    fn is_strict(&self) -> bool {
        self.rules.verification == Verification::Full
    }

    /// Where a transaction says it stands must be where it stands.
    fn place(&self) -> Result<(), Lie> {
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

    fn header(&self) -> Result<bool, Lie> {
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

    fn withdrawals(&self) -> Result<bool, Lie> {
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
        match computed == Some(root) {
            true => Ok(true),
            false => Err(self.lie("withdrawals root", root, show(computed))),
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

fn show(root: Option<B256>) -> String {
    root.map_or("fields that make no root".to_owned(), |r| r.to_string())
}
