//! `eth_getLogs` over a range that a node finds too wide, asked in parts.

use bytes::Bytes;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Into more parts than these no range is cut: the node's own words are told then.
pub const PARTS_MAX: usize = 64;

/// The same filter for both halves of its range.
pub fn halves(params: &str, from: u64, to: u64) -> Option<[(String, u64, u64); 2]> {
    if from >= to {
        return None;
    }
    let middle = from + (to - from) / 2;
    let half = |from, to| Some((with_range(params, from, to)?, from, to));
    Some([half(from, middle)?, half(middle + 1, to)?])
}

fn with_range(params: &str, from: u64, to: u64) -> Option<String> {
    let list: Vec<&RawValue> = serde_json::from_str(params).ok()?;
    let (filter, rest) = list.split_first()?;
    let mut fields: BTreeMap<&str, &RawValue> = serde_json::from_str(filter.get()).ok()?;
    let (from, to) = (format!("\"{from:#x}\""), format!("\"{to:#x}\""));
    let (from, to): (&RawValue, &RawValue) =
        (serde_json::from_str(&from).ok()?, serde_json::from_str(&to).ok()?);
    fields.insert("fromBlock", from);
    fields.insert("toBlock", to);
    let mut texts = vec![serde_json::to_string(&fields).ok()?];
    texts.extend(rest.iter().map(|raw| raw.get().to_owned()));
    Some(format!("[{}]", texts.join(",")))
}

/// Lists, one after the other, as one.
pub fn joined(lists: &[Bytes]) -> Option<Bytes> {
    let mut out = Vec::with_capacity(lists.iter().map(Bytes::len).sum());
    out.push(b'[');
    for list in lists {
        let inner = list.trim_ascii().strip_prefix(b"[")?.strip_suffix(b"]")?.trim_ascii();
        if inner.is_empty() {
            continue;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(inner);
    }
    out.push(b']');
    Some(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_in_halves_that_meet() {
        let params = r#"[{"address":"0x1","toBlock":"0x5","fromBlock":"0x2"}]"#;
        let [left, right] = halves(params, 2, 5).unwrap();
        assert_eq!(left.0, r#"[{"address":"0x1","fromBlock":"0x2","toBlock":"0x3"}]"#);
        assert_eq!((right.1, right.2), (4, 5));
        assert!(halves(params, 5, 5).is_none());
        assert!(halves("[7]", 1, 5).is_none());
        assert!(halves(params, 0, u64::MAX).is_some());
    }

    #[test]
    fn lists_are_joined_in_order() {
        let lists = ["[]", "[1, 2]", " [] ", "[3]"].map(|text: &'static str| Bytes::from(text));
        assert_eq!(joined(&lists).unwrap(), "[1, 2,3]");
        assert_eq!(joined(&[]).unwrap(), "[]");
        assert!(joined(&[Bytes::from("{}")]).is_none());
    }
}
