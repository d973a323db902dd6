//! One item as a JSON object.

use super::json::{put_field, put_key, put_text, put_value};
use crate::matching::items::{BalanceItem, FieldValue, Item, Tokens, TriggerResults};

pub(super) fn put_item<T: Item>(out: &mut Vec<u8>, item: &T, keys: &[&str], tokens: &Tokens) {
    for (place, key) in keys.iter().enumerate() {
        out.push(if place == 0 { b'{' } else { b',' });
        put_key(out, key);
        put_field(out, &item.value(key, tokens));
    }
    out.push(b'}');
}

/// The same, with what triggers answered, where there are any.
pub(super) fn put_triggered<T: Item>(
    out: &mut Vec<u8>,
    item: &T,
    triggers: &TriggerResults,
    tokens: &Tokens,
) {
    put_item(out, item, T::KEYS, tokens);
    if triggers.is_empty() {
        return;
    }
    // Takes the closing brace back.
    out.pop();
    out.extend_from_slice(b",\"triggers\":[");
    for (place, (name, value)) in triggers.outputs().enumerate() {
        out.extend_from_slice(if place == 0 { b"{\"name\":" } else { b",{\"name\":" });
        put_text(out, name);
        out.extend_from_slice(b",\"value\":");
        put_value(out, value);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

/// A balance, or why it is not known; the two stand in lists of their own. Whether it is known is the answer.
pub(super) fn put_balance(out: &mut Vec<u8>, item: &BalanceItem) -> bool {
    out.extend_from_slice(b"{\"address\":");
    put_field(out, &FieldValue::Address(item.address));
    let message = match &item.balance {
        Some(Ok(balance)) => {
            out.extend_from_slice(b",\"balance\":");
            put_field(out, &FieldValue::Large(*balance));
            out.push(b'}');
            return true;
        }
        Some(Err(message)) => message,
        None => "the balance was not asked for",
    };
    out.extend_from_slice(b",\"error\":");
    put_text(out, message);
    out.push(b'}');
    false
}
