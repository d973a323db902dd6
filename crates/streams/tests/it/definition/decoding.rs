//! Logs and answers that are not what the ABI says never stop anything.

use alloy_primitives::{Address, B256};
use model::chain::ChainId;
use proptest::prelude::*;
use serde_json::json;
use streams::definition::{Compiled, LogView};

use super::{create, triggers::trigger};

fn compiled() -> Compiled {
    let inputs = json!([
        { "name": "a", "type": "uint256[][]" },
        { "name": "b", "type": "string" },
        { "name": "c", "type": "tuple[2]", "components": [{ "name": "", "type": "bytes[]" }] },
        { "name": "d", "type": "bytes", "indexed": true },
    ]);
    let event = "E(uint256[][],string,(bytes[])[2],bytes)";
    let mut function = super::triggers::function(&["address"]);
    function["outputs"] = json!([{ "name": "", "type": "string[][]" }, { "type": "uint8" }]);
    let fields = json!({
        "abi": { "type": "event", "name": "E", "inputs": inputs }, "topic0": [event],
        "advancedOptions": { "topic0": event, "filter": { "or": [
            { "ne": ["b", "x"] }, { "eq": ["d", format!("0x{}", "00".repeat(32))] }] } },
        "triggers": trigger(&json!({ "functionAbi": function })),
    });
    Compiled::new(&create(&fields).unwrap()).unwrap()
}

/// Words that are small enough to be offsets and lengths, among others.
fn words() -> impl Strategy<Value = Vec<u8>> {
    let small = (0..40_u8).prop_map(|n| {
        let mut word = [0; 32];
        word[31] = n.wrapping_mul(32);
        word[30] = n / 8;
        word
    });
    let word = prop_oneof![4 => small, 1 => any::<[u8; 32]>()];
    (prop::collection::vec(word, 0..60), 0..32_usize).prop_map(|(words, cut)| {
        let mut data = words.concat();
        data.truncate(data.len().saturating_sub(cut));
        data
    })
}

proptest! {
    #[test]
    fn any_log_is_accepted_or_not_and_decoded_or_not(
        data in words(),
        others in prop::collection::vec(any::<[u8; 32]>(), 0..4),
    ) {
        let compiled = compiled();
        let rule = &compiled.events[0];
        let topics: Vec<B256> =
            std::iter::once(rule.topic0).chain(others.into_iter().map(B256::from)).collect();
        let (topics, data) = (topics.as_slice(), data.as_slice());
        let log = LogView { chain: ChainId(1), address: Address::ZERO, topics, data, possible_spam: false };
        let decodes = rule.decode(log).is_some();
        prop_assert!(decodes || !rule.accepts(log), "what is accepted can be decoded");
        prop_assert!(!decodes || topics.len() == 2);
        if let Ok(results) = compiled.triggers[0].results(data) {
            prop_assert_eq!(results.len(), 2);
        }
    }
}
