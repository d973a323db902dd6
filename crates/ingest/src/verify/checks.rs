//! What every check is given, and what it says when something is wrong.

use alloy_primitives::B256;
use model::chain::Verification;
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
    /// cover them, not made again from their logs.
    Sample,
}

pub struct Rules {
    pub verification: Verification,
    pub chain_id: u64,
    pub senders: Senders,
}

pub(super) struct Checks<'a> {
    pub block: &'a Block,
    pub rules: &'a Rules,
}

impl Checks<'_> {
    pub fn lie<A: ToString, B: ToString>(&self, check: &'static str, expected: A, got: B) -> Lie {
        Lie {
            block: self.block.number,
            check,
            expected: expected.to_string(),
            got: got.to_string(),
        }
    }

    pub fn is_strict(&self) -> bool {
        self.rules.verification == Verification::Full
    }
}

/// A root for a message.
pub(super) fn show(root: Option<B256>) -> String {
    root.map_or("fields that make no root".to_owned(), |r| r.to_string())
}
