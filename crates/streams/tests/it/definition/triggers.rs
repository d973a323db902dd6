//! Triggers that are taken and refused.

use serde_json::{Value, json};

use super::{Expect, TOKEN, TRANSFER, WALLET, check, create, transfer_abi};

/// `balanceOf(address)` of the token of a transfer, with these fields set and, where null, left out.
pub fn trigger(fields: &Value) -> Value {
    let mut trigger = json!({
        "type": "erc20transfer", "contractAddress": "$contract", "inputs": ["$from"],
        "functionAbi": function(&["address"]),
    });
    for (key, value) in fields.as_object().unwrap() {
        if value.is_null() {
            trigger.as_object_mut().unwrap().remove(key);
        } else {
            trigger[key] = value.clone();
        }
    }
    trigger
}

/// A view function with these input types and one output.
pub fn function(inputs: &[&str]) -> Value {
    let inputs: Vec<_> = inputs.iter().map(|ty| json!({ "name": "", "type": ty })).collect();
    json!({ "type": "function", "name": "f", "stateMutability": "view", "inputs": inputs,
        "outputs": [{ "name": "", "type": "uint256" }] })
}

fn function_with(key: &str, value: Value) -> Value {
    let mut function = function(&["address"]);
    function[key] = value;
    json!({ "functionAbi": function })
}

fn function_without(key: &str) -> Value {
    let mut function = function(&["address"]);
    function.as_object_mut().unwrap().remove(key);
    json!({ "functionAbi": function })
}

fn check_all(abi: &Value, rows: impl IntoIterator<Item = (Value, Expect)>) {
    for (fields, expected) in rows {
        let fields = json!({ "triggers": [trigger(&fields)], "abi": abi });
        check(&fields.to_string(), create(&fields).map(drop), &expected);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn triggers_are_refused_as_the_table_says() {
    use Expect::{Field, Taken};
    check_all(
        &Value::Null,
        [
            (json!({}), Taken),
            (json!({"type": "tx", "contractAddress": TOKEN, "inputs": ["$fromAddress"]}), Taken),
            (json!({"type": "log", "contractAddress": "$address", "inputs": ["$address"]}), Taken),
            (json!({"type": "erc20approval", "inputs": ["$spender"]}), Taken),
            (json!({"type": "nfttransfer", "inputs": ["$operator"]}), Taken),
            (json!({"type": null}), Field("triggers.0.type", "'type' is required")),
            (json!({"type": 7}), Field("triggers.0.type", "invalid string value")),
            (
                json!({"type": "internalTx", "contractAddress": TOKEN, "inputs": ["$from"]}),
                Field(
                    "triggers.0.type",
                    "should be one of the following; ['tx','log','erc20transfer','erc20approval','nfttransfer']",
                ),
            ),
            (json!({"type": "Tx"}), Field("triggers.0.type", "should be one of")),
            (json!({"surprise": 7}), Field("triggers.0.surprise", "excess property")),
            (
                json!({"contractAddress": null}),
                Field("triggers.0.contractAddress", "'contractAddress' is required"),
            ),
            (
                json!({"contractAddress": "0x12"}),
                Field("triggers.0.contractAddress", "neither an address nor a selector"),
            ),
            (
                json!({"contractAddress": "contract"}),
                Field("triggers.0.contractAddress", "neither an address nor"),
            ),
            (
                json!({"contractAddress": "$address"}),
                Field(
                    "triggers.0.contractAddress",
                    "`$address` is not a field of erc20transfer: use $transactionHash, $logIndex, $contract",
                ),
            ),
            (
                json!({"contractAddress": "$value"}),
                Field(
                    "triggers.0.contractAddress",
                    "`$value` of erc20transfer is not an address: use $contract, $from, $to",
                ),
            ),
            (
                json!({"contractAddress": "$"}),
                Field("triggers.0.contractAddress", "`$` is not a field"),
            ),
            (json!({"callFrom": WALLET}), Taken),
            (json!({"callFrom": "$to"}), Taken),
            (json!({"callFrom": "$tokenName"}), Field("triggers.0.callFrom", "is not an address")),
            (json!({"callFrom": "me"}), Field("triggers.0.callFrom", "neither an address")),
            (json!({"callFrom": 7}), Field("triggers.0.callFrom", "invalid string value")),
            (
                json!({"functionAbi": null}),
                Field("triggers.0.functionAbi", "'functionAbi' is required"),
            ),
            (json!({"functionAbi": []}), Field("triggers.0.functionAbi", "invalid object")),
            (function_without("type"), Field("triggers.0.functionAbi.type", "'type' is required")),
            (
                function_with("type", json!("event")),
                Field(
                    "triggers.0.functionAbi.type",
                    "should be one of the following; ['function']",
                ),
            ),
            (function_without("name"), Field("triggers.0.functionAbi.name", "'name' is required")),
            (
                function_with("name", json!("f()")),
                Field("triggers.0.functionAbi.name", "not the name of a function"),
            ),
            (
                function_without("stateMutability"),
                Field("triggers.0.functionAbi.stateMutability", "must be view or pure"),
            ),
            (
                function_with("stateMutability", json!("payable")),
                Field("triggers.0.functionAbi.stateMutability", "must be view or pure"),
            ),
            (function_with("stateMutability", json!("pure")), Taken),
            (
                function_without("outputs"),
                Field("triggers.0.functionAbi.outputs", "at least 1 output"),
            ),
            (
                function_with("outputs", json!({"type": "uint"})),
                Field("triggers.0.functionAbi.outputs.0.type", "write `uint256`"),
            ),
            (
                function_with("inputs", json!([{"type": "x"}])),
                Field("triggers.0.functionAbi.inputs.0.type", "not a Solidity type"),
            ),
            (function_with("gas", json!(1)), Taken),
            (
                function_with("signature", json!("0x")),
                Field("triggers.0.functionAbi.signature", "excess property"),
            ),
            (
                json!({"inputs": null}),
                Field("triggers.0.inputs", "must have 1 entries as functionAbi.inputs, not 0"),
            ),
            (json!({"inputs": []}), Field("triggers.0.inputs", "must have 1 entries")),
            (
                json!({"inputs": ["$from", "$to"]}),
                Field("triggers.0.inputs", "must have 1 entries as functionAbi.inputs, not 2"),
            ),
            (json!({"inputs": "$from"}), Field("triggers.0.inputs", "invalid array")),
            (json!({"inputs": [{}]}), Field("triggers.0.inputs.0", "invalid string value")),
            (json!({"inputs": [1.5]}), Field("triggers.0.inputs.0", "an integer")),
            (
                json!({"topic0": TRANSFER}),
                Field("triggers.0.topic0", "is allowed with type log only"),
            ),
            (json!({"topic0": "Transfer"}), Field("triggers.0.topic0", "is not a signature")),
        ],
    );
    let mut old = function(&["address"]);
    old.as_object_mut().unwrap().remove("stateMutability");
    old["constant"] = json!(true);
    check_all(&Value::Null, [(json!({ "functionAbi": old }), Taken)]);
    let many = json!({ "triggers": vec![trigger(&json!({})); 51] });
    let result = create(&many).map(drop);
    check("many", result, &Field("triggers", "at most 50 entries"));
}

#[test]
fn inputs_fit_their_types() {
    use Expect::{Field, Taken};
    let rows = [
        ("address", json!(WALLET), true),
        ("address", json!("$from"), true),
        ("address", json!("$contract"), true),
        ("address", json!("$value"), false),
        ("address", json!("$transactionHash"), false),
        ("address", json!("0x12"), false),
        ("address", json!([WALLET]), false),
        ("uint256", json!("1000000000000000000000"), true),
        ("uint256", json!(5), true),
        ("uint256", json!("$value"), true),
        ("uint256", json!("$logIndex"), true),
        ("uint8", json!("$tokenDecimals"), true),
        ("uint8", json!("256"), false),
        ("uint256", json!("-1"), false),
        ("uint256", json!("$from"), false),
        ("uint256", json!("$valueWithDecimals"), false),
        ("int256", json!("-1"), true),
        ("int256", json!("$value"), true),
        ("bool", json!("true"), true),
        ("bool", json!(true), true),
        ("bool", json!("$possibleSpam"), true),
        ("bool", json!("$value"), false),
        ("bool", json!("yes"), false),
        ("bytes32", json!("$transactionHash"), true),
        ("bytes32", json!("$from"), false),
        ("bytes4", json!("0xa9059cbb"), true),
        ("bytes4", json!("0xa9059c"), false),
        ("bytes", json!("0x"), true),
        ("bytes", json!("$transactionHash"), true),
        ("bytes", json!("12"), false),
        ("string", json!("any text"), true),
        ("string", json!("$tokenName"), true),
        ("string", json!("$value"), true),
        ("string", json!("$nope"), false),
        ("address[]", json!(["$from", "$to", WALLET]), true),
        ("address[]", json!([]), true),
        ("address[]", json!("$from"), false),
        ("address[2]", json!(["$from", "$to"]), true),
        ("address[2]", json!(["$from"]), false),
        ("uint256[][]", json!([["1"], ["$value", "2"]]), true),
        ("uint256[][]", json!([["1"], "2"]), false),
        ("uint256[]", json!(["1", "$from"]), false),
    ];
    for (ty, input, is_taken) in rows {
        let expected = if is_taken { Taken } else { Field("triggers.0.inputs.0", "") };
        let fields = json!({ "functionAbi": function(&[ty]), "inputs": [input] });
        check_all(&Value::Null, [(fields, expected)]);
    }
    let mut with_struct = function(&["tuple"]);
    with_struct["inputs"][0]["components"] =
        json!([{ "name": "a", "type": "address" }, { "name": "b", "type": "uint256[]" }]);
    for (input, is_taken) in [
        (json!(["$from", ["1", "$value"]]), true),
        (json!(["$from"]), false),
        (json!(["$value", []]), false),
        (json!("$from"), false),
    ] {
        let expected = if is_taken { Taken } else { Field("triggers.0.inputs.0", "") };
        let fields = json!({ "functionAbi": with_struct, "inputs": [input] });
        check_all(&Value::Null, [(fields, expected)]);
    }
}

#[test]
fn a_log_trigger_with_topic0_may_name_the_events_fields() {
    use Expect::{Rule, Taken};
    let log = |fields: Value| {
        let mut all = json!({ "type": "log", "contractAddress": "$address", "topic0": TRANSFER });
        for (key, value) in fields.as_object().unwrap() {
            all[key] = value.clone();
        }
        all
    };
    let uint = function(&["uint256"]);
    let list = json!([transfer_abi(), { "type": "event", "name": "L", "inputs": [
        { "name": "list", "type": "address[]" },
        { "name": "text", "type": "string", "indexed": true }] }]);
    let listed = |input: &str, ty: &str| {
        log(json!({ "topic0": "L(address[],string)", "inputs": [input],
            "functionAbi": function(&[ty]) }))
    };
    check_all(
        &list,
        [
            (log(json!({"inputs": ["$from"]})), Taken),
            (log(json!({"inputs": ["$address"]})), Taken),
            (log(json!({"contractAddress": "$to", "callFrom": "$from"})), Taken),
            (log(json!({"inputs": ["$value"], "functionAbi": uint})), Taken),
            (log(json!({"inputs": ["$logIndex"], "functionAbi": uint})), Taken),
            (
                log(json!({"inputs": ["$value"]})),
                Rule(
                    "triggers.0.inputs.0 does not go with abi: `$value` of log does not fit type address.",
                ),
            ),
            (
                log(json!({"inputs": ["$nope"]})),
                Rule(
                    "`$nope` is not a field of log: use $logIndex, $transactionHash, $address, $data, $topic0, $topic1, $topic2, $topic3, $from, $to, $value.",
                ),
            ),
            (
                log(json!({"contractAddress": "$value"})),
                Rule(
                    "triggers.0.contractAddress does not go with abi: `$value` of log is not an address: use $address, $from, $to.",
                ),
            ),
            (
                log(json!({"topic0": "Nope()"})),
                Rule("triggers.0.topic0 needs the event `Nope()` in abi."),
            ),
            (listed("$list", "address"), Rule("does not fit")),
            (listed("$list", "string"), Rule("does not fit")),
            (listed("$text", "bytes32"), Taken),
        ],
    );
    let expected =
        Rule("triggers.0.topic0 needs the event `Transfer(address,address,uint256)` in abi.");
    check_all(&Value::Null, [(log(json!({})), expected)]);
    // Without topic0 the event's fields are not known.
    let plain = json!({ "type": "log", "contractAddress": "$address", "inputs": ["$from"] });
    let expected = Expect::Field("triggers.0.inputs.0", "`$from` is not a field of log");
    check_all(&list, [(plain, expected)]);
}
