//! Cursors: where the next page begins, sealed so that only we can have written it.
//!
//! In: a position and the question it belongs to. Out: text for the client, and back. Knows neither
//! store nor clock: the caller says what time it is. The key is a secret of the store, or of the
//! operator's for servers that do not share one, so a cursor holds across restarts and instances.
//!
//! A cursor is authenticated, not encrypted: it holds nothing the client has not seen on its page.

mod bytes;
mod key;
mod list;
mod page_question;
mod payload;
mod question;
#[cfg(test)]
mod tests;

pub use key::CursorKey;
pub use list::ListCursor;
pub use page_question::{PageQuestion, Rows};
pub use question::{QuestionBuilder, QuestionDigest};

/// The last row of a page in chain order. The next page begins behind it, so rows that arrive
/// meanwhile are neither repeated nor skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub block: u64,
    /// Transaction or log within the block.
    pub index: u32,
    /// Row within that, where one log or transaction gives several.
    pub sub: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    pub position: Position,
    /// Rows per page, as first asked; a later page need not repeat it.
    pub limit: u32,
    /// The page this cursor leads to.
    pub page: u32,
    /// Unix seconds.
    pub issued_at: u64,
}

/// Why a cursor is refused; the texts are meant for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    #[error("cursor is malformed: pass the cursor of the previous page unchanged")]
    Malformed,
    #[error(
        "cursor was altered or not issued here: pass the cursor of the previous page unchanged"
    )]
    Altered,
    #[error(
        "cursor belongs to another question: keep the operation, and leave out or repeat the other parameters \
         of the page it came from"
    )]
    Foreign,
    #[error("cursor has expired: begin again without one")]
    Expired,
}
