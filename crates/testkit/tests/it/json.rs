//! Reads JSON-RPC values. A missing or malformed field fails the test that asks for it.

use alloy_primitives::{Address, B256, Bytes, U256};
use serde_json::Value;

pub fn parse(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

pub fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object[field].as_str().unwrap_or_else(|| panic!("no {field} in {object}"))
}

pub fn u256(object: &Value, field: &str) -> U256 {
    let digits = text(object, field).strip_prefix("0x").unwrap();
    assert!(digits == "0" || !digits.starts_with('0'), "{field} is not minimal: {digits}");
    assert_eq!(digits, digits.to_lowercase());
    U256::from_str_radix(digits, 16).unwrap()
}

pub fn u128(object: &Value, field: &str) -> u128 {
    u256(object, field).to()
}

pub fn u64(object: &Value, field: &str) -> u64 {
    u256(object, field).to()
}

pub fn hash(object: &Value, field: &str) -> B256 {
    text(object, field).parse().unwrap()
}

pub fn address(object: &Value, field: &str) -> Address {
    text(object, field).parse().unwrap()
}

pub fn bytes(object: &Value, field: &str) -> Bytes {
    text(object, field).parse().unwrap()
}

pub fn list<'a>(object: &'a Value, field: &str) -> &'a Vec<Value> {
    object[field].as_array().unwrap_or_else(|| panic!("no list {field} in {object}"))
}
