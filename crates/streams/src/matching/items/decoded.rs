//! Values of an event's fields as texts, for selectors.

use alloy_dyn_abi::DynSolValue;
use alloy_primitives::hex;
use serde_json::Value;

/// Numbers in decimal, addresses and bytes in lower-case hex; lists and tuples as JSON of such texts.
pub(super) fn text(value: &DynSolValue) -> String {
    match value {
        DynSolValue::Bool(is) => is.to_string(),
        DynSolValue::Int(number, _) => number.to_string(),
        DynSolValue::Uint(number, _) => number.to_string(),
        DynSolValue::FixedBytes(word, size) => {
            hex::encode_prefixed(word.get(..*size).unwrap_or_default())
        }
        DynSolValue::Address(address) => hex::encode_prefixed(address),
        DynSolValue::Function(function) => hex::encode_prefixed(function),
        DynSolValue::Bytes(bytes) => hex::encode_prefixed(bytes),
        DynSolValue::String(text) => text.clone(),
        DynSolValue::Array(_) | DynSolValue::FixedArray(_) | DynSolValue::Tuple(_) => {
            list(value).to_string()
        }
    }
}

fn list(value: &DynSolValue) -> Value {
    match value {
        DynSolValue::Array(items) | DynSolValue::FixedArray(items) | DynSolValue::Tuple(items) => {
            Value::Array(items.iter().map(list).collect())
        }
        plain => Value::String(text(plain)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::{Address, B256, I256, U256};

    #[test]
    fn values_become_the_texts_that_payloads_use() {
        let one = || DynSolValue::Uint(U256::ONE, 256);
        for (value, expected) in [
            (DynSolValue::Bool(true), "true"),
            (DynSolValue::Int(I256::MINUS_ONE, 8), "-1"),
            (
                DynSolValue::Uint(U256::from(10).pow(U256::from(30)), 256),
                "1000000000000000000000000000000",
            ),
            (DynSolValue::FixedBytes(B256::repeat_byte(0xab), 4), "0xabababab"),
            (
                DynSolValue::Address(Address::repeat_byte(0xCD)),
                "0xcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
            ),
            (DynSolValue::Bytes(vec![]), "0x"),
            (DynSolValue::String("a\"b".to_owned()), "a\"b"),
            (DynSolValue::Array(vec![one(), DynSolValue::Tuple(vec![one()])]), r#"["1",["1"]]"#),
        ] {
            assert_eq!(text(&value), expected);
        }
    }
}
