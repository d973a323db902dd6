//! `getNativeBalances`: which selectors are taken, and whose balances then are asked for.

use alloy_primitives::Address;
use serde_json::{Value, json};
use streams::definition::{Compiled, ItemKind};

use super::{Expect, TOKEN, WALLET, check, create};

#[test]
fn selectors_are_refused_as_the_table_says() {
    use Expect::{Field, Taken};
    let entry = |kind: &str, selectors: &[&str]| json!([{ "type": kind, "selectors": selectors }]);
    for (entry, expected) in [
        (entry("tx", &["$fromAddress", "$toAddress", "$receiptContractAddress"]), Taken),
        (entry("log", &["$address"]), Taken),
        (entry("internalTx", &["$from", "$to"]), Taken),
        (entry("erc20transfer", &["$from", "$to", "$contract"]), Taken),
        (entry("erc20approval", &["$owner", "$spender", "$contract"]), Taken),
        (entry("nfttransfer", &["$from", "$to", "$operator", "$contract"]), Taken),
        (
            entry("nft", &["$from"]),
            Field(
                "getNativeBalances.0.type",
                "should be one of the following; ['tx','log','internalTx','erc20transfer','erc20approval','nfttransfer']",
            ),
        ),
        (entry("tx", &[]), Field("getNativeBalances.0.selectors", "at least 1 selector")),
        (
            entry("tx", &["$fromAddress", "$from"]),
            Field("getNativeBalances.0.selectors.1", "`$from` is not a field of tx: use $hash"),
        ),
        (
            entry("tx", &["$value"]),
            Field(
                "getNativeBalances.0.selectors.0",
                "`$value` of tx is not an address: use $fromAddress, $toAddress, $receiptContractAddress",
            ),
        ),
        (
            entry("tx", &["fromAddress"]),
            Field("getNativeBalances.0.selectors.0", "is not a selector"),
        ),
        (entry("tx", &[WALLET]), Field("getNativeBalances.0.selectors.0", "is not a selector")),
        (entry("tx", &["$"]), Field("getNativeBalances.0.selectors.0", "`$` is not a field")),
        (entry("tx", &["$fromAddress"; 21]), Field("getNativeBalances.0.selectors", "at most 20")),
        (entry("log", &["$topic1"]), Field("getNativeBalances.0.selectors.0", "is not an address")),
        (
            json!([{"type": "tx"}]),
            Field("getNativeBalances.0.selectors", "'selectors' is required"),
        ),
        (
            json!([{"selectors": ["$from"]}]),
            Field("getNativeBalances.0.type", "'type' is required"),
        ),
        (
            json!([{"type": "tx", "selectors": "$from"}]),
            Field("getNativeBalances.0.selectors", "invalid array"),
        ),
        (
            json!([{"type": "tx", "selectors": [7]}]),
            Field("getNativeBalances.0.selectors.0", "invalid string value"),
        ),
        (
            json!([{"type": 7, "selectors": ["$from"]}]),
            Field("getNativeBalances.0.type", "invalid string value"),
        ),
        (json!([7]), Field("getNativeBalances.0", "invalid object")),
        (json!("tx"), Field("getNativeBalances", "invalid array")),
        (
            json!([{"type": "tx", "selectors": ["$fromAddress"], "x": 1}]),
            Field("getNativeBalances.0.x", "excess property"),
        ),
    ] {
        let fields = json!({ "getNativeBalances": entry });
        check(&fields.to_string(), create(&fields).map(drop), &expected);
    }
}

#[test]
fn addresses_are_asked_for_once_and_nulls_are_left_out() {
    let fields = json!({ "getNativeBalances": { "type": "tx",
        "selectors": ["$toAddress", "$fromAddress", "$receiptContractAddress"] } });
    let compiled = Compiled::new(&create(&fields).unwrap()).unwrap();
    let [rule] = compiled.balances.as_slice() else { panic!("one rule") };
    assert_eq!(rule.kind, ItemKind::Tx);
    let of = |item: Value| {
        let field = |name: &str| item[name].as_str().map(str::to_owned);
        rule.addresses(&field)
    };
    let address = |text: &str| text.parse::<Address>().unwrap();
    let both = json!({ "fromAddress": WALLET, "toAddress": TOKEN, "receiptContractAddress": null });
    assert_eq!(of(both), [address(TOKEN), address(WALLET)]);
    assert_eq!(of(json!({ "fromAddress": WALLET, "toAddress": WALLET })), [address(WALLET)]);
    let made = json!({ "fromAddress": WALLET, "toAddress": null, "receiptContractAddress": TOKEN });
    assert_eq!(of(made), [address(WALLET), address(TOKEN)]);
    assert_eq!(of(json!({})), Vec::<Address>::new());
}
