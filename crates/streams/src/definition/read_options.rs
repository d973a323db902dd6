//! `advancedOptions`, `triggers` and `getNativeBalances` from JSON: what the fields are. Whether they make sense is
//! checked when the definition is compiled.

use serde_json::Value;

use super::{
    check::{FieldChecker, FieldPath},
    filter::FilterTree,
    integer::WideInteger,
    json::JsonNode,
    limits::{
        ABI_TEXT_CHARS_MAX, ADVANCED_OPTIONS_MAX, NATIVE_BALANCES_MAX, SELECTORS_MAX,
        SIGNATURE_CHARS_MAX, TRIGGER_INPUT_CHARS_MAX, TRIGGER_INPUTS_MAX, TRIGGERS_MAX,
    },
    read_abi::read_function_abi,
    signature::read_topic0,
    stream::{AdvancedOption, NativeBalances, Trigger},
};

/// A signature or a hash, in canonical form.
pub(super) fn read_event_name(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<String> {
    let text = checker.text(at, node, SIGNATURE_CHARS_MAX)?;
    match read_topic0(&text) {
        Ok(topic0) => Some(topic0.text),
        Err(message) => {
            checker.fail_text(at, message, &text);
            None
        }
    }
}

/// All entries are read, so that all errors are told.
fn read_all<T>(
    at: &FieldPath,
    list: &[JsonNode],
    checker: &mut FieldChecker,
    read: impl Fn(&FieldPath, &JsonNode, &mut FieldChecker) -> Option<T>,
) -> Option<Vec<T>> {
    let entries = list.iter().enumerate();
    let entries = entries.map(|(index, node)| read(&at.index(index), node, checker));
    entries.collect::<Vec<_>>().into_iter().collect()
}

pub(super) fn read_advanced_options(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<Vec<AdvancedOption>> {
    let list = checker.list_or_one(at, node, ADVANCED_OPTIONS_MAX)?;
    read_all(at, list, checker, read_advanced_option)
}

fn read_advanced_option(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<AdvancedOption> {
    let mut option = AdvancedOption::default();
    let mut topic0 = None;
    let entries = checker.object(at, node)?;
    for (key, node) in entries {
        let at = at.key(key);
        match key.as_str() {
            "topic0" => topic0 = Some(read_event_name(&at, node, checker)),
            "filter" => option.filter = read_filter(&at, node, checker),
            "includeNativeTxs" => option.include_native_txs = checker.boolean(&at, node),
            _ => checker.excess(&at, key),
        }
    }
    if topic0.is_none() {
        checker.required(at, "topic0");
    }
    option.topic0 = topic0??;
    Some(option)
}

/// An empty filter is none. Kept as JSON that reads the same in JavaScript: big numbers become text.
fn read_filter(at: &FieldPath, node: &JsonNode, checker: &mut FieldChecker) -> Option<Value> {
    if checker.object(at, node)?.is_empty() {
        return None;
    }
    FilterTree::read(at, node, checker).map(|tree| tree.json())
}

pub(super) fn read_triggers(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<Vec<Trigger>> {
    let list = checker.list_or_one(at, node, TRIGGERS_MAX)?;
    read_all(at, list, checker, read_trigger)
}

fn read_trigger(at: &FieldPath, node: &JsonNode, checker: &mut FieldChecker) -> Option<Trigger> {
    let (mut kind, mut contract_address, mut function_abi) = (None, None, None);
    let mut trigger = Trigger::default();
    for (key, node) in checker.object(at, node)? {
        let at = at.key(key);
        match key.as_str() {
            "type" => kind = Some(checker.text(&at, node, ABI_TEXT_CHARS_MAX)),
            "contractAddress" => {
                contract_address = Some(checker.text(&at, node, ABI_TEXT_CHARS_MAX));
            }
            "functionAbi" => function_abi = Some(read_function_abi(&at, node, checker)),
            "inputs" => trigger.inputs = read_trigger_inputs(&at, node, checker),
            "topic0" => trigger.topic0 = read_event_name(&at, node, checker),
            "callFrom" => trigger.call_from = checker.text(&at, node, ABI_TEXT_CHARS_MAX),
            _ => checker.excess(&at, key),
        }
    }
    for (name, is_given) in [
        ("type", kind.is_some()),
        ("contractAddress", contract_address.is_some()),
        ("functionAbi", function_abi.is_some()),
    ] {
        if !is_given {
            checker.required(at, name);
        }
    }
    trigger.kind = kind??;
    trigger.contract_address = contract_address??;
    trigger.function_abi = function_abi??;
    Some(trigger)
}

/// Texts, or lists of them. Numbers and booleans are taken as their texts.
fn read_trigger_inputs(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<Vec<Value>> {
    let list = checker.list(at, node, TRIGGER_INPUTS_MAX)?;
    read_all(at, list, checker, read_trigger_input)
}

fn read_trigger_input(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<Value> {
    match node {
        JsonNode::List(_) => read_trigger_inputs(at, node, checker).map(Value::Array),
        JsonNode::Bool(value) => Some(Value::String(value.to_string())),
        JsonNode::Number(text) => {
            let number = WideInteger::from_json_number(text);
            if number.is_none() {
                let message = "must be an integer of at most 256 bits";
                checker.fail(at, message, node.value());
            }
            number.map(|number| Value::String(number.to_string()))
        }
        _ => checker.text(at, node, TRIGGER_INPUT_CHARS_MAX).map(Value::String),
    }
}

pub(super) fn read_native_balances(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<Vec<NativeBalances>> {
    let list = checker.list_or_one(at, node, NATIVE_BALANCES_MAX)?;
    read_all(at, list, checker, read_native_balance)
}

fn read_native_balance(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<NativeBalances> {
    let (mut kind, mut selectors) = (None, None);
    for (key, node) in checker.object(at, node)? {
        let at = at.key(key);
        match key.as_str() {
            "type" => kind = Some(checker.text(&at, node, ABI_TEXT_CHARS_MAX)),
            "selectors" => selectors = Some(read_selectors(&at, node, checker)),
            _ => checker.excess(&at, key),
        }
    }
    for (name, is_given) in [("type", kind.is_some()), ("selectors", selectors.is_some())] {
        if !is_given {
            checker.required(at, name);
        }
    }
    Some(NativeBalances { kind: kind??, selectors: selectors?? })
}

fn read_selectors(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<Vec<String>> {
    let list = checker.list(at, node, SELECTORS_MAX)?;
    if list.is_empty() {
        checker.fail(at, "must have at least 1 selector", node.value());
        return None;
    }
    read_all(at, list, checker, |at, node, checker| checker.text(at, node, ABI_TEXT_CHARS_MAX))
}
