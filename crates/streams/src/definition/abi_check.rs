//! An ABI's items, checked; its events, resolved.

use alloy_dyn_abi::{DynSolType, parser::is_valid_identifier};
use serde_json::Value;

use super::{
    check::{FieldChecker, FieldPath},
    event_abi::EventAbi,
    sol_type::param_type,
    stream::{AbiItem, AbiParam},
};

const KINDS: [&str; 6] = ["function", "event", "error", "constructor", "fallback", "receive"];
const MUTABILITIES: [&str; 4] = ["pure", "view", "nonpayable", "payable"];

/// The events that have a topic0. Items that are wrong are noted and left out.
pub(super) fn check_abi(items: &[AbiItem], checker: &mut FieldChecker) -> Vec<EventAbi> {
    let mut events: Vec<EventAbi> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let at = FieldPath::default().key("abi").index(index);
        if !check_item(item, &at, checker) || item.kind != "event" || item.anonymous == Some(true) {
            continue;
        }
        // The same event twice would match every log twice.
        if let Ok(event) = EventAbi::new(item)
            && !events.contains(&event)
        {
            events.push(event);
        }
    }
    events
}

fn check_item(item: &AbiItem, at: &FieldPath, checker: &mut FieldChecker) -> bool {
    if !KINDS.contains(&item.kind.as_str()) {
        checker.one_of(&at.key("type"), &KINDS, &item.kind);
        return false;
    }
    let mut right = true;
    if matches!(item.kind.as_str(), "function" | "event" | "error") {
        match item.name.as_deref() {
            None => {
                checker.required(at, "name");
                right = false;
            }
            Some(name) if !is_valid_identifier(name) => {
                checker.fail_text(&at.key("name"), "is not a Solidity name", name);
                right = false;
            }
            Some(_) => {}
        }
    }
    if let Some(mutability) = item.state_mutability.as_deref()
        && !MUTABILITIES.contains(&mutability)
    {
        checker.one_of(&at.key("stateMutability"), &MUTABILITIES, mutability);
        right = false;
    }
    let inputs = item.inputs.as_deref().unwrap_or_default();
    right &= param_types(inputs, &at.key("inputs"), checker).is_some();
    let outputs = item.outputs.as_deref().unwrap_or_default();
    right &= param_types(outputs, &at.key("outputs"), checker).is_some();
    let indexed = inputs.iter().filter(|input| input.indexed == Some(true)).count();
    let indexed_max = if item.anonymous == Some(true) { 4 } else { 3 };
    if item.kind == "event" && indexed > indexed_max {
        let message = format!("must have at most {indexed_max} indexed inputs");
        checker.fail(&at.key("inputs"), message, Value::from(indexed));
        right = false;
    }
    right
}

/// None with the errors noted.
pub(super) fn param_types(
    params: &[AbiParam],
    at: &FieldPath,
    checker: &mut FieldChecker,
) -> Option<Vec<DynSolType>> {
    let mut types = Vec::with_capacity(params.len());
    for (index, param) in params.iter().enumerate() {
        match param_type(param) {
            Ok(ty) => types.push(ty),
            Err(fault) => {
                let at = at.index(index).key(&fault.path);
                checker.fail_text(&at, fault.message, &param.kind);
            }
        }
    }
    (types.len() == params.len()).then_some(types)
}
