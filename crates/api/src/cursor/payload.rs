//! What is inside a cursor of a page of blocks: fixed-width big-endian fields, then its question.
//!
//! The layout belongs to `VERSION`; a change of layout needs a new one. Version 1 had a digest in the question's
//! place, version 2 is that of lists.

use super::bytes::take;
use super::page_question::{self, PageQuestion, QUESTION_BYTES};
use super::{Cursor, Position};

pub const VERSION: u8 = 3;
/// Version 1 ‖ block 8 ‖ index 4 ‖ sub 4 ‖ limit 4 ‖ page 4 ‖ issued_at 8, and the question.
pub const PAYLOAD_BYTES: usize = 33 + QUESTION_BYTES;

pub fn encode(cursor: &Cursor, question: &PageQuestion) -> Vec<u8> {
    let Cursor { position, limit, page, issued_at } = *cursor;
    let mut bytes = Vec::with_capacity(PAYLOAD_BYTES);
    bytes.push(VERSION);
    bytes.extend(position.block.to_be_bytes());
    bytes.extend(position.index.to_be_bytes());
    bytes.extend(position.sub.to_be_bytes());
    bytes.extend(limit.to_be_bytes());
    bytes.extend(page.to_be_bytes());
    bytes.extend(issued_at.to_be_bytes());
    page_question::encode(question, &mut bytes);
    bytes
}

/// Nothing for another version or length.
pub fn decode(mut bytes: &[u8]) -> Option<(Cursor, PageQuestion)> {
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
    let question = page_question::decode(rest)?;
    rest.is_empty().then_some((cursor, question))
}
