//! The journal: what was applied, reverted and amended, in the order of writing, and readers that
//! follow the chain by it.

mod cursor;
mod reader_row;

use alloy_primitives::B256;

pub use cursor::{Event, EventKind, ReaderCursor};
pub(crate) use cursor::{Step, next_step};
pub(crate) use reader_row::ReaderCommit;
pub use reader_row::{ReaderRow, ReaderStatus};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Apply,
    Revert,
    /// A stored block got receipts or traces that it had not before.
    Amend,
}

/// How the blocks of a commit were come by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Following the head.
    Head,
    /// Filling history below the head, or completing blocks that were stored before.
    #[default]
    History,
    /// From files.
    Import,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub seq: u64,
    pub kind: EntryKind,
    pub origin: Origin,
    pub number: u64,
    pub hash: B256,
}

/// A moment of a chain's stored data. Whatever is answered from a chain stays right as long as this
/// does not change, whichever process writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// Sequence of the newest journal entry.
    pub seq: u64,
    /// The generation of facts in use.
    pub generation: u8,
}
