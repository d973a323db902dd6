//! Cursors of lists that are not in chain order: streams, addresses, attempts. The place is whatever bytes the
//! list's owner needs to go on.
//!
//! Its version differs from that of pages of blocks, so neither is ever taken for the other.

use super::QuestionDigest;

const VERSION: u8 = 2;
/// Version 1 ‖ issued_at 8 ‖ seen 8 ‖ total 8 ‖ question 16.
const HEAD_BYTES: usize = 41;
const PLACE_BYTES_MAX: usize = 64;
/// A longer text is refused before it is decoded.
pub const LIST_TEXT_BYTES_MAX: usize = ((HEAD_BYTES + PLACE_BYTES_MAX + 16) * 4).div_ceil(3);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListCursor {
    /// The last row of the page before.
    pub place: Vec<u8>,
    /// Rows on all pages before.
    pub seen: u64,
    /// Rows in all, as the first page said.
    pub total: u64,
    /// Unix seconds.
    pub issued_at: u64,
}

pub fn encode(cursor: &ListCursor, question: &QuestionDigest) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    for number in [cursor.issued_at, cursor.seen, cursor.total] {
        bytes.extend(number.to_be_bytes());
    }
    bytes.extend(question.0);
    bytes.extend(cursor.place.iter().take(PLACE_BYTES_MAX));
    bytes
}

/// Nothing for another version or a wrong length.
pub fn decode(bytes: &[u8]) -> Option<(ListCursor, QuestionDigest)> {
    let (version, rest) = bytes.split_first()?;
    let (issued_at, rest) = rest.split_first_chunk()?;
    let (seen, rest) = rest.split_first_chunk()?;
    let (total, rest) = rest.split_first_chunk()?;
    let (question, place) = rest.split_first_chunk()?;
    if *version != VERSION || place.len() > PLACE_BYTES_MAX {
        return None;
    }
    let cursor = ListCursor {
        place: place.to_vec(),
        seen: u64::from_be_bytes(*seen),
        total: u64::from_be_bytes(*total),
        issued_at: u64::from_be_bytes(*issued_at),
    };
    Some((cursor, QuestionDigest(*question)))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::Address;
    use model::chain::ChainId;

    use super::*;
    use crate::cursor::{Cursor, CursorError, CursorKey, PageQuestion, Position, Rows};
    use crate::params::{BlockRange, RangeEnd};

    fn question(tenant: &str) -> QuestionDigest {
        QuestionDigest::builder().field("operation", "GetStreams").field("tenant", tenant).finish()
    }

    fn cursor() -> ListCursor {
        ListCursor { place: vec![7; 24], seen: 100, total: 250, issued_at: 1_000 }
    }

    #[test]
    fn a_list_cursor_opens_to_itself_and_to_nobody_else() {
        let key = CursorKey::new([7; 32]);
        let text = key.seal_list(&cursor(), &question("a"));
        let open = |text: &str, tenant| key.open_list(text, &question(tenant), 1_000, 60);
        assert_eq!(open(&text, "a"), Ok(cursor()));
        assert_eq!(open(&text, "b"), Err(CursorError::Foreign));
        assert_eq!(key.open_list(&text, &question("a"), 1_061, 60), Err(CursorError::Expired));
        let other = CursorKey::new([8; 32]);
        assert_eq!(
            other.open_list(&text, &question("a"), 1_000, 60),
            Err(CursorError::Altered),
            "another server's"
        );
        for index in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(bytes).unwrap();
            assert!(open(&altered, "a").is_err(), "{index}");
        }
        let huge = "A".repeat(100_000);
        for wrong in ["", "1", &text[1..], &huge, "ü"] {
            assert!(open(wrong, "a").is_err(), "{}", wrong.len());
        }
    }

    #[test]
    fn cursors_of_blocks_and_of_lists_are_never_mixed_up() {
        let key = CursorKey::new([7; 32]);
        let position = Position { block: 1, index: 2, sub: 3 };
        let of_blocks = Cursor { position, limit: 4, page: 5, issued_at: 1_000 };
        let asked = PageQuestion {
            chain: ChainId(1),
            address: Address::ZERO,
            range: BlockRange { from: RangeEnd::Open, to: RangeEnd::Open },
            rows: Rows::NftTrades { market: None },
        };
        let of_blocks = key.seal(&of_blocks, &asked);
        let opened = key.open_list(&of_blocks, &question("a"), 1_000, 60);
        assert_eq!(opened, Err(CursorError::Malformed));
        // As long as the other kind.
        let of_list = key.seal_list(&ListCursor { place: vec![1; 40], ..cursor() }, &question("a"));
        assert_eq!(of_list.len(), of_blocks.len());
        assert_eq!(key.open(&of_list, 1_000, 60), Err(CursorError::Malformed));
    }
}
