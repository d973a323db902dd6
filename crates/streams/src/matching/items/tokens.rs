//! What is known of the tokens that a webhook tells of, and amounts in their units.

use std::borrow::Cow;
use std::collections::HashMap;

use alloy_primitives::{Address, U256};
use model::token::Token;

use super::FieldValue;

/// A token nobody could say anything about is not in it, or says nothing.
#[derive(Clone, Debug, Default)]
pub struct Tokens(HashMap<Address, Token>);

impl Tokens {
    pub(super) fn insert(&mut self, address: Address, token: Token) {
        self.0.insert(address, token);
    }

    pub(super) fn is_known(&self, address: Address) -> bool {
        self.0.contains_key(&address)
    }

    fn get(&self, address: Address) -> Option<&Token> {
        self.0.get(&address)
    }

    /// Empty where the contract does not say.
    pub(super) fn name(&self, address: Address) -> FieldValue<'_> {
        self.get(address).and_then(|token| token.name.as_deref()).unwrap_or_default().into()
    }

    pub(super) fn symbol(&self, address: Address) -> FieldValue<'_> {
        self.get(address).and_then(|token| token.symbol.as_deref()).unwrap_or_default().into()
    }

    /// Empty where the contract does not say, which the official clients take for unknown.
    pub(super) fn decimals(&self, address: Address) -> FieldValue<'_> {
        match self.get(address).and_then(|token| token.decimals) {
            Some(decimals) => FieldValue::Small(decimals.into()),
            None => FieldValue::Text("".into()),
        }
    }

    /// Null where the decimals are unknown.
    pub(super) fn amount(&self, address: Address, value: U256) -> FieldValue<'_> {
        match self.get(address).and_then(|token| token.decimals) {
            Some(decimals) => FieldValue::Text(Cow::Owned(with_decimals(value, decimals))),
            None => FieldValue::Null,
        }
    }
}

/// All digits, as bignumber.js prints them: plain from an exponent of -6 to 20, else as `1.5e+21`.
fn with_decimals(value: U256, decimals: u8) -> String {
    if value.is_zero() {
        return "0".to_owned();
    }
    let all = value.to_string();
    let exponent = all.len() as i64 - 1 - i64::from(decimals);
    let digits = all.trim_end_matches('0');
    let split = |at: usize| digits.split_at_checked(at).unwrap_or((digits, ""));
    if exponent <= -7 || exponent >= 21 {
        let (first, rest) = split(1);
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if exponent < 0 { "" } else { "+" };
        return format!("{first}{point}{rest}e{sign}{exponent}");
    }
    if exponent < 0 {
        let zeros = usize::try_from(-exponent - 1).unwrap_or_default();
        return format!("0.{}{digits}", "0".repeat(zeros));
    }
    let whole = usize::try_from(exponent + 1).unwrap_or_default();
    match split(whole) {
        (whole_part, "") => format!("{whole_part:0<whole$}"),
        (whole_part, fraction) => format!("{whole_part}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_printed_as_bignumber_js_prints_them() {
        let max =
            "1.15792089237316195423570985008687907853269984665640564039457584007913129639935e+59";
        for (value, decimals, printed) in [
            ("0", 18, "0"),
            ("1", 0, "1"),
            ("10000000000000000000000", 18, "10000"),
            ("5000000000000000", 18, "0.005"),
            ("1234500", 3, "1234.5"),
            ("1000001", 6, "1.000001"),
            ("1", 6, "0.000001"),
            ("1", 7, "1e-7"),
            ("12", 8, "1.2e-7"),
            ("12", 7, "0.0000012"),
            ("1", 18, "1e-18"),
            ("1", 255, "1e-255"),
            ("100000000000000000000", 0, "100000000000000000000"),
            ("123456789012345678901", 0, "123456789012345678901"),
            ("1000000000000000000000", 0, "1e+21"),
            ("1234567890123456789012", 0, "1.234567890123456789012e+21"),
            ("120000", 5, "1.2"),
            ("100", 2, "1"),
            (&U256::MAX.to_string(), 18, max),
        ] {
            assert_eq!(with_decimals(value.parse().unwrap(), decimals), printed);
        }
    }
}
