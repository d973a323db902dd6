//! Bodies that are taken: their forms, what is left out, and the one form in which they are kept.

use serde_json::{Value, json};
use streams::definition::{read_block_query, read_create};

use super::{Expect, TRANSFER, TRANSFER_HASH, WALLET, check, create, transfer_abi};

fn kept(fields: &Value) -> Value {
    let definition = create(fields).unwrap_or_else(|error| panic!("{fields}: {error}"));
    serde_json::to_value(definition).unwrap()
}

fn trigger() -> Value {
    json!({ "type": "erc20transfer", "contractAddress": "$contract", "inputs": ["$from"],
        "functionAbi": { "type": "function", "name": "balanceOf", "stateMutability": "view",
            "inputs": [{ "name": "owner", "type": "address" }],
            "outputs": [{ "name": "balance", "type": "uint256" }] } })
}

#[test]
fn what_is_not_given_has_the_live_services_defaults() {
    let text = r#"{"webhookUrl":"https://a.b/","description":"","chainIds":["0x1"],"includeNativeTxs":true}"#;
    let definition = read_create(text.as_bytes()).unwrap();
    let expected = json!({
        "webhookUrl": "https://a.b/", "description": "", "tag": "", "demo": false, "topic0": null,
        "allAddresses": false, "includeNativeTxs": true, "filterPossibleSpamAddresses": false,
        "includeContractLogs": false, "includeInternalTxs": false, "includeAllTxLogs": false,
        "getNativeBalances": [], "triggers": [], "abi": null, "advancedOptions": null,
        "chainIds": ["0x1"], "includeUnconfirmed": true, "includeRetractions": false,
        "fromBlock": null,
    });
    assert_eq!(serde_json::to_value(definition).unwrap(), expected);
}

#[test]
fn lists_may_be_given_as_one_object() {
    let option = json!({ "topic0": TRANSFER, "includeNativeTxs": true });
    let balances = json!({ "selectors": ["$address"], "type": "log" });
    for (field, entry) in [
        ("abi", transfer_abi()),
        ("advancedOptions", option),
        ("triggers", trigger()),
        ("getNativeBalances", balances),
    ] {
        let list = kept(&json!({ field: [entry] }));
        assert_eq!(kept(&json!({ field: entry })), list, "{field}");
        assert_eq!(list[field], json!([entry]), "{field} is kept as it was given");
    }
    let param = json!({ "name": "x", "type": "bool" });
    let one = json!({ "type": "function", "name": "f", "inputs": param, "outputs": param });
    let item = &kept(&json!({ "abi": one }))["abi"][0];
    assert_eq!((&item["inputs"], &item["outputs"]), (&json!([param]), &json!([param])));
}

#[test]
fn nothing_can_be_said_in_several_ways() {
    for (field, given, expected) in [
        ("abi", json!({}), json!(null)),
        ("abi", json!(null), json!(null)),
        ("abi", json!([]), json!([])),
        ("topic0", json!(null), json!(null)),
        ("topic0", json!([]), json!([])),
        ("advancedOptions", json!(null), json!(null)),
        ("advancedOptions", json!({}), json!(null)),
        ("advancedOptions", json!([]), json!([])),
        ("triggers", json!(null), json!([])),
        ("triggers", json!({}), json!([])),
        ("getNativeBalances", json!(null), json!([])),
        ("getNativeBalances", json!({}), json!([])),
        ("fromBlock", json!(null), json!(null)),
    ] {
        assert_eq!(kept(&json!({ field: given }))[field], expected, "{field}: {given}");
    }
}

#[test]
fn names_of_chains_and_events_have_one_form_and_stand_once() {
    for (field, given, expected) in [
        (
            "chainIds",
            json!(["0x1", "0X01", "0x89", "0xAA36A7"]),
            json!(["0x1", "0x89", "0xaa36a7"]),
        ),
        ("topic0", json!([TRANSFER, TRANSFER]), json!([TRANSFER])),
        ("topic0", json!([TRANSFER_HASH.to_uppercase()]), json!([TRANSFER_HASH])),
        ("fromBlock", json!(0), json!(0)),
        ("fromBlock", json!(18_000_000), json!(18_000_000)),
        ("demo", json!(true), json!(true)),
        ("includeUnconfirmed", json!(false), json!(false)),
        ("includeRetractions", json!(true), json!(true)),
        ("filterPossibleSpamAddresses", json!(true), json!(true)),
        ("tag", json!("ä\u{1f}\u{2028}\"\\/"), json!("ä\u{1f}\u{2028}\"\\/")),
    ] {
        assert_eq!(kept(&json!({ field: given }))[field], expected, "{field}: {given}");
    }
}

#[test]
fn an_item_without_a_type_is_known_by_its_fields() {
    let mut event = transfer_abi();
    event.as_object_mut().unwrap().remove("type");
    let function = json!({ "name": "f", "inputs": [] });
    let kept = kept(&json!({ "abi": [event, function] }));
    assert_eq!(kept["abi"][0]["type"], "event");
    assert_eq!(kept["abi"][1]["type"], "function");
}

#[test]
fn what_is_kept_is_read_again_as_the_same() {
    let fields = json!({ "abi": [transfer_abi()], "topic0": [TRANSFER], "triggers": [trigger()],
        "advancedOptions": [{ "topic0": TRANSFER, "filter": { "gt": ["value", "1"] } }],
        "getNativeBalances": [{ "selectors": ["$fromAddress", "$toAddress"], "type": "tx" }],
        "allAddresses": true });
    let definition = create(&fields).unwrap();
    let text = serde_json::to_vec(&definition).unwrap();
    assert_eq!(read_create(&text).unwrap(), definition);
}

#[test]
fn a_question_for_a_block_has_addresses_and_no_webhook() {
    let text = format!(
        r#"{{"tag":"t","includeNativeTxs":true,"addresses":["{WALLET}","{}"]}}"#,
        WALLET.to_uppercase()
    );
    let (definition, addresses) = read_block_query(text.as_bytes()).unwrap();
    assert_eq!(addresses, [WALLET.parse::<alloy_primitives::Address>().unwrap()]);
    assert!(definition.include_native_txs && definition.webhook_url.is_empty());
    for (text, expected) in [
        (r#"{"includeNativeTxs":true}"#, Expect::Taken),
        ("{}", Expect::Rule("At least one of includeContractLogs")),
        ("", Expect::Rule("At least one of includeContractLogs")),
        (
            r#"{"includeNativeTxs":true,"addresses":"0x1"}"#,
            Expect::Field("addresses", "invalid array"),
        ),
        (
            r#"{"includeNativeTxs":true,"addresses":[7]}"#,
            Expect::Field("addresses.0", "invalid string value"),
        ),
        (
            r#"{"includeNativeTxs":true,"addresses":["0x1"]}"#,
            Expect::Field("addresses.0", "Invalid address provided"),
        ),
        (r#"{"webhookUrl":"http://a.b"}"#, Expect::Field("webhookUrl", "excess property")),
        (r#"{"description":""}"#, Expect::Field("description", "excess property")),
        (r#"{"chainIds":["0x1"]}"#, Expect::Field("chainIds", "excess property")),
        (r#"{"fromBlock":1}"#, Expect::Field("fromBlock", "excess property")),
        (r#"{"includeNativeTxs":1}"#, Expect::Field("includeNativeTxs", "invalid boolean value")),
    ] {
        check(text, read_block_query(text.as_bytes()).map(drop), &expected);
    }
}
