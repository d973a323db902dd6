//! Runs of bytes and texts, taken from the front of a row.

use super::varint::{put_varint, take_varint};

pub fn take_bytes<'a>(input: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(head)
}

pub fn take_byte(input: &mut &[u8]) -> Option<u8> {
    let (byte, rest) = input.split_first()?;
    *input = rest;
    Some(*byte)
}

/// With their length in front.
pub fn put_counted(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub fn take_counted<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_varint(input)?).ok()?;
    take_bytes(input, length)
}

pub fn take_text<'a>(input: &mut &'a [u8]) -> Option<&'a str> {
    std::str::from_utf8(take_counted(input)?).ok()
}
