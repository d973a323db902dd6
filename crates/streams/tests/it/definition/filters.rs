//! Filters on one log of an event that has a field of every type.

use alloy_dyn_abi::DynSolValue;
use alloy_primitives::{Address, B256, I256, U256, keccak256};
use model::chain::ChainId;
use serde_json::{Value, json};
use streams::definition::{Compiled, LogView};

use super::{Expect, TOKEN, WALLET, check, create};

const EVENT: &str = "All(address,uint256,string,uint256,int256,bool,bytes4,bytes,string,\
                     uint256[],(uint256,bool),uint256)";

fn event_abi() -> Value {
    json!({ "type": "event", "name": "All", "inputs": [
        { "name": "from", "type": "address", "indexed": true },
        { "name": "id", "type": "uint256", "indexed": true },
        { "name": "label", "type": "string", "indexed": true },
        { "name": "value", "type": "uint256" },
        { "name": "delta", "type": "int256" },
        { "name": "flag", "type": "bool" },
        { "name": "code", "type": "bytes4" },
        { "name": "blob", "type": "bytes" },
        { "name": "note", "type": "string" },
        { "name": "list", "type": "uint256[]" },
        { "name": "pair", "type": "tuple", "components": [
            { "name": "a", "type": "uint256" }, { "name": "b", "type": "bool" } ] },
        { "name": "most", "type": "uint256" },
    ] })
}

fn log() -> (Vec<B256>, Vec<u8>) {
    let wallet: Address = WALLET.parse().unwrap();
    let topics =
        vec![keccak256(EVENT), wallet.into_word(), B256::from(U256::from(7)), keccak256("gold")];
    let number = |n: u64| DynSolValue::Uint(U256::from(n), 256);
    let data = DynSolValue::Tuple(vec![
        DynSolValue::Uint(U256::from(10).pow(U256::from(21)), 256),
        DynSolValue::Int(I256::unchecked_from(-5), 256),
        DynSolValue::Bool(true),
        DynSolValue::FixedBytes(B256::right_padding_from(&[0xa9, 5, 0x9c, 0xbb]), 4),
        DynSolValue::Bytes(vec![1, 2, 255]),
        DynSolValue::String("Hello".to_owned()),
        DynSolValue::Array(vec![number(1), number(2)]),
        DynSolValue::Tuple(vec![number(1), DynSolValue::Bool(true)]),
        DynSolValue::Uint(U256::MAX, 256),
    ]);
    (topics, data.abi_encode_params())
}

/// Whether the log passes, before and after the definition was in the store.
fn matches(filter: &str) -> bool {
    let body = json!({ "abi": [event_abi()], "topic0": [EVENT] });
    let text = String::from_utf8(super::body(&body)).unwrap();
    let options = format!(r#","advancedOptions":[{{"topic0":"{EVENT}","filter":{filter}}}]}}"#);
    let text = format!("{}{options}", text.strip_suffix('}').unwrap());
    let definition = streams::definition::read_create(text.as_bytes())
        .unwrap_or_else(|error| panic!("{filter}: {error}"));
    // What the store keeps is the same filter, and the same text again.
    let stored = serde_json::to_string(&definition).unwrap();
    let read: streams::definition::Definition = serde_json::from_str(&stored).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), stored);
    let (topics, data) = log();
    let log = LogView {
        chain: ChainId(0x89),
        address: TOKEN.parse().unwrap(),
        topics: &topics,
        data: &data,
        possible_spam: false,
    };
    let accepts = |definition| {
        let compiled = Compiled::new(definition).unwrap();
        compiled.events.iter().any(|rule| rule.accepts(log))
    };
    let accepted = accepts(&definition);
    assert_eq!(accepts(&read), accepted, "{filter} after the store");
    accepted
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn filters_match_as_the_table_says() {
    for (filter, expected) in [
        // Numbers: text, bare, hex, exponents, across 2^53 and up to 256 bits.
        (r#"{"eq":["value","1000000000000000000000"]}"#, true),
        (r#"{"eq":["value",1000000000000000000000]}"#, true),
        (r#"{"eq":["value",1e+21]}"#, true),
        (r#"{"eq":["value","0x3635c9adc5dea00000"]}"#, true),
        (r#"{"eq":["value",1000000000000000000001]}"#, false),
        (r#"{"gt":["value",999999999999999999999]}"#, true),
        (r#"{"gt":["value",1000000000000000000000]}"#, false),
        (r#"{"gte":["value",1000000000000000000000]}"#, true),
        (r#"{"lt":["value","1000000000000000000001"]}"#, true),
        (r#"{"lt":["value",1000000000000000000000]}"#, false),
        (r#"{"lte":["value",1000000000000000000000]}"#, true),
        (r#"{"ne":["value",1]}"#, true),
        (r#"{"gt":["value",-1]}"#, true),
        (r#"{"lt":["value",-1]}"#, false),
        (r#"{"eq":["id",7]}"#, true),
        (r#"{"eq":["id","07"]}"#, true),
        (r#"{"in":["id",["1","7"]]}"#, true),
        (r#"{"in":["id",[1,2,3]]}"#, false),
        (r#"{"nin":["id",[1,2,3]]}"#, true),
        (r#"{"nin":["id",[1,7]]}"#, false),
        // Unsigned is not two's complement, and signed is.
        (
            r#"{"gt":["most","0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"]}"#,
            true,
        ),
        (r#"{"eq":["most",-1]}"#, false),
        (r#"{"eq":["delta",-5]}"#, true),
        (r#"{"eq":["delta","-5"]}"#, true),
        (r#"{"lt":["delta",0]}"#, true),
        (r#"{"lt":["delta","-4"]}"#, true),
        (r#"{"gt":["delta",-4]}"#, false),
        (r#"{"gte":["delta",-5]}"#, true),
        (r#"{"in":["delta",[-4,-5]]}"#, true),
        // Addresses and bytes in any case.
        (r#"{"eq":["from","0xd8da6bf26964af9d7eed9e03e53415d37aa96045"]}"#, true),
        (r#"{"eq":["from","0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"]}"#, true),
        (r#"{"ne":["from","0xD8DA6BF26964AF9D7EED9E03E53415D37AA96045"]}"#, false),
        (r#"{"eq":["from","0x0000000000000000000000000000000000000000"]}"#, false),
        (
            r#"{"in":["from",["0x0000000000000000000000000000000000000000","0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"]]}"#,
            true,
        ),
        (r#"{"eq":["code","0xA9059CBB"]}"#, true),
        (r#"{"eq":["code","0xa9059cbc"]}"#, false),
        (r#"{"eq":["blob","0x0102FF"]}"#, true),
        (r#"{"ne":["blob","0x0102"]}"#, true),
        (r#"{"in":["blob",["0x","0x0102ff"]]}"#, true),
        // Text exactly, an indexed text by its hash.
        (r#"{"eq":["note","Hello"]}"#, true),
        (r#"{"eq":["note","hello"]}"#, false),
        (r#"{"ne":["note","hello"]}"#, true),
        (r#"{"in":["note",["x","Hello"]]}"#, true),
        (r#"{"eq":["note",5]}"#, false),
        (
            r#"{"eq":["label","0xB48C42BB2D08B51D54EFF6C67B7E25D8B12BB8A7B6B7BAA4B9F9F3C0A1D2E3F4"]}"#,
            false,
        ),
        // Booleans.
        (r#"{"eq":["flag","true"]}"#, true),
        (r#"{"eq":["flag","false"]}"#, false),
        (r#"{"ne":["flag","false"]}"#, true),
        (r#"{"eq":["flag",true]}"#, true),
        // What is not in the event.
        (
            r#"{"eq":["moralis_streams_contract_address","0xdac17f958d2ee523a2206206994597c13d831ec7"]}"#,
            true,
        ),
        (
            r#"{"in":["moralis_streams_contract_address",["0xdAC17F958D2ee523a2206206994597C13D831ec7"]]}"#,
            true,
        ),
        (
            r#"{"ne":["moralis_streams_contract_address","0xdac17f958d2ee523a2206206994597c13d831ec7"]}"#,
            false,
        ),
        (r#"{"eq":["moralis_streams_chain_id","0x89"]}"#, true),
        (r#"{"eq":["moralis_streams_chain_id","0x0089"]}"#, true),
        (r#"{"nin":["moralis_streams_chain_id",["0x1","0x89"]]}"#, false),
        (r#"{"eq":["moralis_streams_possibleSpam","false"]}"#, true),
        (r#"{"eq":["moralis_streams_possibleSpam","true"]}"#, false),
        // And, or, within each other.
        (r#"{"and":[{"eq":["id",7]},{"eq":["flag","true"]}]}"#, true),
        (r#"{"and":[{"eq":["id",7]},{"eq":["flag","false"]}]}"#, false),
        (r#"{"or":[{"eq":["id",8]},{"eq":["flag","true"]}]}"#, true),
        (r#"{"or":[{"eq":["id",8]},{"eq":["id",9]},{"eq":["id",10]}]}"#, false),
        (r#"{"or":[{"and":[{"eq":["id",7]},{"gt":["value",1]}]},{"eq":["id",9]}]}"#, true),
        (r#"{"and":[{"or":[{"eq":["id",1]},{"eq":["id",2]}]},{"gt":["value",1]}]}"#, false),
        // No filter at all.
        (r"{}", true),
    ] {
        assert_eq!(matches(filter), expected, "{filter}");
    }
    let hash = keccak256("gold");
    assert!(matches(&format!(r#"{{"eq":["label","{hash}"]}}"#)));
}

#[test]
fn big_numbers_are_kept_as_text_and_small_ones_as_they_are() {
    let text = format!(
        r#"{{"webhookUrl":"https://a.b","description":"","chainIds":["0x1"],"includeContractLogs":true,
        "abi":{},"advancedOptions":{{"topic0":"{EVENT}","filter":
        {{"in":["value",[1e+21,9007199254740992,9007199254740991,-3]]}}}}}}"#,
        event_abi()
    );
    let definition = streams::definition::read_create(text.as_bytes()).unwrap();
    let option = &definition.advanced_options.unwrap()[0];
    let kept =
        r#"{"in":["value",["1000000000000000000000","9007199254740992",9007199254740991,-3]]}"#;
    assert_eq!(option.filter.as_ref().unwrap().to_string(), kept);
}

const AT: &str = "advancedOptions.0.filter";

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn filters_are_refused_as_the_table_says() {
    use Expect::{Field, Rule, Taken};
    let nested = |levels: usize| {
        let test = json!({ "eq": ["id", 7] });
        (0..levels).fold(test.clone(), |inner, _| json!({ "or": [inner, test] }))
    };
    let many = vec![json!({ "eq": ["id", 7] }); 1_001];
    for (filter, expected) in [
        (json!([]), Field(AT, "invalid object")),
        (json!("eq"), Field(AT, "invalid object")),
        (json!(null), Field(AT, "invalid object")),
        (json!({"eq": ["id", 7], "ne": ["id", 8]}), Field(AT, "exactly one operator")),
        (json!({"not": ["id", 7]}), Field(AT, "no known operator")),
        (json!({"EQ": ["id", 7]}), Field(AT, "no known operator")),
        (json!({"and": {}}), Field("advancedOptions.0.filter.and", "invalid array")),
        (json!({"and": []}), Field("advancedOptions.0.filter.and", "at least 2 conditions")),
        (
            json!({"or": [{"eq": ["id", 7]}]}),
            Field("advancedOptions.0.filter.or", "at least 2 conditions"),
        ),
        (
            json!({"or": [{"eq": ["id", 7]}, {}]}),
            Field("advancedOptions.0.filter.or.1", "exactly one operator"),
        ),
        (json!({"eq": "id"}), Field("advancedOptions.0.filter.eq", "invalid array")),
        (json!({"eq": ["id"]}), Field("advancedOptions.0.filter.eq", "must be [name, value]")),
        (json!({"eq": ["id", 1, 2]}), Field("advancedOptions.0.filter.eq", "at most 2 entries")),
        (json!({"eq": [7, 7]}), Field("advancedOptions.0.filter.eq.0", "invalid string value")),
        (json!({"eq": ["id", 1.5]}), Field("advancedOptions.0.filter.eq.1", "an integer")),
        (
            json!({"eq": ["id", null]}),
            Field("advancedOptions.0.filter.eq.1", "a string or a number"),
        ),
        (
            json!({"eq": ["id", [7]]}),
            Field("advancedOptions.0.filter.eq.1", "a string or a number"),
        ),
        (json!({"in": ["id", "7"]}), Field("advancedOptions.0.filter.in.1", "invalid array")),
        (json!({"in": ["id", []]}), Field("advancedOptions.0.filter.in.1", "at least 1 value")),
        (
            json!({"in": ["id", [1, {}]]}),
            Field("advancedOptions.0.filter.in.1.1", "a string or a number"),
        ),
        (json!({"in": ["id"]}), Field("advancedOptions.0.filter.in", "must be [name, [value, …]]")),
        (nested(10), Taken),
        (
            nested(11),
            Field(
                "advancedOptions.0.filter.or.0.or.0.or.0.or.0.or.0.or.0.or.0.or.0.or.0.or.0.or",
                "nested too deep",
            ),
        ),
        (json!({"or": many}), Field("advancedOptions.0.filter.or", "at most 1000 entries")),
        // What the event says about it.
        (
            json!({"eq": ["nope", 7]}),
            Rule("`nope` is not an input of the event: use one of from, id"),
        ),
        (json!({"eq": ["pair.a", 7]}), Rule("`pair.a` is not an input")),
        (json!({"eq": ["", 7]}), Rule("`` is not an input")),
        (json!({"eq": ["list", 7]}), Rule("`list` is of type uint256[], which cannot be compared")),
        (json!({"eq": ["pair", "x"]}), Rule("of type (uint256,bool), which cannot be compared")),
        (json!({"lt": ["from", 7]}), Rule("`lt` compares numbers and `from` is none")),
        (json!({"gt": ["note", "a"]}), Rule("`gt` compares numbers")),
        (json!({"gte": ["flag", "true"]}), Rule("`gte` compares numbers")),
        (json!({"lte": ["moralis_streams_chain_id", "0x1"]}), Rule("`lte` compares numbers")),
        (json!({"eq": ["id", "seven"]}), Rule("`id` is compared with an integer")),
        (json!({"eq": ["id", "1.5"]}), Rule("`id` is compared with an integer")),
        (json!({"eq": ["id", ""]}), Rule("`id` is compared with an integer")),
        (json!({"eq": ["id", true]}), Rule("`id` is compared with an integer")),
        (json!({"eq": ["id", format!("0x1{}", "0".repeat(64))]}), Rule("at most 256 bits")),
        (json!({"in": ["from", ["0x12"]]}), Rule("`from` is compared with an address, not `0x12`")),
        (json!({"eq": ["from", 7]}), Rule("`from` is compared with an address")),
        (json!({"eq": ["flag", "yes"]}), Rule("`flag` is compared with true or false")),
        (json!({"eq": ["code", "0xa9"]}), Rule("`code` is compared with 4 bytes in hex")),
        (json!({"eq": ["blob", "zz"]}), Rule("`blob` is compared with bytes in hex")),
        (json!({"eq": ["label", "gold"]}), Rule("`label` is compared with 32 bytes in hex")),
        (json!({"eq": ["moralis_streams_chain_id", "eth"]}), Rule("a hex chain id such as 0x1")),
        (json!({"eq": ["moralis_streams_chain_id", 1]}), Rule("a hex chain id such as 0x1")),
        (json!({"eq": ["moralis_streams_possibleSpam", "no"]}), Rule("true or false")),
        (
            json!({"or": [{"eq": ["id", 7]}, {"and": [{"eq": ["id", 7]}, {"eq": ["x", 7]}]}]}),
            Rule("advancedOptions.0.filter does not go with abi: `x` is not an input"),
        ),
    ] {
        let fields = json!({ "abi": [event_abi()], "topic0": [EVENT],
            "advancedOptions": [{ "topic0": EVENT, "filter": filter }] });
        check(&filter.to_string(), create(&fields).map(drop), &expected);
    }
}
