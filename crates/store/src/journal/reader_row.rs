//! What a reader of the journal keeps, and what it writes at once.

use model::chain::ChainId;

use super::ReaderCursor;

/// A row of a reader's own; no value removes it. What the bytes mean is the reader's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderRow {
    pub key: Vec<u8>,
    pub value: Option<Vec<u8>>,
}

/// For /status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderStatus {
    pub name: String,
    pub cursor: ReaderCursor,
    /// Blocks up to the newest stored one that it has not seen.
    pub lag_blocks: u64,
}

/// A reader's step: its rows and its new place, together.
pub(crate) struct ReaderCommit {
    pub chain: ChainId,
    pub name: String,
    /// Where the reader was when it last wrote; nobody else may have moved it.
    pub expected: Option<ReaderCursor>,
    pub cursor: ReaderCursor,
    pub rows: Vec<ReaderRow>,
}
