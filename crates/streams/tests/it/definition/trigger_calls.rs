//! The calls that triggers make of items, and what their answers become.

use alloy_dyn_abi::{DynSolValue, FunctionExt, JsonAbiExt};
use alloy_json_abi::Function;
use alloy_primitives::{Address, B256, U256};
use model::chain::ChainId;
use serde_json::{Value, json};
use streams::definition::{Compiled, ItemKind, LogView, TriggerRule, value_text};

use super::{TOKEN, TRANSFER, TRANSFER_HASH, WALLET, create, transfer_abi, triggers::trigger};

fn rule(fields: &Value) -> TriggerRule {
    let fields = json!({ "triggers": trigger(fields), "abi": [transfer_abi()] });
    let definition = create(&fields).unwrap_or_else(|error| panic!("{fields}: {error}"));
    let mut compiled = Compiled::new(&definition).unwrap();
    compiled.triggers.remove(0)
}

/// A transfer as payloads have it; its token has no name.
fn item(name: &str) -> Option<String> {
    let text = match name {
        "contract" => TOKEN,
        "from" => WALLET,
        "to" => "0x0000000000000000000000000000000000000001",
        "value" => "1000000000000000000000",
        "transactionHash" => TRANSFER_HASH,
        "possibleSpam" => "true",
        _ => return None,
    };
    Some(text.to_owned())
}

#[test]
fn a_call_has_the_items_fields_as_another_library_encodes_them() {
    let abi = json!({ "type": "function", "name": "f", "stateMutability": "view",
        "inputs": [
            { "name": "a", "type": "address" },
            { "name": "b", "type": "uint256" },
            { "name": "c", "type": "tuple", "components": [
                { "name": "d", "type": "bytes32" }, { "name": "e", "type": "string[]" }] },
            { "name": "g", "type": "bool" },
            { "name": "h", "type": "int8[2]" },
        ],
        "outputs": [{ "name": "", "type": "bool" }] });
    let rule = rule(&json!({ "functionAbi": abi, "callFrom": "$to", "inputs": [
        "$from", "$value", ["$transactionHash", ["x", "$value"]], "$possibleSpam", [-1, "2"]] }));
    assert_eq!((rule.kind, rule.topic0), (ItemKind::Erc20Transfer, None));
    let call = rule.call(&item).unwrap();
    assert_eq!(call.to, TOKEN.parse::<Address>().unwrap());
    assert_eq!(call.from, Some(Address::with_last_byte(1)));
    let function: Function = serde_json::from_value(abi).unwrap();
    let big = U256::from(10).pow(U256::from(21));
    let text = |text: &str| DynSolValue::String(text.to_owned());
    let small = |n: i8| DynSolValue::Int(alloy_primitives::I256::unchecked_from(n), 8);
    let expected = function
        .abi_encode_input(&[
            DynSolValue::Address(WALLET.parse().unwrap()),
            DynSolValue::Uint(big, 256),
            DynSolValue::Tuple(vec![
                DynSolValue::FixedBytes(TRANSFER_HASH.parse().unwrap(), 32),
                DynSolValue::Array(vec![text("x"), text("1000000000000000000000")]),
            ]),
            DynSolValue::Bool(true),
            DynSolValue::FixedArray(vec![small(-1), small(2)]),
        ])
        .unwrap();
    assert_eq!(call.data.as_ref(), expected);
}

#[test]
fn what_an_item_does_not_have_is_told_in_its_place() {
    let of = |fields: Value| rule(&fields).call(&item).unwrap_err();
    let string = super::triggers::function(&["string"]);
    let error = of(json!({ "functionAbi": string, "inputs": ["$tokenName"] }));
    assert_eq!(error, "$tokenName is null in this item");
    let small = super::triggers::function(&["uint8"]);
    let error = of(json!({ "functionAbi": small, "inputs": ["$value"] }));
    assert_eq!(error, "$value: `1000000000000000000000` is not a value of type uint8");
    let rule = rule(&json!({}));
    let error = rule.call(&|name| (name == "contract").then(|| "0x".to_owned())).unwrap_err();
    assert_eq!(error, "`0x` in $contract is no address");
}

#[test]
fn a_log_triggers_fields_are_decoded_for_it() {
    let rule = rule(&json!({ "type": "log", "contractAddress": "$address", "inputs": ["$to"],
        "topic0": TRANSFER }));
    assert_eq!(rule.topic0, Some(TRANSFER_HASH.parse().unwrap()));
    let wallet: Address = WALLET.parse().unwrap();
    let data = U256::from(5).to_be_bytes_vec();
    let topics = [TRANSFER_HASH.parse().unwrap(), B256::ZERO, wallet.into_word()];
    let nft = [&topics[..], &[B256::ZERO]].concat();
    let view = |topics| LogView {
        chain: ChainId(1),
        address: Address::ZERO,
        topics,
        data: &data,
        possible_spam: false,
    };
    let decoded = rule.decode(view(&topics)).unwrap();
    let call = rule
        .call(&|name| {
            let found = decoded.iter().find(|(field, _)| field == name);
            found
                .and_then(|(_, value)| value_text(value))
                .or((name == "address").then(|| TOKEN.to_owned()))
        })
        .unwrap();
    assert_eq!(call.data.get(4..), Some(wallet.into_word().as_slice()));
    assert_eq!(rule.decode(view(&nft)), None, "an NFT's transfer is another event");
    assert_eq!(rule.decode(view(&[])), None);
}

#[test]
fn answers_become_json_that_javascript_keeps() {
    let outputs = json!([
        { "name": "number", "type": "uint256" },
        { "name": "", "type": "int256" },
        { "name": "who", "type": "address" },
        { "name": "", "type": "bytes" },
        { "name": "yes", "type": "bool" },
        { "name": "text", "type": "string" },
        { "name": "code", "type": "bytes4" },
        { "name": "pairs", "type": "tuple[]", "components": [
            { "name": "a", "type": "uint8" }, { "name": "b", "type": "bool[1]" }] },
    ]);
    let abi = json!({ "type": "function", "name": "f", "stateMutability": "view",
        "inputs": [{ "name": "", "type": "address" }], "outputs": outputs });
    let rule = rule(&json!({ "functionAbi": abi }));
    let function: Function = serde_json::from_value(abi).unwrap();
    let wallet: Address = WALLET.parse().unwrap();
    let pair = DynSolValue::Tuple(vec![
        DynSolValue::Uint(U256::from(3), 8),
        DynSolValue::FixedArray(vec![DynSolValue::Bool(false)]),
    ]);
    let output = function
        .abi_encode_output(&[
            DynSolValue::Uint(U256::MAX, 256),
            DynSolValue::Int(alloy_primitives::I256::MIN, 256),
            DynSolValue::Address(wallet),
            DynSolValue::Bytes(vec![0xAB, 0]),
            DynSolValue::Bool(true),
            DynSolValue::String("ä\u{1f}\u{2028}\"".to_owned()),
            DynSolValue::FixedBytes(B256::right_padding_from(&[1, 2, 3, 0xff]), 4),
            DynSolValue::Array(vec![pair.clone(), pair]),
        ])
        .unwrap();
    let results = rule.results(&output).unwrap();
    let expected = [
        ("number", json!(U256::MAX.to_string())),
        ("output2", json!(alloy_primitives::I256::MIN.to_string())),
        ("who", json!(WALLET)),
        ("output4", json!("0xab00")),
        ("yes", json!(true)),
        ("text", json!("ä\u{1f}\u{2028}\"")),
        ("code", json!("0x010203ff")),
        ("pairs", json!([["3", [false]], ["3", [false]]])),
    ];
    let results: Vec<_> =
        results.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    assert_eq!(results, expected);
    let nothing = rule.results(&[]).unwrap_err();
    assert_eq!(nothing, "the call returned nothing: is there such a contract?");
    let short = rule.results(&output[..64]).unwrap_err();
    assert_eq!(short, "the call returned data that functionAbi.outputs does not describe");
}
