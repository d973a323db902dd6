//! What every check is given, and what it says when something is wrong.

use alloy_primitives::B256;
use model::chain::{Chain, Verification};
use model::raw::Block;

use super::header_hash::fork_fields;

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
    /// One transaction per block, chosen with a secret of this process: cheap, and a node that changes
    /// senders is caught within a few blocks, since it cannot know which one is looked at. Receipts' blooms are then held against the roots that
    /// cover them, not made again from their logs.
    Sample,
}

pub struct Rules {
    pub verification: Verification,
    pub chain_id: u64,
    /// The hash that block 0 must have.
    pub genesis: Option<B256>,
    pub senders: Senders,
}

impl Rules {
    pub fn of(chain: &Chain, senders: Senders) -> Self {
        let Chain { verification, id, genesis, .. } = *chain;
        Rules { verification, chain_id: id.0, genesis, senders }
    }

    /// Those of a dev chain that bears the chain's id: it begins with a block of its own, and may be sent what
    /// nobody signed.
    pub fn of_dev_chain(chain: &Chain, senders: Senders) -> Self {
        let verification = Verification::Lenient;
        Rules { verification, chain_id: chain.id.0, genesis: None, senders }
    }
}

pub(super) struct Checks<'a> {
    pub block: &'a Block,
    pub rules: &'a Rules,
    /// With how many fields of forks the header has the block's hash; none where it has another.
    pub fork_fields: Option<usize>,
}

impl<'a> Checks<'a> {
    pub fn new(block: &'a Block, rules: &'a Rules) -> Self {
        Checks { block, rules, fork_fields: fork_fields(&block.header, block.hash) }
    }

    pub fn lie<A: ToString, B: ToString>(&self, check: &'static str, expected: A, got: B) -> Lie {
        Lie {
            block: self.block.number,
            check,
            expected: expected.to_string(),
            got: got.to_string(),
        }
    }

    /// Whether every form of the chain is known: what is not is a lie.
    pub fn knows_all_forms(&self) -> bool {
        self.rules.verification == Verification::Full
    }

    /// Whether what we know of its forms is its own rules, so that what contradicts them is a lie.
    pub fn is_strict(&self) -> bool {
        matches!(self.rules.verification, Verification::Full | Verification::OpStack)
    }

    /// A contradiction in what no hash covers: of a chain with rules of its own it proves nothing but that
    /// we do not know them.
    pub fn contradiction<A: ToString, B: ToString>(
        &self,
        check: &'static str,
        expected: A,
        got: B,
    ) -> Result<bool, Lie> {
        if self.is_strict() { Err(self.lie(check, expected, got)) } else { Ok(false) }
    }

    /// Of an object: a field that is there and cannot be read.
    pub fn unreadable(&self, what: &'static str, field: &str) -> Result<bool, Lie> {
        self.contradiction("unreadable field", format!("`{field}` of {what} that can be read"), "")
    }
}

/// A root for a message.
pub(super) fn show(root: Option<B256>) -> String {
    root.map_or("fields that make no root".to_owned(), |r| r.to_string())
}
