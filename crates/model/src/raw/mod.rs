//! Chain objects as nodes send them: block, transaction, receipt, log, trace frame.
//!
//! In: JSON-RPC text. Out: structs that can be written back field for field, and packed small.
//! Nothing here judges what it reads; that is `verify`'s part.

mod block;
mod frame;
pub mod object;
pub mod reader;
mod receipt;
mod record;
mod trace_geth;
mod trace_parity;
mod tx;
pub mod wire;

#[cfg(test)]
mod tests;

pub use block::{Header, Withdrawal};
pub use frame::{Frame, FrameKind};
pub use receipt::{Log, Receipt};
pub use record::{Block, Malformed, block_template, read_header, read_receipt_list, read_receipts};
pub use trace_geth::read_geth_traces;
pub use trace_parity::read_parity_traces;
pub use tx::{AccessListItem, Authorization, Tx};

/// A key of a JSON object, borrowed from the text unless it holds an escape.
pub struct Key<'a>(pub std::borrow::Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Key<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a field name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(text.into()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(text.to_owned().into()))
            }
        }
        input.deserialize_str(Visitor)
    }
}
