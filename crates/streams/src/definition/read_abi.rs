//! ABI items from JSON: what the fields are. What they say is checked by `abi_check`.

use super::{
    check::{FieldChecker, FieldPath},
    integer::WideInteger,
    json::JsonNode,
    limits::{ABI_ITEMS_MAX, ABI_PARAMS_MAX, ABI_TEXT_CHARS_MAX, JS_INTEGER_MAX},
    stream::{AbiItem, AbiParam},
};

/// A list of items, or one item in its place.
pub(super) fn read_abi(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<Vec<AbiItem>> {
    let list = checker.list_or_one(at, node, ABI_ITEMS_MAX)?;
    let items = list.iter().enumerate().map(|(index, node)| {
        let mut item = read_item(&at.index(index), node, checker)?;
        // The public interface requires no type here, and ABIs of old did without.
        if item.kind.is_empty() {
            let is_event = item.anonymous.is_some()
                || item.inputs.iter().flatten().any(|input| input.indexed.is_some());
            item.kind = if is_event { "event" } else { "function" }.to_owned();
        }
        Some(item)
    });
    // All are read, so that all errors are told.
    items.collect::<Vec<_>>().into_iter().collect()
}

/// A trigger's `functionAbi`, whose type is required.
pub(super) fn read_function_abi(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<AbiItem> {
    let item = read_item(at, node, checker)?;
    if item.kind.is_empty() {
        checker.required(at, "type");
        return None;
    }
    Some(item)
}

/// Without a type the kind is empty.
fn read_item(at: &FieldPath, node: &JsonNode, checker: &mut FieldChecker) -> Option<AbiItem> {
    let mut item = AbiItem::default();
    for (key, node) in checker.object(at, node)? {
        let at = at.key(key);
        match key.as_str() {
            "anonymous" => item.anonymous = checker.boolean(&at, node),
            "constant" => item.constant = checker.boolean(&at, node),
            "payable" => item.payable = checker.boolean(&at, node),
            "inputs" => item.inputs = read_params(&at, node, checker),
            "outputs" => item.outputs = read_params(&at, node, checker),
            "name" => item.name = checker.text(&at, node, ABI_TEXT_CHARS_MAX),
            "stateMutability" => {
                item.state_mutability = checker.text(&at, node, ABI_TEXT_CHARS_MAX);
            }
            "type" => item.kind = read_kind(&at, node, checker)?,
            "gas" => item.gas = read_integer(&at, node, checker),
            _ => checker.excess(&at, key),
        }
    }
    Some(item)
}

fn read_params(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<Vec<AbiParam>> {
    let list = checker.list_or_one(at, node, ABI_PARAMS_MAX)?;
    let params = list.iter().enumerate();
    let params = params.map(|(index, node)| read_param(&at.index(index), node, checker));
    params.collect::<Vec<_>>().into_iter().collect()
}

fn read_param(at: &FieldPath, node: &JsonNode, checker: &mut FieldChecker) -> Option<AbiParam> {
    let mut param = AbiParam::default();
    for (key, node) in checker.object(at, node)? {
        let at = at.key(key);
        match key.as_str() {
            "name" => param.name = checker.text(&at, node, ABI_TEXT_CHARS_MAX)?,
            "type" => param.kind = read_kind(&at, node, checker)?,
            "indexed" => param.indexed = checker.boolean(&at, node),
            "components" => param.components = read_params(&at, node, checker),
            "internalType" => param.internal_type = checker.text(&at, node, ABI_TEXT_CHARS_MAX),
            _ => checker.excess(&at, key),
        }
    }
    if param.kind.is_empty() {
        checker.required(at, "type");
        return None;
    }
    Some(param)
}

/// An empty type is none of the known ones.
fn read_kind(at: &FieldPath, node: &JsonNode, checker: &mut FieldChecker) -> Option<String> {
    let kind = checker.text(at, node, ABI_TEXT_CHARS_MAX)?;
    if kind.is_empty() {
        checker.fail_text(at, "must not be empty", &kind);
        return None;
    }
    Some(kind)
}

/// One that JavaScript can hold, as payloads carry it.
pub(super) fn read_integer(
    at: &FieldPath,
    node: &JsonNode,
    checker: &mut FieldChecker,
) -> Option<u64> {
    let JsonNode::Number(text) = node else {
        checker.fail(at, "invalid float number", node.value());
        return None;
    };
    let number = WideInteger::from_json_number(text)
        .and_then(|number| number.as_uint(64))
        .and_then(|number| u64::try_from(number).ok())
        .filter(|number| *number <= JS_INTEGER_MAX);
    if number.is_none() {
        let message = format!("must be an integer from 0 to {JS_INTEGER_MAX}");
        checker.fail(at, message, node.value());
    }
    number
}
