//! What one commit does, and what it did.

use crate::coverage::Coverage;
use crate::journal::{Entry, Origin};

/// First revert, newest first, then amend and untrace, then apply; all of it or nothing. `B` is a block in the form
/// in which an engine writes it.
pub struct ChangeOf<B> {
    /// Where the blocks come from, for the journal.
    pub origin: Origin,
    /// A block can be reverted only together with every stored block above it in its range.
    pub revert: Vec<u64>,
    /// Stored blocks, the same hash, that now have receipts or traces they had not before.
    pub amend: Vec<B>,
    /// Stored blocks, the same hash, whose traces turned out to be wrong: they go in again without. An
    /// amendment, for the journal.
    pub untrace: Vec<B>,
    pub apply: Vec<B>,
}

impl<B> Default for ChangeOf<B> {
    fn default() -> Self {
        let origin = Origin::default();
        ChangeOf {
            origin,
            revert: Vec::new(),
            amend: Vec::new(),
            untrace: Vec::new(),
            apply: Vec::new(),
        }
    }
}

impl<B> ChangeOf<B> {
    pub fn apply(origin: Origin, apply: Vec<B>) -> Self {
        ChangeOf { origin, apply, ..ChangeOf::default() }
    }

    pub fn revert(origin: Origin, revert: Vec<u64>) -> Self {
        ChangeOf { origin, revert, ..ChangeOf::default() }
    }

    pub fn amend(origin: Origin, amend: Vec<B>) -> Self {
        ChangeOf { origin, amend, ..ChangeOf::default() }
    }

    pub fn untrace(origin: Origin, untrace: Vec<B>) -> Self {
        ChangeOf { origin, untrace, ..ChangeOf::default() }
    }

    /// What there is to know of its blocks before they are written.
    pub(crate) fn heads<C>(&self, head: impl Fn(&B) -> C) -> ChangeOf<C> {
        ChangeOf {
            origin: self.origin,
            revert: self.revert.clone(),
            amend: self.amend.iter().map(&head).collect(),
            untrace: self.untrace.iter().map(&head).collect(),
            apply: self.apply.iter().map(&head).collect(),
        }
    }

    /// None where `to` has none for one of the blocks.
    pub(crate) fn map<C>(self, to: impl Fn(B) -> Option<C>) -> Option<ChangeOf<C>> {
        let ChangeOf { origin, revert, amend, untrace, apply } = self;
        let amend = amend.into_iter().map(&to).collect::<Option<_>>()?;
        let untrace = untrace.into_iter().map(&to).collect::<Option<_>>()?;
        let apply = apply.into_iter().map(&to).collect::<Option<_>>()?;
        Some(ChangeOf { origin, revert, amend, untrace, apply })
    }
}

/// Told after it is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    pub entries: Vec<Entry>,
    pub coverage: Coverage,
}
