//! Integers of a sign and 256 bits, exact in every form in which a body may give them.

use std::{cmp::Ordering, fmt};

use alloy_primitives::{I256, U256};
use serde_json::Value;

use super::limits::JS_INTEGER_MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WideInteger {
    /// Never with zero.
    negative: bool,
    magnitude: U256,
}

/// More digits than 256 bits have.
const DIGITS_MAX: usize = 80;

impl WideInteger {
    fn new(negative: bool, magnitude: U256) -> Self {
        Self { negative: negative && !magnitude.is_zero(), magnitude }
    }

    pub(super) fn unsigned(magnitude: U256) -> Self {
        Self::new(false, magnitude)
    }

    /// Of two's complement.
    pub(super) fn signed(word: U256) -> Self {
        let value = I256::from_raw(word);
        Self::new(value.is_negative(), value.unsigned_abs())
    }

    /// Decimal digits with or without a minus, or `0x` and hex digits.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let plain = !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
            let magnitude = plain.then(|| digits(hex, 16)).flatten()?;
            return Some(Self::new(false, magnitude));
        }
        let (negative, decimal) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if decimal.is_empty() || !decimal.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self::new(negative, digits(decimal, 10)?))
    }

    /// A JSON number that has no fraction. JavaScript writes 10²¹ as `1e+21`, so exponents are read, too.
    pub(super) fn from_json_number(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        if !significant.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mut plain = significant.trim_end_matches('0').to_owned();
        if plain.is_empty() {
            return Some(Self::new(false, U256::ZERO));
        }
        let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
        let trailing = i64::try_from(significant.len() - plain.len()).ok()?;
        let shift = exponent
            .checked_sub(i64::try_from(fraction.len()).ok()?)
            .and_then(|shift| shift.checked_add(trailing))?;
        let zeros = usize::try_from(shift).ok().filter(|zeros| *zeros <= DIGITS_MAX)?;
        plain.extend(std::iter::repeat_n('0', zeros));
        Some(Self::new(negative, digits(&plain, 10)?))
    }

    /// As JSON that JavaScript writes as it read it: larger numbers are text.
    pub(super) fn json(self) -> Value {
        match u64::try_from(self.magnitude) {
            Ok(small) if small <= JS_INTEGER_MAX => {
                let small = small.cast_signed();
                Value::from(if self.negative { -small } else { small })
            }
            _ => Value::String(self.to_string()),
        }
    }

    /// If it fits that many bits without a sign.
    pub(super) fn as_uint(self, bits: usize) -> Option<U256> {
        (!self.negative && self.magnitude.bit_len() <= bits).then_some(self.magnitude)
    }

    /// If it fits that many bits, of which one is the sign.
    pub(super) fn as_int(self, bits: usize) -> Option<I256> {
        let limit = U256::from(1) << bits.checked_sub(1)?;
        if self.negative {
            (self.magnitude <= limit).then(|| I256::from_raw(self.magnitude.wrapping_neg()))
        } else {
            (self.magnitude < limit).then(|| I256::from_raw(self.magnitude))
        }
    }
}

fn digits(text: &str, radix: u64) -> Option<U256> {
    let text = text.trim_start_matches('0');
    if text.is_empty() {
        return Some(U256::ZERO);
    }
    if text.len() > DIGITS_MAX {
        return None;
    }
    U256::from_str_radix(text, radix).ok()
}

impl Ord for WideInteger {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude.cmp(&other.magnitude),
            (true, true) => other.magnitude.cmp(&self.magnitude),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for WideInteger {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for WideInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        write!(f, "{sign}{}", self.magnitude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_numbers_are_read_to_the_last_digit() {
        let big = "1000000000000000000000";
        for (given, expected) in [
            ("0", Some("0")),
            ("-0", Some("0")),
            ("0.0", Some("0")),
            ("0e99999999999", Some("0")),
            ("7", Some("7")),
            ("-7", Some("-7")),
            ("1e+21", Some(big)),
            ("1E21", Some(big)),
            ("1.0e21", Some(big)),
            (big, Some(big)),
            ("9007199254740993", Some("9007199254740993")),
            ("1.5e1", Some("15")),
            ("1500e-2", Some("15")),
            ("1.5", None),
            ("1e-1", None),
            ("1e78", None),
            ("1e99999999999999999999", None),
            ("-1e77", Some(&format!("-1{}", "0".repeat(77)))),
        ] {
            let read = WideInteger::from_json_number(given).map(|number| number.to_string());
            assert_eq!(read.as_deref(), expected, "{given}");
        }
        let most = U256::MAX.to_string();
        assert_eq!(WideInteger::from_json_number(&most).unwrap().to_string(), most);
    }

    #[test]
    fn integers_are_written_so_that_javascript_keeps_them() {
        for (given, expected) in [
            ("9007199254740991", Value::from(9_007_199_254_740_991_u64)),
            ("-9007199254740991", Value::from(-9_007_199_254_740_991_i64)),
            ("9007199254740992", Value::from("9007199254740992")),
            ("1e+21", Value::from("1000000000000000000000")),
        ] {
            assert_eq!(WideInteger::from_json_number(given).unwrap().json(), expected);
        }
    }

    #[test]
    fn integers_are_ordered_across_the_sign() {
        let order = ["-3", "-2", "0", "1", "0x10", "17"];
        let read: Vec<_> = order.iter().map(|text| WideInteger::from_text(text).unwrap()).collect();
        assert!(read.is_sorted());
        assert_eq!(WideInteger::signed(U256::MAX), WideInteger::from_text("-1").unwrap());
        let least = WideInteger::signed(U256::from(1) << 255);
        assert_eq!(least.to_string(), I256::MIN.to_string());
        assert_eq!(least.as_int(256), Some(I256::MIN));
        assert_eq!(WideInteger::from_text("-129").unwrap().as_int(8), None);
        assert_eq!(WideInteger::from_text("-128").unwrap().as_int(8).unwrap().to_string(), "-128");
        assert_eq!(WideInteger::from_text("128").unwrap().as_int(8), None);
        assert_eq!(WideInteger::from_text("256").unwrap().as_uint(8), None);
        for bad in ["", "-", "0x", "0xg", "1 ", "+1", "1.0", "1e3", "-0x1", "١"] {
            assert_eq!(WideInteger::from_text(bad), None, "{bad}");
        }
    }
}
