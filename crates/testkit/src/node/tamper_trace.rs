//! Alters or leaves out traces, in either dialect.

use super::edit::{bump, flip};
use bytes::Bytes;
use serde_json::{Value, json};

/// The first internal call that carries coins has one wei more.
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

pub(super) fn change_first_root(answer: &mut Value) {
    let Some(first) = answer.as_array_mut().and_then(|list| list.first_mut()) else { return };
    if let Some(root) = first.get_mut("result").filter(|root| root.get("from").is_some()) {
        return flip(root, "from");
    }
    if let Some(action) = first.get_mut("action") {
        flip(action, "from");
    }
}

/// Rows of the last transaction, or its tree.
pub(super) fn drop_last(answer: &mut Value) {
    let Some(list) = answer.as_array_mut() else { return };
    let position = |row: &Value| row.get("transactionPosition").and_then(Value::as_u64);
    match list.iter().filter_map(position).max() {
        Some(last) => list.retain(|row| position(row) != Some(last)),
        None => drop(list.pop()),
    }
}

pub(super) fn fail_first(answer: &mut Value) {
    let first = answer.as_array_mut().and_then(|list| list.first_mut());
    match first.and_then(Value::as_object_mut).filter(|entry| entry.contains_key("txHash")) {
        Some(entry) => {
            entry.remove("result");
            entry.insert("error".into(), json!("execution timeout"));
        }
        None => drop_last(answer),
    }
}

/// Rows say how many stand below them, trees do not: there the call is gone without a word.
pub(super) fn drop_last_call(answer: &mut Value) {
    let Some(list) = answer.as_array_mut() else { return };
    let is_inner = |row: &Value| {
        row.get("traceAddress").and_then(Value::as_array).is_some_and(|path| !path.is_empty())
    };
    if let Some(last) = list.iter().rposition(is_inner) {
        list.remove(last);
        return;
    }
    let mut trees = list.iter_mut().rev().filter_map(|entry| entry.get_mut("result"));
    if let Some(calls) = trees.find_map(|tree| tree.get_mut("calls")?.as_array_mut()) {
        calls.pop();
    }
}

pub(super) fn rename(answer: &mut Value) {
    for item in answer.as_array_mut().into_iter().flatten() {
        let is_row = item.get("blockHash").is_some();
        flip(item, if is_row { "blockHash" } else { "txHash" });
    }
}

pub(super) fn leave_out_names(answer: &mut Value) {
    for item in answer.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        item.remove("txHash");
    }
}

pub(super) fn enlarged(text: &Bytes) -> Bytes {
    let Some(rest) = text.strip_suffix(b"]") else { return text.clone() };
    [rest, &vec![b' '; 2_000_000], b"]"].concat().into()
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
