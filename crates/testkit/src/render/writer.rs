//! Writes JSON text straight into bytes: the only fast way to render whole blocks.
//!
//! Quantities are minimal lower-case hex, byte strings keep their zeros, as JSON-RPC asks.

use alloy_primitives::{U256, hex};

/// A JSON object being written. `end` closes it.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
}

impl<'a> Object<'a> {
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_first: true }
    }

    pub fn quantity(&mut self, name: &str, value: u128) {
        self.key(name);
        quantity(self.out, value);
    }

    pub fn big_quantity(&mut self, name: &str, value: U256) {
        self.key(name);
        let text = format!("\"{value:#x}\"");
        self.out.extend_from_slice(text.as_bytes());
    }

    pub fn hex(&mut self, name: &str, bytes: &[u8]) {
        self.key(name);
        hex_string(self.out, bytes);
    }

    pub fn hex_or_null(&mut self, name: &str, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.hex(name, bytes),
            None => self.raw(name, "null"),
        }
    }

    /// Text that needs no escaping: every string here is our own.
    pub fn text(&mut self, name: &str, text: &str) {
        self.key(name);
        self.out.push(b'"');
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'"');
    }

    pub fn raw(&mut self, name: &str, json: &str) {
        self.key(name);
        self.out.extend_from_slice(json.as_bytes());
    }

    pub fn number(&mut self, name: &str, number: u64) {
        self.raw(name, &number.to_string());
    }

    pub fn object(&mut self, name: &str) -> Object<'_> {
        self.key(name);
        Object::new(self.out)
    }

    pub fn array<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        write: impl FnMut(&mut Vec<u8>, T),
    ) {
        self.key(name);
        array(self.out, items, write);
    }

    pub fn end(self) {
        self.out.push(b'}');
    }

    fn key(&mut self, name: &str) {
        if !self.is_first {
            self.out.push(b',');
        }
        self.is_first = false;
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }
}

pub(crate) fn array<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (place, item) in items.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

pub(crate) fn hex_string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"\"0x");
    let start = out.len();
    out.resize(start + bytes.len() * 2, b'0');
    if let Some(place) = out.get_mut(start..) {
        let _ = hex::encode_to_slice(bytes, place); // the place has exactly the size it needs
    }
    out.push(b'"');
}

pub(crate) fn quantity(out: &mut Vec<u8>, value: u128) {
    let text = format!("\"{value:#x}\"");
    out.extend_from_slice(text.as_bytes());
}
