//! `trace_block` rows (Parity dialect: erigon, nethermind, reth, anvil) → frames per transaction.

use alloy_primitives::B256;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Tx;
use super::frame::{Frame, FrameKind, mark_undone};
use super::json_value::JsonValue;
use super::record::Malformed;
use super::trace_fault::{TraceFault, place_of};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(borrow)]
    action: Action<'a>,
    #[serde(borrow, default)]
    result: Option<Outcome<'a>>,
    #[serde(borrow, default)]
    error: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    trace_address: Vec<u32>,
    #[serde(default)]
    transaction_position: Option<u64>,
    #[serde(borrow, default)]
    transaction_hash: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: std::borrow::Cow<'a, str>,
    /// Not in the dialect; some exports mark rolled-back frames themselves.
    #[serde(default, rename = "_stateReverted")]
    state_reverted: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Action<'a> {
    #[serde(borrow, default)]
    call_type: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    creation_method: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    from: Option<&'a RawValue>,
    #[serde(borrow, default)]
    to: Option<&'a RawValue>,
    #[serde(borrow, default)]
    value: Option<&'a RawValue>,
    #[serde(borrow, default)]
    gas: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    init: Option<&'a RawValue>,
    // Self-destruct: who ends, who inherits, how much.
    #[serde(borrow, default)]
    address: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refund_address: Option<&'a RawValue>,
    #[serde(borrow, default)]
    balance: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    #[serde(borrow, default)]
    gas_used: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    code: Option<&'a RawValue>,
    #[serde(borrow, default)]
    address: Option<&'a RawValue>,
}

/// A missing or null value is the kind's zero; a value that cannot be read is an error.
pub(super) fn value_or_zero<T: JsonValue + Default>(
    raw: Option<&RawValue>,
) -> Result<T, Malformed> {
    Ok(optional(raw)?.unwrap_or_default())
}

pub(super) fn optional<T: JsonValue>(raw: Option<&RawValue>) -> Result<Option<T>, Malformed> {
    let Some(text) = raw.map(RawValue::get).filter(|t| *t != "null") else { return Ok(None) };
    match T::read_json(text.as_bytes()) {
        Some((value, _)) => Ok(Some(value)),
        None => Err(Malformed::new("trace", text)),
    }
}

/// Each row finds its transaction by hash, or by position where it has none. Rows of transactions that are
/// not in the block are passed over.
pub fn read_parity_traces(text: &str, txs: &[Tx]) -> Result<Vec<Vec<Frame>>, TraceFault> {
    let rows: Vec<Row> =
        serde_json::from_str(text).map_err(|e| Malformed::new("trace_block", &e.to_string()))?;
    let mut per_tx = vec![Vec::new(); txs.len()];
    for row in rows {
        // Block and uncle rewards belong to no transaction.
        if row.kind == "reward" {
            continue;
        }
        if let Some(frames) = row.place(txs)?.and_then(|place| per_tx.get_mut(place)) {
            frames.push(frame(row)?);
        }
    }
    for (index, frames) in per_tx.iter_mut().enumerate() {
        // A trace address sorts like the order in which calls were entered.
        frames.sort_by(|a: &Frame, b| a.path.cmp(&b.path));
        if frames.first().is_none_or(|root| !root.path.is_empty()) {
            return Err(TraceFault::missing(index, "no row of the transaction itself"));
        }
        mark_undone(frames);
    }
    Ok(per_tx)
}

impl Row<'_> {
    /// None where it belongs to a transaction that is not in the block.
    fn place(&self, txs: &[Tx]) -> Result<Option<usize>, Malformed> {
        let position = self.transaction_position.and_then(|p| usize::try_from(p).ok());
        let hash: Option<B256> =
            self.transaction_hash.as_deref().and_then(|text| text.parse().ok());
        match (hash, position) {
            (Some(hash), likely) => Ok(place_of(txs, hash, likely.unwrap_or_default())),
            (None, Some(position)) => Ok(Some(position)),
            (None, None) => Err(Malformed::new("trace_block", "a row of no transaction")),
        }
    }
}

fn frame(row: Row) -> Result<Frame, Malformed> {
    let action = &row.action;
    let mut frame = Frame {
        path: row.trace_address,
        gas: value_or_zero(action.gas)?,
        value: value_or_zero(action.value)?,
        error: row.error.map(|e| e.as_ref().into()),
        undone: row.state_reverted,
        ..Frame::default()
    };
    let outcome = row.result.as_ref();
    frame.gas_used = value_or_zero(outcome.and_then(|o| o.gas_used))?;
    let unknown = || Malformed::new("trace type", &row.kind);
    match row.kind.as_ref() {
        "create" => {
            let method = action.creation_method.as_deref().unwrap_or("create");
            frame.kind = FrameKind::from_name(method).ok_or_else(unknown)?;
            frame.from = value_or_zero(action.from)?;
            frame.input = value_or_zero(action.init)?;
            frame.to = optional(outcome.and_then(|o| o.address))?;
            frame.output = value_or_zero(outcome.and_then(|o| o.code))?;
        }
        "suicide" | "selfdestruct" => {
            frame.kind = FrameKind::SelfDestruct;
            frame.from = value_or_zero(action.address)?;
            frame.to = optional(action.refund_address)?;
            frame.value = value_or_zero(action.balance)?;
        }
        _ => {
            let name = action.call_type.as_deref().unwrap_or("call");
            frame.kind = FrameKind::from_name(name).ok_or_else(unknown)?;
            frame.from = value_or_zero(action.from)?;
            frame.to = optional(action.to)?;
            frame.input = value_or_zero(action.input)?;
            frame.output = value_or_zero(outcome.and_then(|o| o.output))?;
        }
    }
    Ok(frame)
}
