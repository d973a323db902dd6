//! The contract ABI, as far as it is needed: the one place where its 32-byte words are read and written.
//!
//! In: bytes that anyone may have written. Out: values, or nothing where the bytes do not hold what is
//! asked for. Knows no contract and no event.

mod encode;
mod text;
pub mod word;
mod words;

pub use encode::{push_bytes, push_uint};
pub use text::text;
pub use words::Words;

/// Bytes of a word.
pub const WORD: usize = 32;
