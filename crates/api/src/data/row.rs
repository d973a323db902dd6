//! Writing JSON rows by hand: a page is thousands of small values, and both profiles differ only in
//! whether numbers stand in quotes.

use alloy_primitives::{Address, B256, U256, hex};
use model::raw::json_value::put_data;

use crate::profile::Profile;

/// A hash with its quotes.
const HASH_TEXT_BYTES: usize = 2 * 32 + 4;

pub struct Row<'a> {
    out: &'a mut Vec<u8>,
    profile: Profile,
    first: bool,
}

impl<'a> Row<'a> {
    pub fn begin(out: &'a mut Vec<u8>, profile: Profile) -> Self {
        out.push(b'{');
        Row { out, profile, first: true }
    }

    pub fn end(self) {
        self.out.push(b'}');
    }

    /// Where its name is known when this is compiled, it is written as a few words of memory: so this is inlined, and
    /// all that is handed a name.
    #[inline(always)]
    pub fn name(&mut self, name: &str) -> &mut Vec<u8> {
        model::raw::object::begin_field(self.out, &mut self.first, name);
        self.out
    }

    #[inline(always)]
    pub fn null(&mut self, name: &str) {
        self.name(name).extend_from_slice(b"null");
    }

    /// A number of the profile's kind, or null.
    #[inline(always)]
    pub fn number(&mut self, name: &str, value: Option<u64>) {
        let quoted = self.profile == Profile::Live;
        self.written(name, value, quoted, put_small);
    }

    #[inline(always)]
    pub fn amount(&mut self, name: &str, value: Option<U256>) {
        let quoted = self.profile == Profile::Live;
        self.decimal(name, value, quoted);
    }

    /// A number in quotes whatever the profile.
    #[inline(always)]
    pub fn digits(&mut self, name: &str, value: U256) {
        self.decimal(name, Some(value), true);
    }

    /// A number without quotes whatever the profile.
    #[inline(always)]
    pub fn integer(&mut self, name: &str, value: u64) {
        self.written(name, Some(value), false, put_small);
    }

    #[inline(always)]
    fn decimal(&mut self, name: &str, value: Option<U256>, quoted: bool) {
        self.written(name, value, quoted, put_decimal);
    }

    #[inline(always)]
    fn written<T>(
        &mut self,
        name: &str,
        value: Option<T>,
        quoted: bool,
        put: impl Fn(&mut Vec<u8>, T),
    ) {
        let out = self.name(name);
        let Some(value) = value else { return out.extend_from_slice(b"null") };
        if quoted {
            out.push(b'"');
        }
        put(out, value);
        if quoted {
            out.push(b'"');
        }
    }

    #[inline(always)]
    pub fn boolean(&mut self, name: &str, value: bool) {
        self.name(name).extend_from_slice(if value { b"true" } else { b"false" });
    }

    #[inline(always)]
    pub fn address(&mut self, name: &str, value: Option<Address>) {
        match value {
            Some(address) => put_short_data(self.name(name), address.as_slice()),
            None => self.null(name),
        }
    }

    #[inline(always)]
    pub fn hash(&mut self, name: &str, value: Option<B256>) {
        match value {
            Some(hash) => put_short_data(self.name(name), hash.as_slice()),
            None => self.null(name),
        }
    }

    #[inline(always)]
    pub fn data(&mut self, name: &str, value: &[u8]) {
        put_data(self.name(name), value);
    }

    /// Any text; escaped as JSON needs it.
    #[inline(always)]
    pub fn text(&mut self, name: &str, value: Option<&str>) {
        match value {
            // Writing into memory cannot fail.
            Some(text) => drop(serde_json::to_writer(self.name(name), text)),
            None => self.null(name),
        }
    }

    #[inline(always)]
    pub fn time(&mut self, name: &str, timestamp: u64) {
        let out = self.name(name);
        out.push(b'"');
        crate::date::write_iso_millis(out, timestamp);
        out.push(b'"');
    }
}

/// A hash or something shorter, in one piece.
fn put_short_data(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut text = [b'"'; HASH_TEXT_BYTES];
    let end = 2 * bytes.len() + 4;
    match text.get_mut(1..end - 1).and_then(|inside| inside.split_first_chunk_mut()) {
        Some((prefix, digits)) => {
            *prefix = *b"0x";
            // There is room for exactly so many digits, which is the only way this call can fail.
            let _ = hex::encode_to_slice(bytes, digits);
            out.extend_from_slice(text.get(..end).unwrap_or_default());
        }
        None => put_data(out, bytes),
    }
}

fn put_small(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Small numbers, which most are, need no big arithmetic.
pub fn put_decimal(out: &mut Vec<u8>, value: U256) {
    use std::io::Write;
    if let Ok(small) = u64::try_from(value) {
        put_small(out, small);
    } else if let Ok(medium) = u128::try_from(value) {
        out.extend_from_slice(itoa::Buffer::new().format(medium).as_bytes());
    } else {
        // Writing into memory cannot fail.
        let _ = write!(out, "{value}");
    }
}

/// A raw amount in whole coins: exact, without trailing zeros.
pub fn scaled(amount: U256, decimals: u8) -> String {
    let mut digits = Vec::with_capacity(40);
    put_decimal(&mut digits, amount);
    let decimals = usize::from(decimals);
    let zeros = (decimals + 1).saturating_sub(digits.len());
    let mut text = "0".repeat(zeros) + std::str::from_utf8(&digits).unwrap_or_default();
    let point = text.len() - decimals;
    text.truncate(text.trim_end_matches('0').len().max(point));
    if text.len() > point {
        text.insert(point, '.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size_are_written_in_full() {
        for bits in 0..=256 {
            let value = U256::MAX.checked_shr(256 - bits).unwrap_or_default();
            for value in [value, value.saturating_sub(U256::ONE), value.saturating_add(U256::ONE)] {
                let mut out = Vec::new();
                put_decimal(&mut out, value);
                assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
            }
        }
    }

    #[test]
    fn data_of_every_length_is_written_in_full() {
        let bytes: Vec<u8> = (0..40u8).map(|n| n.wrapping_mul(7)).collect();
        for length in 0..=bytes.len() {
            let (mut short, mut any) = (b"{".to_vec(), b"{".to_vec());
            put_short_data(&mut short, &bytes[..length]);
            put_data(&mut any, &bytes[..length]);
            assert_eq!(short, any);
        }
    }

    #[test]
    fn texts_are_escaped() {
        let mut out = Vec::new();
        let mut row = Row::begin(&mut out, Profile::Spec);
        row.text("name", Some("a \"b\" \n \u{1} ü"));
        row.text("none", None);
        row.end();
        assert_eq!(out, "{\"name\":\"a \\\"b\\\" \\n \\u0001 ü\",\"none\":null}".as_bytes());
    }

    #[test]
    fn amounts_are_scaled_exactly() {
        let cases = [
            (0u64, 18, "0"),
            (1, 18, "0.000000000000000001"),
            (469_078_223_859_000, 18, "0.000469078223859"),
            (1_000_000_000_000_000_000, 18, "1"),
            (12_345, 0, "12345"),
            (12_345, 2, "123.45"),
        ];
        for (amount, decimals, expected) in cases {
            assert_eq!(scaled(U256::from(amount), decimals), expected);
        }
        assert_eq!(scaled(U256::MAX, 77).len(), 79);
    }
}
