//! Writing JSON rows by hand: a page is thousands of small values, and both profiles differ only in
//! whether numbers stand in quotes.

use alloy_primitives::{Address, B256, U256};
use model::raw::json_value::{put_data, put_hex};

use crate::profile::Profile;

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

    /// Where its name is known when this is compiled, it is written as a few words of memory.
    #[inline(always)]
    pub fn name(&mut self, name: &str) -> &mut Vec<u8> {
        model::raw::object::begin_field(self.out, &mut self.first, name);
        self.out
    }

    pub fn null(&mut self, name: &str) {
        self.name(name).extend_from_slice(b"null");
    }

    /// A number of the profile's kind, or null.
    pub fn number(&mut self, name: &str, value: Option<u64>) {
        let quoted = self.profile == Profile::Live;
        self.written(name, value, quoted, put_small);
    }

    pub fn amount(&mut self, name: &str, value: Option<U256>) {
        let quoted = self.profile == Profile::Live;
        self.decimal(name, value, quoted);
    }

    /// A number in quotes whatever the profile.
    pub fn digits(&mut self, name: &str, value: U256) {
        self.decimal(name, Some(value), true);
    }

    /// A number without quotes whatever the profile.
    pub fn integer(&mut self, name: &str, value: u64) {
        self.written(name, Some(value), false, put_small);
    }

    fn decimal(&mut self, name: &str, value: Option<U256>, quoted: bool) {
        self.written(name, value, quoted, put_decimal);
    }

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

    pub fn boolean(&mut self, name: &str, value: bool) {
        self.name(name).extend_from_slice(if value { b"true" } else { b"false" });
    }

    pub fn address(&mut self, name: &str, value: Option<Address>) {
        match value {
            Some(address) => put_data(self.name(name), address.as_slice()),
            None => self.null(name),
        }
    }

    pub fn hash(&mut self, name: &str, value: Option<B256>) {
        match value {
            Some(hash) => put_data(self.name(name), hash.as_slice()),
            None => self.null(name),
        }
    }

    pub fn data(&mut self, name: &str, value: &[u8]) {
        let out = self.name(name);
        out.extend_from_slice(b"\"0x");
        put_hex(out, value);
        out.push(b'"');
    }

    /// Any text; escaped as JSON needs it.
    pub fn text(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(text) => {
                let quoted = serde_json::Value::from(text).to_string();
                self.name(name).extend_from_slice(quoted.as_bytes());
            }
            None => self.null(name),
        }
    }

    pub fn time(&mut self, name: &str, timestamp: u64) {
        let out = self.name(name);
        out.push(b'"');
        crate::date::write_iso_millis(out, timestamp);
        out.push(b'"');
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
    let digits = amount.to_string();
    let decimals = usize::from(decimals);
    let padded = format!("{digits:0>width$}", width = decimals + 1);
    let (whole, part) = padded.split_at_checked(padded.len() - decimals).unwrap_or((&padded, ""));
    match part.trim_end_matches('0') {
        "" => whole.to_owned(),
        part => format!("{whole}.{part}"),
    }
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
