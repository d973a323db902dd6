//! The contract ABI, as far as it is needed: the one place where its 32-byte words are read and written.
//!
//! In: bytes that anyone may have written. Out: values, or nothing where the bytes do not hold what is
//! asked for. Must not know any protocol.

mod encode;
mod event;
mod text;
mod word;
mod words;

pub use encode::{joined, push_bytes, push_uint};
pub use event::{TRANSFER, topic, words};
pub use text::text;
pub use word::{address, boolean, int24, int128, int256, uint, uint24, uint128};
pub use words::Words;

/// Bytes of a word.
pub const WORD: usize = 32;
