//! Whatever is sent, it is taken or refused; and what is taken is kept in a form that reads as itself.

use proptest::prelude::*;
use serde_json::{Value, json};
use streams::definition::{Compiled, Definition, read_block_query, read_create, read_update};

use super::{TRANSFER, body, create, transfer_abi, triggers::trigger};

/// Words that mean something somewhere, so that random JSON gets far.
fn word() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "abi",
        "advancedOptions",
        "and",
        "call",
        "chainIds",
        "components",
        "contractAddress",
        "eq",
        "event",
        "filter",
        "from",
        "functionAbi",
        "getNativeBalances",
        "gt",
        "in",
        "indexed",
        "inputs",
        "moralis_streams_chain_id",
        "name",
        "nin",
        "or",
        "outputs",
        "selectors",
        "stateMutability",
        "topic0",
        "triggers",
        "tuple",
        "tuple[]",
        "type",
        "uint256",
        "value",
        "view",
        "0x1",
        "$from",
        "$",
        "0x",
        TRANSFER,
        "T((uint256,bool[2])[])",
        "log",
        "tx",
    ])
    .prop_map(str::to_owned);
    prop_oneof![4 => known, 1 => "\\PC{0,12}", 1 => "[()\\[\\],a-z0-9$]{0,20}"]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(word(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Filters of the right shape, with anything in them.
fn any_filter() -> impl Strategy<Value = Value> {
    let operator = prop::sample::select(vec!["eq", "ne", "lt", "gt", "lte", "gte", "in", "nin"]);
    let name = prop::sample::select(vec!["from", "to", "value", "moralis_streams_chain_id"]);
    let test = (operator, name, any_json(), any::<u64>()).prop_map(|(operator, name, value, n)| {
        match (operator, name) {
            ("in" | "nin", "value") => json!({ operator: [name, [n, n.to_string()]] }),
            (_, "value") => json!({ operator: [name, n] }),
            _ => json!({ operator: [name, value] }),
        }
    });
    test.prop_recursive(4, 30, 3, |inner| {
        (prop::bool::ANY, prop::collection::vec(inner, 1..4)).prop_map(|(and, parts)| {
            if and { json!({ "and": parts }) } else { json!({ "or": parts }) }
        })
    })
}

/// Everything is asked, and nothing may stop it.
fn read_all(text: &[u8]) -> Option<Definition> {
    let current = create(&json!({ "abi": transfer_abi(), "topic0": [TRANSFER] })).unwrap();
    let created = read_create(text).ok();
    let updated = read_update(&current, text).ok();
    let _ = read_block_query(text);
    for definition in created.iter().chain(&updated) {
        Compiled::new(definition).unwrap();
        let kept = serde_json::to_string(definition).unwrap();
        let again = read_create(kept.as_bytes());
        // Only a stream's own fields may be missing in an update of nothing.
        assert_eq!(again.as_ref().ok(), Some(definition), "{kept}: {again:?}");
        assert_eq!(serde_json::to_string(&again.unwrap()).unwrap(), kept);
    }
    created.or(updated)
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all(&bytes);
    }

    #[test]
    fn any_json_is_read_or_refused(value in any_json()) {
        read_all(value.to_string().as_bytes());
    }

    #[test]
    fn any_json_in_a_field_is_read_or_refused(
        field in prop::sample::select(vec!["abi", "topic0", "advancedOptions", "triggers",
            "getNativeBalances", "chainIds", "webhookUrl", "tag", "fromBlock"]),
        value in any_json(),
    ) {
        read_all(&body(&json!({ field: value })));
    }

    #[test]
    fn any_filter_is_read_or_refused(filter in any_filter()) {
        let option = json!({ "topic0": TRANSFER, "filter": filter });
        let fields = json!({ "abi": [transfer_abi()], "advancedOptions": [option] });
        read_all(&body(&fields));
    }

    #[test]
    fn any_trigger_is_read_or_refused(
        key in prop::sample::select(vec!["type", "contractAddress", "inputs", "functionAbi",
            "topic0", "callFrom"]),
        value in any_json(),
    ) {
        read_all(&body(&json!({ "triggers": [trigger(&json!({ key: value }))] })));
    }
}
