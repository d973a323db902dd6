//! Finds the first internal call that carries coins, in either trace dialect.

use super::edit::bump;
use serde_json::{Value, json};

pub(super) fn bump_first_inner(answer: &mut Value) {
    for item in answer.as_array_mut().into_iter().flatten() {
        let done = match item.get_mut("result").and_then(|result| result.get_mut("calls")) {
            Some(calls) => bump_in_tree(calls),
            None => bump_row(item),
        };
        if done {
            return;
        }
    }
}

fn bump_in_tree(calls: &mut Value) -> bool {
    for call in calls.as_array_mut().into_iter().flatten() {
        if call.get("type") == Some(&json!("CALL")) && carries_value(call) {
            bump(call, "value");
            return true;
        }
        if call.get_mut("calls").is_some_and(bump_in_tree) {
            return true;
        }
    }
    false
}

fn bump_row(row: &mut Value) -> bool {
    let path = row.get("traceAddress").and_then(Value::as_array);
    let is_inner = path.is_some_and(|path| !path.is_empty());
    let Some(action) = row.get_mut("action").filter(|_| is_inner) else { return false };
    if action.get("callType") != Some(&json!("call")) || !carries_value(action) {
        return false;
    }
    bump(action, "value");
    true
}

fn carries_value(object: &Value) -> bool {
    object.get("value").and_then(Value::as_str).is_some_and(|value| value != "0x0")
}
