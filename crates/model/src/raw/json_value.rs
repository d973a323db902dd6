//! One JSON-RPC value: read from its JSON text and written back as JSON.
//!
//! In: the text of one value as a node sent it. Out: an exact integer, hash, address or byte string,
//! and whether writing it again gives the very same text. What does not (leading zeros, upper case,
//! a number where a string is usual) is kept by the caller as text, so that nothing is lost.

use alloy_primitives::{Address, B64, B256, Bloom, Bytes, U256, hex};

use super::reader::Reader;

/// What one field of an object held.
pub enum Slot<T> {
    Null,
    Value(T),
    /// The text must be kept: `T` is what it means, if it means anything to us.
    Odd(Option<T>, Box<str>),
}

pub trait JsonValue: Sized + PartialEq {
    /// The value and whether `write_json` would give back exactly `text`.
    fn read_json(text: &[u8]) -> Option<(Self, bool)>;
    fn write_json(&self, out: &mut Vec<u8>);

    /// Takes the next value of a JSON object that is being read.
    #[inline]
    fn next_slot(reader: &mut Reader<'_>) -> Option<Slot<Self>> {
        let before = *reader;
        if let Some(value) = Self::next_usual(reader) {
            return Some(Slot::Value(value));
        }
        *reader = before;
        any_slot(reader)
    }

    /// Takes the value if it stands there just as `write_json` would write it. A short cut: one that
    /// does not is read as any other text.
    #[inline]
    fn next_usual(_reader: &mut Reader<'_>) -> Option<Self> {
        None
    }
}

/// A value that may have any form.
fn any_slot<T: JsonValue>(reader: &mut Reader<'_>) -> Option<Slot<T>> {
    let mut same = *reader;
    let text = reader.value()?;
    if text == b"null" {
        return Some(Slot::Null);
    }
    Some(match T::read_json(text) {
        Some((value, true)) => Slot::Value(value),
        Some((value, false)) => Slot::Odd(Some(value), same.checked()?.into()),
        None => Slot::Odd(None, same.checked()?.into()),
    })
}

/// Whether a text says nothing, in one of the ways in which nodes fill fields that an object does not
/// have: empty, or zeros only.
pub fn is_blank(text: &str) -> bool {
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let digits = inside.strip_prefix("0x").unwrap_or(inside);
    matches!(inside, "[]" | "{}" | "false" | "null") || digits.bytes().all(|digit| digit == b'0')
}

/// The characters between the quotes. An escape among them is no hex digit and fails as such.
fn unquoted(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Looks at every character: without a way out in the middle it goes many at a time.
#[inline]
fn has_upper(digits: &[u8]) -> bool {
    digits.iter().fold(false, |found, b| found | b.is_ascii_uppercase())
}

pub fn put_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + 2 * bytes.len(), 0);
    if let Some(target) = out.get_mut(start..) {
        // The target has exactly twice the length, which is the only way this call can fail.
        let _ = hex::encode_to_slice(bytes, target);
    }
}

/// `"0x…"` around the given bytes.
pub fn put_data(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"\"0x");
    put_hex(out, bytes);
    out.push(b'"');
}

/// `"0x…"` without leading zeros.
pub fn put_quantity(out: &mut Vec<u8>, big_endian: &[u8]) {
    out.extend_from_slice(b"\"0x");
    let zeros = big_endian.iter().take_while(|b| **b == 0).count();
    match big_endian.get(zeros..) {
        Some([first, rest @ ..]) => {
            if *first < 16 {
                out.push(char::from_digit(u32::from(*first), 16).unwrap_or('0') as u8);
            } else {
                put_hex(out, &[*first]);
            }
            put_hex(out, rest);
        }
        _ => out.push(b'0'),
    }
    out.push(b'"');
}

/// Digits of a quantity: hex with `0x`, or a plain JSON integer as some nodes write it.
fn quantity(text: &[u8]) -> Option<(U256, bool)> {
    let Some(inner) = unquoted(text) else {
        let plain = std::str::from_utf8(text).ok()?;
        return Some((U256::from(plain.parse::<u64>().ok()?), false));
    };
    let digits = inner.strip_prefix(b"0x")?;
    if digits.is_empty() || digits.len() > 64 {
        return None;
    }
    Some((big(digits)?, has_no_leading_zero(digits) && !has_upper(digits)))
}

/// `0` itself has none.
#[inline]
fn has_no_leading_zero(digits: &[u8]) -> bool {
    digits == b"0" || digits.first().is_some_and(|first| *first != b'0')
}

/// At most 64 hex digits.
fn big(digits: &[u8]) -> Option<U256> {
    let mut padded = [b'0'; 64];
    padded.get_mut(64 - digits.len()..)?.copy_from_slice(digits);
    let mut bytes = [0u8; 32];
    hex::decode_to_slice(padded, &mut bytes).ok()?;
    Some(U256::from_be_bytes(bytes))
}

/// At most 16 digits that are known to be lower-case hex.
#[inline]
fn small(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |value, digit| {
        let nibble = if *digit > b'9' { digit - b'a' + 10 } else { digit - b'0' };
        value << 4 | u64::from(nibble)
    })
}

impl JsonValue for u64 {
    fn read_json(text: &[u8]) -> Option<(Self, bool)> {
        let (value, exact) = quantity(text)?;
        Some((u64::try_from(value).ok()?, exact))
    }
    #[inline]
    fn next_usual(reader: &mut Reader<'_>) -> Option<Self> {
        let digits = reader.hex_up_to(16)?;
        has_no_leading_zero(digits).then(|| small(digits))
    }
    fn write_json(&self, out: &mut Vec<u8>) {
        put_quantity(out, &self.to_be_bytes());
    }
}

impl JsonValue for U256 {
    fn read_json(text: &[u8]) -> Option<(Self, bool)> {
        quantity(text)
    }
    #[inline]
    fn next_usual(reader: &mut Reader<'_>) -> Option<Self> {
        let before = *reader;
        // Signatures: most are this long, and a whole word is quicker to read than to measure.
        if let Some(word) = reader.hex_of_length(64)
            && has_no_leading_zero(word)
            && !has_upper(word)
        {
            return big(word);
        }
        *reader = before;
        let digits = reader.hex_up_to(64)?;
        match digits.len() {
            _ if !has_no_leading_zero(digits) => None,
            ..=16 => Some(U256::from(small(digits))),
            _ => big(digits),
        }
    }
    fn write_json(&self, out: &mut Vec<u8>) {
        put_quantity(out, &self.to_be_bytes::<32>());
    }
}

impl JsonValue for bool {
    fn read_json(text: &[u8]) -> Option<(Self, bool)> {
        match text {
            b"true" => Some((true, true)),
            b"false" => Some((false, true)),
            _ => None,
        }
    }
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl JsonValue for Bytes {
    fn read_json(text: &[u8]) -> Option<(Self, bool)> {
        let digits = unquoted(text)?.strip_prefix(b"0x")?;
        let bytes = hex::decode(digits).ok()?;
        Some((bytes.into(), !has_upper(digits) && !digits.starts_with(b"0x")))
    }
    fn write_json(&self, out: &mut Vec<u8>) {
        put_data(out, self);
    }
}

macro_rules! fixed {
    ($($name:ty, $length:literal);*) => {$(
        impl JsonValue for $name {
            fn read_json(text: &[u8]) -> Option<(Self, bool)> {
                let digits = unquoted(text)?.strip_prefix(b"0x")?;
                if digits.len() != 2 * $length {
                    return None;
                }
                let mut bytes = [0u8; $length];
                hex::decode_to_slice(digits, &mut bytes).ok()?;
                Some((<$name>::from(bytes), !has_upper(digits)))
            }
            #[inline]
            fn next_usual(reader: &mut Reader<'_>) -> Option<Self> {
                let digits = reader.hex_of_length(2 * $length)?;
                let mut bytes = [0u8; $length];
                hex::decode_to_slice(digits, &mut bytes).ok()?;
                (!has_upper(digits)).then(|| <$name>::from(bytes))
            }
            fn write_json(&self, out: &mut Vec<u8>) {
                put_data(out, self.as_slice());
            }
        }
    )*};
}
fixed!(B256, 32; Address, 20; B64, 8; Bloom, 256);

/// Lists of plain values (topics, blob hashes, uncles). Lists of objects come from the object macro.
impl JsonValue for Vec<B256> {
    fn read_json(text: &[u8]) -> Option<(Self, bool)> {
        let mut reader = Reader::new(text);
        let (mut list, mut exact, mut is_first) = (Vec::new(), true, true);
        reader.expect(b'[')?;
        while reader.next_item(b']', &mut is_first)? {
            let (value, same) = B256::read_json(reader.value()?)?;
            list.push(value);
            exact &= same;
        }
        Some((list, exact))
    }
    #[inline]
    fn next_usual(reader: &mut Reader<'_>) -> Option<Self> {
        reader.expect(b'[')?;
        // Most lists are topics.
        let mut list = Vec::with_capacity(4);
        let mut is_first = true;
        while reader.next_item(b']', &mut is_first)? {
            list.push(B256::next_usual(reader)?);
        }
        Some(list)
    }
    fn write_json(&self, out: &mut Vec<u8>) {
        write_list(self, out, |item, out| item.write_json(out));
    }
}

pub fn write_list<T>(list: &[T], out: &mut Vec<u8>, mut each: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (i, item) in list.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        each(item, out);
    }
    out.push(b']');
}
