//! A webhook's body: bytes that stay the same when JavaScript reads and writes them again, because receivers
//! check the signature over `JSON.stringify(body)`.
//!
//! In: the items of a match. Out: compact JSON, in several bodies where one would be too large, and the few edits
//! that a stored body undergoes. All numbers are texts, except `retries` and `gas` in a user's own ABI.
//! Must not know who it is sent to.

mod edit;
mod head;
mod item_json;
mod json;
mod pack;
mod sheet;

pub use edit::{confirmed, retracted, test_body, with_retries};
pub use head::PayloadHead;
pub use pack::write_parts;

#[cfg(test)]
mod tests;
