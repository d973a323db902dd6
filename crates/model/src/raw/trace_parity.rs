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
    #[serde(borrow, default)]
    block_hash: Option<std::borrow::Cow<'a, str>>,
    /// How many rows stand right below this one.
    #[serde(borrow, default)]
    subtraces: Option<&'a RawValue>,
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
/// not in the block are passed over; a row that names another block makes the list one of that block.
pub fn read_parity_traces(text: &str, txs: &[Tx]) -> Result<Vec<Vec<Frame>>, TraceFault> {
    let rows: Vec<Row> =
        serde_json::from_str(text).map_err(|e| Malformed::new("trace_block", &e.to_string()))?;
    let block = txs.first().and_then(|tx| tx.block_hash);
    let mut per_tx: Vec<TxRows> = Vec::new();
    per_tx.resize_with(txs.len(), TxRows::default);
    for row in rows {
        // Block and uncle rewards belong to no transaction.
        if row.kind == "reward" {
            continue;
        }
        let named: Option<B256> = row.block_hash.as_deref().and_then(|text| text.parse().ok());
        if let Some((named, block)) = named.zip(block)
            && named != block
        {
            let why = format!("the rows are of block {named}, not of {block}");
            return Err(TraceFault::missing(0, &why));
        }
        if let Some(rows) = row.place(txs)?.and_then(|place| per_tx.get_mut(place)) {
            rows.below = rows.below.zip(row.rows_below()).map(|(sum, n)| sum.saturating_add(n));
            rows.frames.push(frame(row)?);
        }
    }
    per_tx.into_iter().enumerate().map(|(index, rows)| rows.in_order(index)).collect()
}

/// The rows of one transaction.
struct TxRows {
    frames: Vec<Frame>,
    /// How many rows all of them say stand below them; unknown where one says nothing.
    below: Option<usize>,
}

impl Default for TxRows {
    fn default() -> Self {
        TxRows { frames: Vec::new(), below: Some(0) }
    }
}

impl TxRows {
    fn in_order(self, index: usize) -> Result<Vec<Frame>, TraceFault> {
        let TxRows { mut frames, below } = self;
        // A trace address sorts like the order in which calls were entered.
        frames.sort_by(|a, b| a.path.cmp(&b.path));
        if frames.first().is_none_or(|root| !root.path.is_empty()) {
            return Err(TraceFault::missing(index, "no row of the transaction itself"));
        }
        // By their own word some are missing. More than they say are no hole: not all count alike.
        if let Some(told) = below.filter(|below| frames.len() <= *below) {
            let why = format!("{} rows below its own, of {told}", frames.len() - 1);
            return Err(TraceFault::missing(index, &why));
        }
        mark_undone(&mut frames);
        Ok(frames)
    }
}

impl Row<'_> {
    fn rows_below(&self) -> Option<usize> {
        self.subtraces.and_then(|number| number.get().parse().ok())
    }

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
