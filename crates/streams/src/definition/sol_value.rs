//! Solidity values as text and JSON, and text as values.
//!
//! The JSON is such that JavaScript writes it as it read it: integers are decimal text.

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::{Address, B256, Function, hex};
use serde_json::Value;

use super::{integer::WideInteger, sol_type::type_name};

/// An address in any case: users copy them with and without a checksum.
pub(super) fn parse_address(text: &str) -> Option<Address> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    (digits.len() == 40).then(|| digits.parse().ok()).flatten()
}

pub(super) fn parse_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    if digits.starts_with("0x") {
        return None;
    }
    hex::decode(digits).ok()
}

/// A value of an elementary type. The error says what the type wants.
pub(super) fn parse_value(ty: &DynSolType, text: &str) -> Result<DynSolValue, String> {
    let value = match ty {
        DynSolType::Bool => text.parse().ok().map(DynSolValue::Bool),
        DynSolType::Uint(bits) => WideInteger::from_text(text)
            .and_then(|number| number.as_uint(*bits))
            .map(|number| DynSolValue::Uint(number, *bits)),
        DynSolType::Int(bits) => WideInteger::from_text(text)
            .and_then(|number| number.as_int(*bits))
            .map(|number| DynSolValue::Int(number, *bits)),
        DynSolType::Address => parse_address(text).map(DynSolValue::Address),
        DynSolType::FixedBytes(size) => parse_bytes(text)
            .filter(|bytes| bytes.len() == *size)
            .map(|bytes| DynSolValue::FixedBytes(B256::right_padding_from(&bytes), *size)),
        DynSolType::Function => parse_bytes(text)
            .and_then(|bytes| Function::try_from(bytes.as_slice()).ok())
            .map(DynSolValue::Function),
        DynSolType::Bytes => parse_bytes(text).map(DynSolValue::Bytes),
        DynSolType::String => Some(DynSolValue::String(text.to_owned())),
        DynSolType::Array(_) | DynSolType::FixedArray(..) | DynSolType::Tuple(_) => None,
    };
    value.ok_or_else(|| format!("`{text}` is not a value of type {}", type_name(ty)))
}

/// As a payload writes a field of this value; lists have no such text.
pub fn value_text(value: &DynSolValue) -> Option<String> {
    match value_json(value) {
        Value::String(text) => Some(text),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

pub(super) fn value_json(value: &DynSolValue) -> Value {
    Value::String(match value {
        DynSolValue::Bool(value) => return Value::Bool(*value),
        DynSolValue::Int(number, _) => number.to_string(),
        DynSolValue::Uint(number, _) => number.to_string(),
        DynSolValue::Address(address) => format!("{address:#x}"),
        DynSolValue::FixedBytes(word, size) => {
            hex::encode_prefixed(word.get(..*size).unwrap_or_default())
        }
        DynSolValue::Function(function) => hex::encode_prefixed(function),
        DynSolValue::Bytes(bytes) => hex::encode_prefixed(bytes),
        DynSolValue::String(text) => text.clone(),
        DynSolValue::Array(list) | DynSolValue::FixedArray(list) | DynSolValue::Tuple(list) => {
            return Value::Array(list.iter().map(value_json).collect());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_by_type_and_written_as_in_payloads() {
        let address = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045";
        for (ty, given, written) in [
            ("uint256", "0x10", Some("16")),
            ("uint8", "255", Some("255")),
            ("uint8", "256", None),
            ("uint256", "-1", None),
            ("uint256", "1 ether", None),
            ("int8", "-128", Some("-128")),
            ("int8", "128", None),
            ("bool", "true", Some("true")),
            ("bool", "1", None),
            ("address", "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045", Some(address)),
            ("address", "d8da6bf26964af9d7eed9e03e53415d37aa96045", None),
            ("address", "0xd8da", None),
            ("bytes4", "0xA9059CBB", Some("0xa9059cbb")),
            ("bytes4", "0xa9059c", None),
            ("bytes", "0x", Some("0x")),
            ("bytes", "0x0x12", None),
            ("bytes", "0x123", None),
            ("string", "0x12 any", Some("0x12 any")),
            ("string", "", Some("")),
            ("uint256[]", "1", None),
        ] {
            let read = parse_value(&DynSolType::parse(ty).unwrap(), given);
            let text = read.ok().and_then(|value| value_text(&value));
            assert_eq!(text.as_deref(), written, "{ty} {given}");
        }
    }
}
