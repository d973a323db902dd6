//! Writes JSON values just as JavaScript writes them.

use std::io::Write;

use model::raw::json_value::put_data;
use serde_json::Value;

use crate::matching::items::FieldValue;

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    // Writing to a vector cannot fail. The escapes are those of JSON.stringify.
    let _ = serde_json::to_writer(out, text);
}

/// A name of ours, which has nothing to escape.
pub(super) fn put_key(out: &mut Vec<u8>, key: &str) {
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.push(b'"');
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    out.push(b'"');
}

pub(super) fn put_field(out: &mut Vec<u8>, value: &FieldValue<'_>) {
    match value {
        FieldValue::Null => out.extend_from_slice(b"null"),
        FieldValue::Address(address) => put_data(out, address.as_slice()),
        FieldValue::Word(word) => put_data(out, word.as_slice()),
        FieldValue::Bytes(bytes) => put_data(out, bytes),
        FieldValue::Small(number) => put_number(out, *number),
        FieldValue::Large(number) => match u64::try_from(*number) {
            Ok(number) => put_number(out, number),
            Err(_) => {
                // Writing to a vector cannot fail.
                let _ = write!(out, "\"{number}\"");
            }
        },
        FieldValue::Bool(is) => out.extend_from_slice(if *is { b"true" } else { b"false" }),
        FieldValue::Text(text) => put_text(out, text),
        FieldValue::Addresses(list) => {
            out.push(b'[');
            for (place, address) in list.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                put_data(out, address.as_slice());
            }
            out.push(b']');
        }
    }
}

/// What a contract answered. A number becomes its text, and keys that look like numbers go first, rising, which
/// is where JavaScript puts them.
pub(super) fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(is) => out.extend_from_slice(if *is { b"true" } else { b"false" }),
        Value::Number(number) => put_text(out, &number.to_string()),
        Value::String(text) => put_text(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                put_value(out, item);
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| array_index(key).map_or(u64::MAX, u64::from));
            out.push(b'{');
            for (place, (key, item)) in fields.into_iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                put_text(out, key);
                out.push(b':');
                put_value(out, item);
            }
            out.push(b'}');
        }
    }
}

/// The number that JavaScript takes a key for: below 2^32 - 1, without leading zeros.
fn array_index(key: &str) -> Option<u32> {
    let number: u32 = key.parse().ok()?;
    (number < u32::MAX && number.to_string() == key).then_some(number)
}
