//! Bodies that are refused: the path and the words, or the rule.

use serde_json::{Value, json};
use streams::definition::{DefinitionError, read_block_query, read_create, read_update};

use super::{Expect, TRANSFER, TRANSFER_HASH, WALLET, body, check, create, transfer_abi};

fn long(count: usize) -> String {
    "ä".repeat(count)
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn single_fields_are_refused_as_the_table_says() {
    use Expect::{Field, Taken};
    let url = "must be an http or https URL";
    for (fields, expected) in [
        (json!({"webhookUrl": 7}), Field("webhookUrl", "invalid string value")),
        (json!({"webhookUrl": null}), Field("webhookUrl", "invalid string value")),
        (json!({"webhookUrl": ""}), Field("webhookUrl", url)),
        (json!({"webhookUrl": "example.com"}), Field("webhookUrl", url)),
        (json!({"webhookUrl": "ftp://example.com"}), Field("webhookUrl", url)),
        (json!({"webhookUrl": "http://a:b@example.com"}), Field("webhookUrl", url)),
        (
            json!({"webhookUrl": format!("http://example.com/{}", "x".repeat(2_030))}),
            Field("webhookUrl", "at most 2048 characters"),
        ),
        (json!({"description": true}), Field("description", "invalid string value")),
        (json!({"description": long(1_000)}), Taken),
        (json!({"description": long(1_001)}), Field("description", "at most 1000 characters")),
        (json!({"tag": null}), Field("tag", "invalid string value")),
        (json!({"tag": long(1_001)}), Field("tag", "at most 1000 characters")),
        (json!({"demo": "true"}), Field("demo", "invalid boolean value")),
        (json!({"demo": null}), Field("demo", "invalid boolean value")),
        (json!({"allAddresses": 1}), Field("allAddresses", "invalid boolean value")),
        (json!({"includeNativeTxs": "yes"}), Field("includeNativeTxs", "invalid boolean value")),
        (json!({"includeContractLogs": 1}), Field("includeContractLogs", "invalid boolean value")),
        (json!({"includeInternalTxs": []}), Field("includeInternalTxs", "invalid boolean value")),
        (json!({"includeAllTxLogs": {}}), Field("includeAllTxLogs", "invalid boolean value")),
        (
            json!({"filterPossibleSpamAddresses": 0}),
            Field("filterPossibleSpamAddresses", "invalid boolean value"),
        ),
        (json!({"includeUnconfirmed": 0}), Field("includeUnconfirmed", "invalid boolean value")),
        (json!({"includeRetractions": 0}), Field("includeRetractions", "invalid boolean value")),
        (json!({"fromBlock": "1"}), Field("fromBlock", "invalid float number")),
        (json!({"fromBlock": -1}), Field("fromBlock", "an integer from 0 to 9007199254740991")),
        (json!({"fromBlock": 1.5}), Field("fromBlock", "an integer")),
        (json!({"fromBlock": 9_007_199_254_740_992_u64}), Field("fromBlock", "an integer")),
        (json!({"chainIds": "0x1"}), Field("chainIds", "invalid array")),
        (json!({"chainIds": null}), Field("chainIds", "invalid array")),
        (json!({"chainIds": []}), Field("chainIds", "at least 1 chain id")),
        (json!({"chainIds": [1]}), Field("chainIds.0", "invalid string value")),
        (
            json!({"chainIds": ["0x1", "eth"]}),
            Field("chainIds.1", "in hex such as 0x1, not a name"),
        ),
        (json!({"chainIds": ["1"]}), Field("chainIds.0", "or a decimal number")),
        (json!({"chainIds": ["0x0"]}), Field("chainIds.0", "a chain id in hex")),
        (json!({"chainIds": ["0x10000000000000000"]}), Field("chainIds.0", "a chain id in hex")),
        (json!({"chainIds": vec!["0x1"; 101]}), Field("chainIds", "at most 100 entries")),
        (json!({"topic0": TRANSFER}), Field("topic0", "invalid array")),
        (json!({"topic0": {}}), Field("topic0", "invalid array")),
        (json!({"topic0": [7]}), Field("topic0.0", "invalid string value")),
        (json!({"topic0": [TRANSFER, "Transfer"]}), Field("topic0.1", "is not a signature")),
        (json!({"topic0": ["T(uint)"]}), Field("topic0.0", "write `uint256`")),
        (json!({"topic0": ["T(address, bool)"]}), Field("topic0.0", "without spaces")),
        (json!({"topic0": ["T(address indexed a)"]}), Field("topic0.0", "`indexed`")),
        (json!({"topic0": ["0xddf2"]}), Field("topic0.0", "0x and 64 hex digits")),
        (json!({"topic0": [long(2_001)]}), Field("topic0.0", "at most 2000 characters")),
        (json!({"topic0": vec![TRANSFER; 501]}), Field("topic0", "at most 500 entries")),
        (
            json!({"id": "x"}),
            Field("id", "\"id\" is an excess property and therefore is not allowed"),
        ),
        (json!({"status": "active"}), Field("status", "\"status\" is an excess property")),
        (json!({"statusMessage": ""}), Field("statusMessage", "excess property")),
        (json!({"webhook": "http://a.b"}), Field("webhook", "excess property")),
        (json!({"addresses": []}), Field("addresses", "excess property")),
        (json!({"": 1}), Field("", "excess property")),
        (json!({"advancedOptions": 7}), Field("advancedOptions", "invalid array")),
        (json!({"advancedOptions": [7]}), Field("advancedOptions.0", "invalid object")),
        (
            json!({"advancedOptions": [{}]}),
            Field("advancedOptions.0.topic0", "'topic0' is required"),
        ),
        (
            json!({"advancedOptions": {"topic0": 7}}),
            Field("advancedOptions.0.topic0", "invalid string value"),
        ),
        (
            json!({"advancedOptions": [{"topic0": "T("}]}),
            Field("advancedOptions.0.topic0", "is not a signature"),
        ),
        (
            json!({"advancedOptions": [{"topic0": TRANSFER, "includeNativeTxs": "x"}]}),
            Field("advancedOptions.0.includeNativeTxs", "invalid boolean value"),
        ),
        (
            json!({"advancedOptions": [{"topic0": TRANSFER, "filters": {}}]}),
            Field("advancedOptions.0.filters", "excess property"),
        ),
    ] {
        check(&fields.to_string(), create(&fields).map(drop), &expected);
    }
}

fn event_with(param: Value) -> Value {
    let first = json!({ "name": "a", "type": "address" });
    json!({ "abi": [{ "type": "event", "name": "E", "inputs": [first, param] }] })
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn abis_are_refused_as_the_table_says() {
    use Expect::{Field, Taken};
    let indexed = |count| vec![json!({"name": "a", "type": "bool", "indexed": true}); count];
    for (fields, expected) in [
        (json!({"abi": "[]"}), Field("abi", "invalid array")),
        (json!({"abi": [7]}), Field("abi.0", "invalid object")),
        (
            json!({"abi": vec![json!({"type": "receive"}); 1_001]}),
            Field("abi", "at most 1000 entries"),
        ),
        (json!({"abi": [{"type": 7}]}), Field("abi.0.type", "invalid string value")),
        (json!({"abi": [{"type": ""}]}), Field("abi.0.type", "must not be empty")),
        (
            json!({"abi": {"type": "events", "name": "E"}}),
            Field("abi.0.type", "should be one of the following; ['function','event','error',"),
        ),
        (json!({"abi": {"type": "event"}}), Field("abi.0.name", "'name' is required")),
        (
            json!({"abi": {"type": "event", "name": "a b"}}),
            Field("abi.0.name", "not a Solidity name"),
        ),
        (json!({"abi": {"type": "event", "name": 7}}), Field("abi.0.name", "invalid string value")),
        (json!({"abi": {"type": "receive"}}), Taken),
        (json!({"abi": {"type": "constructor", "inputs": []}}), Taken),
        (
            json!({"abi": {"type": "receive", "signature": "0x"}}),
            Field("abi.0.signature", "excess property"),
        ),
        (
            json!({"abi": {"type": "receive", "payable": 1}}),
            Field("abi.0.payable", "invalid boolean value"),
        ),
        (
            json!({"abi": {"type": "receive", "constant": ""}}),
            Field("abi.0.constant", "invalid boolean"),
        ),
        (
            json!({"abi": {"type": "event", "name": "E", "anonymous": 1}}),
            Field("abi.0.anonymous", "invalid boolean"),
        ),
        (
            json!({"abi": {"type": "receive", "gas": "1"}}),
            Field("abi.0.gas", "invalid float number"),
        ),
        (json!({"abi": {"type": "receive", "gas": 1.5}}), Field("abi.0.gas", "an integer")),
        (json!({"abi": {"type": "receive", "gas": 3000}}), Taken),
        (
            json!({"abi": {"type": "receive", "stateMutability": "constant"}}),
            Field("abi.0.stateMutability", "should be one of"),
        ),
        (
            json!({"abi": {"type": "event", "name": "E", "inputs": 7}}),
            Field("abi.0.inputs", "invalid array"),
        ),
        (event_with(json!(7)), Field("abi.0.inputs.1", "invalid object")),
        (event_with(json!({"name": "x"})), Field("abi.0.inputs.1.type", "'type' is required")),
        (
            event_with(json!({"name": "x", "type": 7})),
            Field("abi.0.inputs.1.type", "invalid string value"),
        ),
        (
            event_with(json!({"name": 7, "type": "bool"})),
            Field("abi.0.inputs.1.name", "invalid string value"),
        ),
        (
            event_with(json!({"name": "x", "type": "bool", "indexed": 1})),
            Field("abi.0.inputs.1.indexed", "invalid boolean value"),
        ),
        (
            event_with(json!({"name": "x", "type": "bool", "internalType": 1})),
            Field("abi.0.inputs.1.internalType", "invalid string value"),
        ),
        (
            event_with(json!({"name": "x", "type": "bool", "index": 1})),
            Field("abi.0.inputs.1.index", "excess property"),
        ),
        (
            event_with(json!({"name": "x", "type": "uint"})),
            Field("abi.0.inputs.1.type", "write `uint256`"),
        ),
        (
            event_with(json!({"name": "x", "type": "adress"})),
            Field("abi.0.inputs.1.type", "not a Solidity type"),
        ),
        (
            event_with(json!({"name": "x", "type": "(bool)"})),
            Field("abi.0.inputs.1.type", "not a Solidity type"),
        ),
        (
            event_with(json!({"name": "x", "type": "bool[2000]"})),
            Field("abi.0.inputs.1.type", "too large"),
        ),
        (
            event_with(json!({"name": "x", "type": "tuple"})),
            Field("abi.0.inputs.1.components", "a tuple needs its components"),
        ),
        (
            event_with(json!({"name": "x", "type": "tuple[]", "components": []})),
            Field("abi.0.inputs.1.components", "a tuple needs"),
        ),
        (
            event_with(json!({"name": "x", "type": "bool", "components": [{"type": "bool"}]})),
            Field("abi.0.inputs.1.components", "only a tuple has"),
        ),
        (
            event_with(json!({"name": "x", "type": "tuple", "components": 7})),
            Field("abi.0.inputs.1.components", "invalid array"),
        ),
        (
            event_with(json!({"name": "x", "type": "tuple", "components": {"type": "int"}})),
            Field("abi.0.inputs.1.components.0.type", "write `int256`"),
        ),
        (
            event_with(
                json!({"type": "tuple", "components": [{"type": "tuple[]", "components": [{"type": "bool"}, {"type": "x"}]}]}),
            ),
            Field("abi.0.inputs.1.components.0.components.1.type", "not a Solidity type"),
        ),
        (json!({"abi": {"type": "event", "name": "E", "inputs": indexed(3)}}), Taken),
        (
            json!({"abi": {"type": "event", "name": "E", "inputs": indexed(4)}}),
            Field("abi.0.inputs", "at most 3 indexed inputs"),
        ),
        (
            json!({"abi": {"type": "event", "name": "E", "anonymous": true, "inputs": indexed(4)}}),
            Taken,
        ),
        (
            json!({"abi": {"type": "function", "name": "f", "outputs": {"type": "x"}}}),
            Field("abi.0.outputs.0.type", "not a Solidity type"),
        ),
    ] {
        check(&fields.to_string(), create(&fields).map(drop), &expected);
    }
}

#[test]
fn fields_that_do_not_go_together_break_a_rule() {
    use Expect::{Rule, Taken};
    let filter = json!({ "gt": ["value", 1] });
    let option = json!({ "topic0": TRANSFER, "filter": filter });
    for (fields, expected) in [
        (
            json!({"includeContractLogs": false}),
            Rule(
                "At least one of includeContractLogs, includeNativeTxs and includeInternalTxs must be true.",
            ),
        ),
        (json!({"includeContractLogs": false, "includeInternalTxs": true}), Taken),
        (
            json!({"includeContractLogs": false, "includeInternalTxs": true, "includeAllTxLogs": true}),
            Rule("includeAllTxLogs needs includeNativeTxs or includeContractLogs to be true."),
        ),
        (
            json!({"includeContractLogs": false, "includeNativeTxs": true, "includeAllTxLogs": true}),
            Taken,
        ),
        (json!({"allAddresses": true}), Rule("allAddresses needs abi and topic0.")),
        (json!({"allAddresses": true, "abi": transfer_abi()}), Rule("allAddresses needs")),
        (json!({"allAddresses": true, "topic0": [TRANSFER]}), Rule("allAddresses needs")),
        (
            json!({"allAddresses": true, "abi": [], "topic0": [TRANSFER]}),
            Rule("allAddresses needs"),
        ),
        (
            json!({"allAddresses": true, "abi": transfer_abi(), "topic0": []}),
            Rule("allAddresses needs"),
        ),
        (json!({"allAddresses": true, "abi": transfer_abi(), "topic0": [TRANSFER]}), Taken),
        (
            json!({"topic0": ["Other()"], "abi": transfer_abi(), "advancedOptions": option}),
            Rule("advancedOptions.0.topic0 `Transfer(address,address,uint256)` is not in topic0."),
        ),
        (
            json!({"topic0": [TRANSFER_HASH], "abi": transfer_abi(), "advancedOptions": option}),
            Taken,
        ),
        (json!({"abi": transfer_abi(), "advancedOptions": option}), Taken),
        (
            json!({"advancedOptions": [option]}),
            Rule(
                "advancedOptions.0.filter needs the event `Transfer(address,address,uint256)` in abi.",
            ),
        ),
        (json!({"advancedOptions": [{"topic0": TRANSFER, "includeNativeTxs": true}]}), Taken),
    ] {
        check(&fields.to_string(), create(&fields).map(drop), &expected);
    }
}

#[test]
fn what_is_not_a_json_object_is_refused() {
    for (text, expected) in [
        ("[]", Expect::Field("", "invalid object")),
        ("null", Expect::Field("", "invalid object")),
        ("{", Expect::Rule("The body is not JSON")),
        ("{}x", Expect::Rule("The body is not JSON")),
        ("{'a':1}", Expect::Rule("The body is not JSON")),
        (r#"{"\ud800":1}"#, Expect::Rule("The body is not JSON")),
        (r#"{"tag":"\ud800"}"#, Expect::Field("tag", "is not JSON")),
        (r#"{"tag":"a","tag":"a"}"#, Expect::Field("tag", "\"tag\" is given twice")),
        (
            r#"{"abi":[{"type":"event"},{"inputs":[{"type":"bool","name":"a","\u0074ype":"int"}]}]}"#,
            Expect::Field("abi.1.inputs.0.type", "\"type\" is given twice"),
        ),
    ] {
        for result in [
            read_create(text.as_bytes()).map(drop),
            read_block_query(text.as_bytes()).map(drop),
            read_update(&create(&json!({})).unwrap(), text.as_bytes()).map(drop),
        ] {
            check(text, result, &expected);
        }
    }
    check("bytes", read_create(b"{\"tag\":\"\xff\"}").map(drop), &Expect::Rule("not JSON"));
    let deep = format!("{}{}", r#"{"a":["#.repeat(5_000), "]}".repeat(5_000));
    let error = read_create(deep.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("nested too deep"), "{error}");
}

#[test]
fn a_stream_needs_a_webhook_a_description_and_chains() {
    for text in ["{}", "", " \n"] {
        let Err(DefinitionError::Fields(fields)) = read_create(text.as_bytes()) else {
            panic!("{text:?} was taken");
        };
        let told: Vec<_> =
            fields.iter().map(|field| (field.path.as_str(), field.message.as_str())).collect();
        assert_eq!(
            told,
            [
                ("webhookUrl", "'webhookUrl' is required"),
                ("description", "'description' is required"),
                ("chainIds", "'chainIds' is required"),
            ]
        );
    }
}

#[test]
fn all_wrong_fields_are_told_at_once_with_their_values() {
    let fields = json!({ "tag": 7, "demo": "x", "abi": [{ "type": "event", "name": "E",
        "inputs": [{ "type": 1 }, { "type": "bool", "name": 2 }] }], "surprise": { "a": 1 } });
    let Err(DefinitionError::Fields(found)) = read_create(&body(&fields)) else {
        panic!("taken");
    };
    let mut found: Vec<_> =
        found.into_iter().map(|field| (field.path, field.message, field.value)).collect();
    found.sort_by(|left, right| left.0.cmp(&right.0));
    let text = "invalid string value".to_owned();
    let excess = "\"surprise\" is an excess property and therefore is not allowed".to_owned();
    assert_eq!(
        found,
        [
            ("abi.0.inputs.0.type".to_owned(), text.clone(), json!(1)),
            ("abi.0.inputs.1.name".to_owned(), text.clone(), json!(2)),
            ("demo".to_owned(), "invalid boolean value".to_owned(), json!("x")),
            ("surprise".to_owned(), excess, json!("surprise")),
            ("tag".to_owned(), text, json!(7)),
        ]
    );
}

#[test]
fn errors_stay_small_whatever_was_sent() {
    let much = json!({ "chainIds": vec!["x".repeat(100_000); 100] });
    let Err(DefinitionError::Fields(found)) = create(&much) else { panic!("taken") };
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|field| field.value.to_string().len() < 1_000));
    let keys: serde_json::Map<_, _> = (0..5_000).map(|n| (format!("k{n}"), json!(1))).collect();
    let Err(DefinitionError::Fields(found)) = create(&Value::Object(keys)) else {
        panic!("taken");
    };
    assert_eq!(found.len(), 100);
    // The sentences, too.
    let key = "k".repeat(100_000);
    let twice = format!(r#"{{"{key}":1,"{key}":2}}"#);
    let input = vec!["x".repeat(9_000); 900];
    let function = super::triggers::function(&["address"]);
    let trigger = json!({ "type": "tx", "contractAddress": WALLET, "functionAbi": function,
        "inputs": [input] });
    for error in [
        read_create(twice.as_bytes()).unwrap_err(),
        create(&json!({ "triggers": trigger })).unwrap_err(),
        create(&json!({ key: 1 })).unwrap_err(),
    ] {
        assert!(error.to_string().len() < 3_000, "{}", error.to_string().len());
    }
}
