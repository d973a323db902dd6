//! What is inside a cursor: fixed-width big-endian fields, then the digest of its question.
//!
//! The layout belongs to `VERSION`; a change of layout needs a new one.

use super::{Cursor, Position, QuestionDigest};

pub const VERSION: u8 = 1;
/// Version 1 ‖ block 8 ‖ index 4 ‖ sub 4 ‖ limit 4 ‖ page 4 ‖ issued_at 8 ‖ question 16.
pub const PAYLOAD_BYTES: usize = 49;

pub fn encode(cursor: &Cursor, question: &QuestionDigest) -> Vec<u8> {
    let Cursor { position, limit, page, issued_at } = *cursor;
    let mut bytes = vec![VERSION];
    bytes.extend(position.block.to_be_bytes());
    bytes.extend(position.index.to_be_bytes());
    bytes.extend(position.sub.to_be_bytes());
    bytes.extend(limit.to_be_bytes());
    bytes.extend(page.to_be_bytes());
    bytes.extend(issued_at.to_be_bytes());
    bytes.extend(question.0);
    bytes
}

/// Nothing for another version or length.
pub fn decode(mut bytes: &[u8]) -> Option<(Cursor, QuestionDigest)> {
    let rest = &mut bytes;
    let [version] = take(rest)?;
    if version != VERSION {
        return None;
    }
    let position = Position {
        block: u64::from_be_bytes(take(rest)?),
        index: u32::from_be_bytes(take(rest)?),
        sub: u32::from_be_bytes(take(rest)?),
    };
    let cursor = Cursor {
        position,
        limit: u32::from_be_bytes(take(rest)?),
        page: u32::from_be_bytes(take(rest)?),
        issued_at: u64::from_be_bytes(take(rest)?),
    };
    let question = QuestionDigest(take(rest)?);
    rest.is_empty().then_some((cursor, question))
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*head)
}
