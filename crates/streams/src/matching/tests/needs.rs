//! What items want of a node, and what becomes of the answers.

use std::collections::BTreeSet;

use alloy_primitives::{Address, B256, U256, hex};
use model::token::Token;
use serde_json::{Value, json};

use super::made_block::{A, B, COIN, NFT, SPAM, X, block};
use super::plans::{CHAIN, events, index_of, logs, native};
use crate::definition::{
    AbiItem, AbiParam, Definition, FieldKind, ItemKind, NativeBalances, Trigger,
};
use crate::matching::items::FieldValue;
use crate::matching::{BlockMatch, Items, MatchQuery, Parts, SpamList, match_block};

pub fn matched(definition: Definition, addresses: &[Address]) -> BlockMatch {
    let index = index_of(definition, addresses);
    let spam = SpamList::new([(CHAIN, SPAM)]);
    let (block, only) = (block(), |_| true);
    let mut found = match_block(MatchQuery {
        index: &index,
        chain: CHAIN,
        block: &block,
        spam: &spam,
        only: &only,
        parts: Parts::ALL,
    });
    found.pop().unwrap()
}

/// `balanceOf(address)` with one argument.
pub fn trigger(kind: &str, contract: &str, argument: &str, kind_of: &str) -> Trigger {
    let param = |name: &str, kind: &str| AbiParam {
        name: name.to_owned(),
        kind: kind.to_owned(),
        ..AbiParam::default()
    };
    Trigger {
        kind: kind.to_owned(),
        contract_address: contract.to_owned(),
        function_abi: AbiItem {
            name: Some("ask".to_owned()),
            inputs: Some(vec![param("about", kind_of)]),
            outputs: Some(vec![param("", "uint256")]),
            state_mutability: Some("view".to_owned()),
            kind: "function".to_owned(),
            ..AbiItem::default()
        },
        inputs: Some(vec![Value::String(argument.to_owned())]),
        ..Trigger::default()
    }
}

pub fn token(name: &str, decimals: Option<u8>) -> Token {
    Token {
        name: Some(name.to_owned()),
        symbol: Some(name.to_uppercase()),
        decimals,
        ..Token::default()
    }
}

#[test]
fn tokens_are_asked_once_each() {
    let found = matched(logs(), &[A, X, B]);
    let needs = found.items.needs(&found.plan);
    assert_eq!(needs.tokens, [COIN, SPAM, NFT]);
    assert!(needs.triggers.is_empty() && needs.balances.is_empty() && !needs.tokens_first);
}

#[test]
fn triggers_are_called_for_each_item_and_answers_stand_in_their_order() {
    let definition = Definition {
        triggers: vec![
            trigger("erc20transfer", "$contract", "$from", "address"),
            trigger("erc20transfer", "$contract", "$to", "address"),
        ],
        ..logs()
    };
    let mut found = matched(definition, &[A]);
    let needs = found.items.needs(&found.plan);
    let calls: Vec<_> = needs.triggers.iter().map(|need| need.call.as_ref().unwrap().to).collect();
    assert_eq!(calls, [COIN, SPAM, COIN, SPAM]);
    let arguments: Vec<Address> = needs
        .triggers
        .iter()
        .map(|need| Address::from_slice(&need.call.as_ref().unwrap().data[16..36]))
        .collect();
    assert_eq!(arguments, [A, A, B, X]);
    // Answers come in any order.
    for (n, need) in needs.triggers.iter().enumerate().rev() {
        let answer = match n {
            1 => Err("the node did not answer".to_owned()),
            n => Ok(U256::from(n).to_be_bytes::<32>()),
        };
        found.items.fill_trigger(&found.plan, need.place, answer);
    }
    let values = |items: &Items, n: usize| -> Vec<(String, Value)> {
        items.erc20_transfers[n].triggers.outputs().cloned().collect()
    };
    let named = |name: &str, value: &str| (name.to_owned(), json!(value));
    assert_eq!(values(&found.items, 0), [named("output1", "0"), named("output1", "2")]);
    assert_eq!(
        values(&found.items, 1),
        [named("error", "the node did not answer"), named("output1", "3")]
    );
}

#[test]
fn an_answer_that_cannot_be_read_is_an_error_in_the_item() {
    let definition = Definition {
        triggers: vec![trigger("tx", "$toAddress", "$fromAddress", "address")],
        ..native()
    };
    let mut found = matched(definition, &[B]);
    let needs = found.items.needs(&found.plan);
    assert_eq!(needs.triggers.len(), 3);
    // The second and third create a contract and have no receiver.
    assert!(needs.triggers[0].call.is_ok() && needs.triggers[1].call.is_err());
    for need in needs.triggers {
        let answer = need.call.map(|_| vec![1, 2, 3]);
        found.items.fill_trigger(&found.plan, need.place, answer);
    }
    for tx in &found.items.txs {
        let names: Vec<&str> = tx.triggers.outputs().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["error"]);
    }
}

#[test]
fn a_trigger_for_one_event_passes_over_others_and_reads_decoded_fields() {
    let definition = Definition {
        triggers: vec![Trigger {
            topic0: Some("Transfer(address,address,uint256)".to_owned()),
            ..trigger("log", "$address", "$value", "uint256")
        }],
        include_all_tx_logs: true,
        ..events("Transfer", 2)
    };
    let found = matched(definition, &[A]);
    assert_eq!(found.items.logs.len(), 4);
    let needs = found.items.needs(&found.plan);
    let arguments: Vec<U256> = needs
        .triggers
        .iter()
        .map(|need| U256::from_be_slice(&need.call.as_ref().unwrap().data[4..]))
        .collect();
    assert_eq!(arguments, [U256::from(5), U256::from(8)]);
}

#[test]
fn a_trigger_that_reads_a_token_waits_for_it() {
    let definition = Definition {
        triggers: vec![trigger("erc20transfer", "$contract", "$tokenDecimals", "uint256")],
        ..logs()
    };
    let mut found = matched(definition, &[A]);
    let needs = found.items.needs(&found.plan);
    assert!(needs.tokens_first);
    found.items.fill_tokens(needs.tokens.into_iter().map(|it| (it, token("Coin", Some(6)))));
    let needs = found.items.needs(&found.plan);
    assert!(!needs.tokens_first);
    let data = needs.triggers[0].call.as_ref().unwrap().data.clone();
    assert_eq!(U256::from_be_slice(&data[4..]), U256::from(6));
}

#[test]
fn balances_are_asked_once_each_in_the_order_of_the_rules() {
    let rule = |kind: &str, selectors: &[&str]| NativeBalances {
        kind: kind.to_owned(),
        selectors: selectors.iter().map(|it| (*it).to_owned()).collect(),
    };
    let definition = Definition {
        get_native_balances: vec![
            rule("erc20transfer", &["$to"]),
            rule("tx", &["$fromAddress", "$toAddress"]),
        ],
        include_contract_logs: true,
        ..native()
    };
    let mut found = matched(definition, &[A, B]);
    let needs = found.items.needs(&found.plan);
    let asked: Vec<Address> = needs.balances.iter().map(|need| need.address).collect();
    assert_eq!(asked, [B, X, A]);
    found.items.fill_balance(needs.balances[1].place, Ok(U256::from(12)));
    found.items.fill_balance(needs.balances[2].place, Err("no".to_owned()));
    let told: Vec<_> = found.items.balances.iter().map(|it| it.balance.clone()).collect();
    assert_eq!(told, [None, Some(Ok(U256::from(12))), Some(Err("no".to_owned()))]);
    let places: Vec<usize> = found.items.balances.iter().map(|it| it.tx_place).collect();
    assert_eq!(places, [3, 5, 0]);
}

#[test]
fn every_field_that_selectors_may_name_is_there() {
    let definition = Definition { include_internal_txs: true, include_native_txs: true, ..logs() };
    let found = matched(definition, &[A, B, X, COIN]);
    let mut items = found.items;
    items.fill_tokens([COIN, SPAM, NFT].map(|it| (it, token("Coin", Some(18)))));
    let tx = &mut items.txs[0];
    tx.signature = [Some(U256::ONE); 3];
    (tx.gas, tx.gas_price, tx.nonce) = (Some(1), Some(U256::ONE), Some(1));
    tx.input = Some(vec![1].into());
    tx.receipt.contract_address = Some(A);
    tx.receipt.root = Some(B256::ZERO);
    (tx.receipt.gas_used, tx.receipt.cumulative_gas_used) = (Some(1), Some(1));
    items.logs[0].topics = vec![B256::ZERO; 4];
    items.nft_transfers[0].operator = Some(A);
    let mut names = BTreeSet::new();
    for kind in ItemKind::ALL {
        for (name, holds) in kind.fields() {
            let text = items.field(&found.plan.compiled, kind, 0, name);
            let text = text.unwrap_or_else(|| panic!("{kind:?} has no {name}"));
            let hex_of = |bytes: usize| {
                text.starts_with("0x") && hex::decode(&text).is_ok_and(|it| it.len() == bytes)
            };
            let fits = match holds {
                FieldKind::Address => hex_of(20),
                FieldKind::Word => hex_of(32),
                FieldKind::Bytes => text.starts_with("0x"),
                FieldKind::Integer => text.parse::<U256>().is_ok() && !text.starts_with("0x"),
                FieldKind::Bool => ["true", "false"].contains(&text.as_str()),
                FieldKind::Text => true,
            };
            assert!(fits, "{kind:?} {name}: {text}");
            names.insert(*name);
        }
    }
    assert!(names.len() > 30);
    assert_eq!(items.field(&found.plan.compiled, ItemKind::Tx, 0, "nothing"), None);
    assert_eq!(items.field(&found.plan.compiled, ItemKind::Tx, 99, "hash"), None);
    assert_eq!(FieldValue::Addresses(&[A]).text(), None);
}
