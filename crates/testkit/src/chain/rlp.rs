//! RLP lists, one field after another.
//!
//! In: fields that can be encoded. Out: the list's bytes. Knows no transaction and no header; `alloy_rlp`
//! encodes the fields.

use alloy_rlp::{Encodable, Header as ListHeader};

/// The payload of a list that is not closed yet.
#[derive(Default)]
pub(crate) struct List(Vec<u8>);

impl List {
    pub fn field(&mut self, field: &(impl Encodable + ?Sized)) -> &mut Self {
        field.encode(&mut self.0);
        self
    }

    /// A list inside the list, `write` fills each of its items.
    pub fn lists<T>(&mut self, items: &[T], write: impl Fn(&T, &mut List)) -> &mut Self {
        let mut inner = Self::default();
        for item in items {
            let mut list = Self::default();
            write(item, &mut list);
            list.close(&mut inner.0);
        }
        inner.close(&mut self.0);
        self
    }

    /// The list behind a type byte, as EIP-2718 has it; without one for `None`.
    pub fn into_bytes(self, type_byte: Option<u8>) -> Vec<u8> {
        let mut out = Vec::from_iter(type_byte);
        self.close(&mut out);
        out
    }

    fn close(self, out: &mut Vec<u8>) {
        ListHeader { list: true, payload_length: self.0.len() }.encode(out);
        out.extend(self.0);
    }
}

/// Bytes of a list with so many bytes of payload.
pub(crate) fn list_length(payload: usize) -> usize {
    payload + alloy_rlp::length_of_length(payload)
}
