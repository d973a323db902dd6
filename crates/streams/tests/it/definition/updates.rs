//! Updates: given fields replace, others stay, null clears, and the rules hold for what comes out.

use serde_json::{Value, json};
use streams::definition::{Definition, read_update};

use super::{Expect, TRANSFER, check, create, transfer_abi};

fn trigger() -> Value {
    json!({ "type": "log", "contractAddress": "$address", "topic0": TRANSFER, "inputs": ["$to"],
        "functionAbi": { "type": "function", "name": "balanceOf", "stateMutability": "view",
            "inputs": [{ "name": "owner", "type": "address" }],
            "outputs": [{ "name": "balance", "type": "uint256" }] } })
}

/// Every field is set.
fn full() -> Definition {
    create(&json!({
        "abi": [transfer_abi()], "topic0": [TRANSFER], "allAddresses": true, "demo": true,
        "includeNativeTxs": true, "includeInternalTxs": true, "includeAllTxLogs": true,
        "filterPossibleSpamAddresses": true, "triggers": [trigger()], "fromBlock": 5,
        "advancedOptions": [{ "topic0": TRANSFER, "filter": { "gt": ["value", 1] } }],
        "getNativeBalances": [{ "selectors": ["$fromAddress"], "type": "tx" }],
        "includeUnconfirmed": false, "includeRetractions": true,
    }))
    .unwrap()
}

#[test]
fn given_fields_replace_and_all_others_stay() {
    let before = serde_json::to_value(full()).unwrap();
    let other = json!({ "type": "event", "name": "Transfer", "inputs": [
        { "name": "to", "type": "address" }, { "name": "b", "type": "address" },
        { "name": "value", "type": "uint256" }] });
    let without_topic0 = {
        let mut trigger = trigger();
        trigger.as_object_mut().unwrap().remove("topic0");
        trigger["inputs"] = json!(["$address"]);
        trigger
    };
    let balances = json!({ "selectors": ["$to"], "type": "internalTx" });
    let option = json!({ "topic0": TRANSFER, "includeNativeTxs": true });
    for (field, given, expected) in [
        ("webhookUrl", json!("http://b.c"), json!("http://b.c")),
        ("description", json!("new"), json!("new")),
        ("tag", json!(""), json!("")),
        ("demo", json!(false), json!(false)),
        ("allAddresses", json!(false), json!(false)),
        ("includeNativeTxs", json!(false), json!(false)),
        ("includeContractLogs", json!(false), json!(false)),
        ("includeInternalTxs", json!(false), json!(false)),
        ("includeAllTxLogs", json!(false), json!(false)),
        ("filterPossibleSpamAddresses", json!(false), json!(false)),
        ("includeUnconfirmed", json!(true), json!(true)),
        ("includeRetractions", json!(false), json!(false)),
        ("fromBlock", json!(7), json!(7)),
        ("fromBlock", json!(null), json!(null)),
        ("chainIds", json!(["0x89"]), json!(["0x89"])),
        ("topic0", json!([TRANSFER, "A()"]), json!([TRANSFER, "A()"])),
        ("abi", other.clone(), json!([other])),
        ("abi", json!([other]), json!([other])),
        ("advancedOptions", json!(null), json!(null)),
        ("advancedOptions", json!([]), json!([])),
        ("advancedOptions", option.clone(), json!([option])),
        ("advancedOptions", json!([option]), json!([option])),
        ("triggers", json!(null), json!([])),
        ("triggers", json!([]), json!([])),
        ("triggers", without_topic0.clone(), json!([without_topic0])),
        ("triggers", json!([without_topic0, trigger()]), json!([without_topic0, trigger()])),
        ("getNativeBalances", json!(null), json!([])),
        ("getNativeBalances", json!([]), json!([])),
        ("getNativeBalances", balances.clone(), json!([balances])),
        ("getNativeBalances", json!([balances, balances]), json!([balances, balances])),
    ] {
        let body = json!({ field: given }).to_string();
        let after =
            read_update(&full(), body.as_bytes()).unwrap_or_else(|error| panic!("{body}: {error}"));
        let mut wanted = before.clone();
        wanted[field] = expected;
        assert_eq!(serde_json::to_value(after).unwrap(), wanted, "{body}");
    }
}

#[test]
fn an_empty_update_changes_nothing() {
    assert_eq!(read_update(&full(), b"{}").unwrap(), full());
    assert_eq!(read_update(&full(), b"").unwrap(), full());
}

#[test]
fn rules_hold_for_the_stream_after_the_update() {
    use Expect::{Field, Rule, Taken};
    for (body, expected) in [
        // All of the flags together would leave nothing to deliver, one after the other, too.
        (
            json!({"includeNativeTxs": false, "includeContractLogs": false, "includeInternalTxs": false}),
            Rule("At least one of"),
        ),
        (
            json!({"includeNativeTxs": false, "includeContractLogs": false}),
            Rule("includeAllTxLogs needs"),
        ),
        (
            json!({"includeNativeTxs": false, "includeContractLogs": false, "includeAllTxLogs": false}),
            Taken,
        ),
        (json!({"abi": null}), Rule("allAddresses needs abi and topic0.")),
        (json!({"abi": {}}), Rule("allAddresses needs abi and topic0.")),
        (json!({"topic0": null}), Rule("allAddresses needs abi and topic0.")),
        (json!({"topic0": ["A()"]}), Rule("advancedOptions.0.topic0 `Transfer(")),
        (
            json!({"abi": null, "allAddresses": false}),
            Rule("advancedOptions.0.filter needs the event"),
        ),
        (
            json!({"abi": null, "allAddresses": false, "advancedOptions": null}),
            Rule("triggers.0.topic0 needs the event"),
        ),
        (
            json!({"abi": null, "allAddresses": false, "advancedOptions": null, "triggers": []}),
            Taken,
        ),
        // The event is still there, its fields are not.
        (
            json!({"abi": {"type": "event", "name": "Transfer", "inputs": [
                {"name": "a", "type": "address"}, {"name": "b", "type": "address"},
                {"name": "c", "type": "uint256"}]}}),
            Rule("advancedOptions.0.filter does not go with abi: `value` is not an input"),
        ),
        (
            json!({"abi": {"type": "event", "name": "Transfer", "inputs": [
                {"name": "a", "type": "address"}, {"name": "b", "type": "address"},
                {"name": "value", "type": "uint256"}]}}),
            Rule("triggers.0.inputs.0 does not go with abi: `$to` is not a field of log"),
        ),
        (json!({"id": "x"}), Field("id", "excess property")),
        (json!({"status": "paused"}), Field("status", "excess property")),
        (json!({"webhookUrl": null}), Field("webhookUrl", "invalid string value")),
        (json!({"chainIds": []}), Field("chainIds", "at least 1 chain id")),
        (json!({"chainIds": null}), Field("chainIds", "invalid array")),
    ] {
        let result = read_update(&full(), body.to_string().as_bytes()).map(drop);
        check(&body.to_string(), result, &expected);
    }
}
