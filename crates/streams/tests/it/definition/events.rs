//! Which event rules follow from topic0, abi and advancedOptions together.

use alloy_primitives::{Address, B256, U256};
use model::chain::ChainId;
use serde_json::{Value, json};
use streams::definition::{Compiled, LogView, value_text};

use super::{TRANSFER, TRANSFER_HASH, WALLET, create, transfer_abi};

fn nft_transfer_abi() -> Value {
    json!({ "type": "event", "name": "Transfer", "inputs": [
        { "name": "from", "type": "address", "indexed": true },
        { "name": "to", "type": "address", "indexed": true },
        { "name": "tokenId", "type": "uint256", "indexed": true },
    ] })
}

fn compiled(fields: &Value) -> Compiled {
    let definition = create(fields).unwrap_or_else(|error| panic!("{fields}: {error}"));
    Compiled::new(&definition).unwrap()
}

struct MadeLog {
    topics: Vec<B256>,
    data: Vec<u8>,
}

impl MadeLog {
    fn view(&self) -> LogView<'_> {
        let (topics, data) = (&self.topics, &self.data);
        LogView { chain: ChainId(1), address: Address::ZERO, topics, data, possible_spam: true }
    }
}

fn transfer_of_tokens(value: u64) -> MadeLog {
    let wallet: Address = WALLET.parse().unwrap();
    MadeLog {
        topics: vec![TRANSFER_HASH.parse().unwrap(), wallet.into_word(), B256::ZERO],
        data: U256::from(value).to_be_bytes_vec(),
    }
}

fn transfer_of_nft(id: u64) -> MadeLog {
    let mut log = transfer_of_tokens(0);
    log.topics.push(B256::from(U256::from(id)));
    log.data.clear();
    log
}

fn accepts(compiled: &Compiled, log: &MadeLog) -> bool {
    compiled.events.iter().any(|rule| rule.accepts(log.view()))
}

#[test]
fn without_topic0_there_are_no_event_rules() {
    for fields in [
        json!({}),
        json!({ "topic0": [] }),
        json!({ "topic0": null, "abi": null }),
        json!({ "abi": [transfer_abi()] }),
    ] {
        assert!(compiled(&fields).events.is_empty(), "{fields}");
    }
}

#[test]
fn topic0_alone_decides_where_the_abi_has_no_such_event() {
    for name in [TRANSFER, TRANSFER_HASH] {
        let compiled = compiled(&json!({ "topic0": [name] }));
        assert!(accepts(&compiled, &transfer_of_tokens(1)));
        assert!(accepts(&compiled, &transfer_of_nft(1)), "any layout");
        let mut other = transfer_of_tokens(1);
        other.topics[0] = B256::ZERO;
        assert!(!accepts(&compiled, &other));
        other.topics.clear();
        assert!(!accepts(&compiled, &other));
        assert_eq!(compiled.events[0].decode(transfer_of_tokens(1).view()), None);
    }
}

#[test]
fn the_abi_tells_tokens_and_nfts_apart() {
    let tokens = compiled(&json!({ "topic0": [TRANSFER], "abi": transfer_abi() }));
    assert!(accepts(&tokens, &transfer_of_tokens(1)));
    assert!(!accepts(&tokens, &transfer_of_nft(1)));
    let mut short = transfer_of_tokens(1);
    short.data.pop();
    assert!(!accepts(&tokens, &short), "data that does not decode is another event");
    let nfts = compiled(&json!({ "topic0": [TRANSFER], "abi": [nft_transfer_abi()] }));
    assert!(!accepts(&nfts, &transfer_of_tokens(1)));
    assert!(accepts(&nfts, &transfer_of_nft(1)));
    // Once each, however often they are named.
    let both = json!([transfer_abi(), nft_transfer_abi(), transfer_abi()]);
    let both = compiled(&json!({ "topic0": [TRANSFER, TRANSFER_HASH], "abi": both }));
    assert!(accepts(&both, &transfer_of_tokens(1)) && accepts(&both, &transfer_of_nft(1)));
    assert_eq!(both.events.len(), 2);
}

#[test]
fn an_option_filters_its_own_event_and_leaves_others_alone() {
    let approval = "Approval(address,address,uint256)";
    let fields = json!({ "topic0": [TRANSFER, approval], "abi": [transfer_abi()],
        "advancedOptions": [{ "topic0": TRANSFER, "filter": { "gt": ["value", 10] },
            "includeNativeTxs": true }] });
    let compiled = compiled(&fields);
    assert!(accepts(&compiled, &transfer_of_tokens(11)));
    assert!(!accepts(&compiled, &transfer_of_tokens(10)));
    let mut other = transfer_of_tokens(1);
    other.topics[0] = alloy_primitives::keccak256(approval);
    assert!(accepts(&compiled, &other));
    let with_tx = |rule: &streams::definition::EventRule| rule.include_native_txs;
    let flags: Vec<_> = compiled.events.iter().map(|rule| (rule.topic0, with_tx(rule))).collect();
    assert_eq!(flags.len(), 2);
    for (topic0, flag) in flags {
        assert_eq!(flag, topic0.to_string() == TRANSFER_HASH);
    }
}

#[test]
fn several_options_of_one_event_are_alternatives() {
    let fields = json!({ "topic0": [TRANSFER], "abi": [transfer_abi()], "advancedOptions": [
        { "topic0": TRANSFER, "filter": { "lt": ["value", 5] } },
        { "topic0": TRANSFER_HASH, "filter": { "gt": ["value", 10] }, "includeNativeTxs": true },
    ] });
    let compiled = compiled(&fields);
    for (value, expected) in [(4, Some(false)), (7, None), (11, Some(true))] {
        let log = transfer_of_tokens(value);
        let rule = compiled.events.iter().find(|rule| rule.accepts(log.view()));
        assert_eq!(rule.map(|rule| rule.include_native_txs), expected, "{value}");
    }
}

#[test]
fn without_topic0_the_options_name_the_events() {
    let fields = json!({ "abi": transfer_abi(),
        "advancedOptions": { "topic0": TRANSFER, "filter": { "gt": ["value", 10] } } });
    let compiled = compiled(&fields);
    assert!(accepts(&compiled, &transfer_of_tokens(11)));
    assert!(!accepts(&compiled, &transfer_of_tokens(9)));
}

#[test]
fn a_filter_on_a_field_of_one_layout_leaves_the_other_layout_out() {
    let fields = json!({ "topic0": [TRANSFER], "abi": [nft_transfer_abi(), transfer_abi()],
        "advancedOptions": [{ "topic0": TRANSFER, "filter": { "gt": ["value", 10] } }] });
    let compiled = compiled(&fields);
    assert!(accepts(&compiled, &transfer_of_tokens(11)));
    assert!(!accepts(&compiled, &transfer_of_nft(11)));
}

#[test]
fn spam_is_asked_of_the_log() {
    let fields = json!({ "topic0": [TRANSFER], "abi": [transfer_abi()], "advancedOptions": [
        { "topic0": TRANSFER, "filter": { "eq": ["moralis_streams_possibleSpam", "false"] } }] });
    let compiled = compiled(&fields);
    let log = transfer_of_tokens(1);
    assert!(!accepts(&compiled, &log));
    let clean = LogView { possible_spam: false, ..log.view() };
    assert!(compiled.events[0].accepts(clean));
}

#[test]
fn fields_are_decoded_in_the_order_of_the_abi() {
    // The indexed field stands last, and the text of an indexed string is its hash.
    let abi = json!({ "type": "event", "name": "E", "inputs": [
        { "name": "amount", "type": "int256" },
        { "name": "", "type": "bool" },
        { "name": "who", "type": "string", "indexed": true },
    ] });
    let event = "E(int256,bool,string)";
    let compiled = compiled(&json!({ "topic0": [event], "abi": abi }));
    let mut data = U256::MAX.to_be_bytes_vec();
    data.extend(U256::from(1).to_be_bytes_vec());
    let topics = vec![alloy_primitives::keccak256(event), B256::repeat_byte(7)];
    let log = MadeLog { topics, data };
    let decoded = compiled.events[0].decode(log.view()).unwrap();
    let texts: Vec<_> =
        decoded.iter().map(|(name, value)| (name.as_str(), value_text(value).unwrap())).collect();
    let hash = B256::repeat_byte(7).to_string();
    assert_eq!(texts, [("amount", "-1".to_owned()), ("", "true".to_owned()), ("who", hash)]);
}
