//! What one commit does, and what it did.

use crate::block::PreparedBlock;
use crate::coverage::Coverage;
use crate::journal::{Entry, Origin};

/// First revert, newest first, then amend, then apply; all of it or nothing.
#[derive(Default)]
pub struct Change {
    /// Where the blocks come from, for the journal.
    pub origin: Origin,
    /// A block can be reverted only together with every stored block above it in its range.
    pub revert: Vec<u64>,
    /// Stored blocks, the same hash, that now have receipts or traces they had not before.
    pub amend: Vec<PreparedBlock>,
    pub apply: Vec<PreparedBlock>,
}

impl Change {
    pub fn apply(origin: Origin, apply: Vec<PreparedBlock>) -> Self {
        Change { origin, apply, ..Change::default() }
    }

    pub fn revert(origin: Origin, revert: Vec<u64>) -> Self {
        Change { origin, revert, ..Change::default() }
    }

    pub fn amend(origin: Origin, amend: Vec<PreparedBlock>) -> Self {
        Change { origin, amend, ..Change::default() }
    }
}

/// Told after it is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    pub entries: Vec<Entry>,
    pub coverage: Coverage,
}
