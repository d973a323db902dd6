//! The head of one batch: `latest` means the same block in all of its calls.

use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::methods::{BlockParam, Method};

/// The parameters with `latest`, said or meant, as the block of that number. None where nothing is to be changed.
pub fn pinned(method: &Method, params: &str, head: u64) -> Option<String> {
    let list: Vec<&RawValue> = serde_json::from_str(params).ok()?;
    let number = format!("\"{head:#x}\"");
    let (place, replaced) = match method.block {
        BlockParam::Number(place) => {
            (place, list.get(place).filter(|raw| is_latest(raw)).map(|_| number)?)
        }
        BlockParam::NumberOrHash(place) => match list.get(place) {
            Some(raw) if is_latest(raw) || raw.get() == "null" => (place, number),
            // Left out, and nothing else with it.
            None if list.len() == place => (place, number),
            _ => return None,
        },
        BlockParam::Filter(place) => (place, filter(list.get(place)?.get(), &number)?),
        BlockParam::None | BlockParam::Hash(_) | BlockParam::TxHash(_) => return None,
    };
    let mut texts: Vec<&str> = list.iter().map(|raw| raw.get()).collect();
    match texts.get_mut(place) {
        Some(text) => *text = &replaced,
        None => texts.push(&replaced),
    }
    Some(format!("[{}]", texts.join(",")))
}

fn is_latest(raw: &RawValue) -> bool {
    raw.get() == "\"latest\""
}

/// Both ends of a filter; left out they mean `latest`.
fn filter(text: &str, number: &str) -> Option<String> {
    let mut fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    if fields.contains_key("blockHash") {
        return None;
    }
    let mut out = String::from("{");
    let mut is_changed = false;
    for end in ["fromBlock", "toBlock"] {
        let given = fields.remove(end).filter(|raw| raw.get() != "null" && !is_latest(raw));
        is_changed |= given.is_none();
        let _ = write!(out, "\"{end}\":{},", given.map_or(number, RawValue::get));
    }
    for (name, value) in fields {
        let _ = write!(out, "{}:{},", serde_json::Value::from(name), value.get());
    }
    out.pop();
    out.push('}');
    is_changed.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::find;

    #[test]
    fn latest_becomes_a_number_wherever_it_is_said_or_meant() {
        for (method, params, expected) in [
            ("eth_getBlockByNumber", r#"["latest", true]"#, Some(r#"["0x10",true]"#)),
            ("eth_getBlockByNumber", r#"["0x5",true]"#, None),
            ("eth_getBlockByNumber", r#"["pending",true]"#, None),
            ("eth_getBlockByNumber", "[]", None),
            ("eth_call", r#"[{"to":"0x1"}]"#, Some(r#"[{"to":"0x1"},"0x10"]"#)),
            ("eth_call", r#"[{},"latest",{}]"#, Some(r#"[{},"0x10",{}]"#)),
            ("eth_call", "[]", None),
            ("eth_getStorageAt", r#"["0x1","0x0"]"#, Some(r#"["0x1","0x0","0x10"]"#)),
            ("eth_getBlockByHash", r#"["latest",true]"#, None),
            ("eth_getLogs", "[{}]", Some(r#"[{"fromBlock":"0x10","toBlock":"0x10"}]"#)),
            (
                "eth_getLogs",
                r#"[{"address":"0x1","fromBlock":"0x2","toBlock":"latest"}]"#,
                Some(r#"[{"fromBlock":"0x2","toBlock":"0x10","address":"0x1"}]"#),
            ),
            ("eth_getLogs", r#"[{"fromBlock":"0x2","toBlock":"0x3"}]"#, None),
            ("eth_getLogs", r#"[{"blockHash":"0x2"}]"#, None),
            ("eth_gasPrice", "[]", None),
            ("eth_call", "{}", None),
        ] {
            let found = pinned(find(method).unwrap(), params, 16);
            assert_eq!(found.as_deref(), expected, "{method} {params}");
        }
    }
}
