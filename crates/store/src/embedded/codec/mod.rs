//! The bytes that values have on disk.
//!
//! In: values of `model` and of the tables. Out: bytes for rows, and values from rows. A row that does
//! not hold what it should unpacks to `None`, never to a panic. What may change here is only how fast
//! it goes: `pinned` holds the bytes. Must not know: the engine, keys, when a row is written.

mod bytes;
mod count;
mod coverage;
mod facts_row;
mod frame;
pub mod generations;
pub mod groups;
pub mod journal;
mod object;
pub mod pool;
pub mod pool_change;
pub mod rows;
mod token;
mod trade;
mod value;
mod varint;

#[cfg(test)]
mod pinned;

pub use bytes::{put_counted, take_byte, take_bytes, take_counted, take_text};
pub use coverage::{pack_coverage, unpack_coverage};
pub use value::{Packed, unpack_list};
pub use varint::{put_varint, take_varint};
