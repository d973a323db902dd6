//! Lies: an honest answer in, an altered one out.
//!
//! The victim is always the same (first transaction, first log, last transaction …), so asking twice
//! gives the same lie. Where a block has nothing to alter, the answer stays honest.

use super::{
    edit::{bump, flip, grow},
    tamper_trace,
};
use crate::chain::SimBlock;
use crate::lies::{BlockLie, TraceLie};
use alloy_primitives::{B256, hex, keccak256};
use bytes::Bytes;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tamper {
    /// The first transaction's value is one wei higher.
    ChangedValue,
    /// The first transaction's sender is somebody else. No root covers this: only the signature tells.
    ChangedFrom,
    ChangedTimestamp,
    /// The last transaction is missing, and its receipt with it.
    DroppedTransaction,
    /// The neighbour block's transactions under this block's header.
    OtherBlocksBody,
    /// `parentHash` altered, the block's own hash left as it was.
    WrongParent,
    /// `parentHash` altered and the hash made to fit: the header alone looks fine.
    WrongParentRehashed,
    DroppedLog,
    ChangedLogData,
    /// The first two receipts have changed places, though each bears the right transaction's name.
    SwappedReceipts,
    /// The first value-carrying internal call has one wei more. Nothing in a block covers traces.
    ChangedTraceValue,
    /// The first transaction's own call is from somebody else.
    ChangedTraceRoot,
    /// The last transaction is not traced, as bor does with its state-sync transaction.
    DroppedTrace,
    /// An empty list, as of a node that has just mined the block.
    EmptyTraces,
    /// The first transaction has an error in place of its trace (geth's dialect; else as `DroppedTrace`).
    FailedTrace,
    /// Two million blanks before the end of the list.
    LargeTraces,
    /// One field of one object is not what the rest of the block says.
    Field(BlockLie),
    /// One frame cannot be what happened.
    Trace(TraceLie),
    /// The last frame of the block that is no transaction itself is missing.
    DroppedCall,
    /// The traces name another block (Parity's dialect) or other transactions (geth's).
    OtherBlocksTraces,
    /// No trace says of which transaction it is (geth's dialect), as of older nodes.
    UnnamedTraces,
    /// Proofs of accounts show one wei more than they prove.
    ChangedProof,
    /// The block says twice who mined it, the first time somebody else.
    RepeatedKey,
    /// Every transaction is from somebody else, and the receipts say so, too.
    EverySender,
}

const BLOCKS: [&str; 2] = ["eth_getBlockByNumber", "eth_getBlockByHash"];
const TRANSACTIONS: [&str; 3] = [
    "eth_getTransactionByHash",
    "eth_getTransactionByBlockNumberAndIndex",
    "eth_getTransactionByBlockHashAndIndex",
];
const RECEIPTS: [&str; 2] = ["eth_getBlockReceipts", "eth_getTransactionReceipt"];
const TRACES: [&str; 3] = ["debug_traceBlockByNumber", "debug_traceBlockByHash", "trace_block"];
const HEADS: [&str; 1] = ["eth_subscription"];

impl Tamper {
    /// Whether answers of that method are altered by it.
    pub fn concerns(self, method: &str) -> bool {
        let groups: &[&[&str]] = match self {
            Self::ChangedValue | Self::ChangedFrom => &[&BLOCKS, &TRANSACTIONS],
            Self::ChangedTimestamp | Self::WrongParent => &[&BLOCKS, &HEADS],
            Self::DroppedTransaction => &[&BLOCKS, &["eth_getBlockReceipts"]],
            Self::OtherBlocksBody => &[&BLOCKS],
            Self::WrongParentRehashed => &[&BLOCKS, &TRANSACTIONS, &RECEIPTS, &TRACES, &HEADS],
            Self::DroppedLog | Self::ChangedLogData | Self::SwappedReceipts => &[&RECEIPTS],
            Self::ChangedTraceValue
            | Self::ChangedTraceRoot
            | Self::DroppedTrace
            | Self::EmptyTraces
            | Self::FailedTrace
            | Self::LargeTraces
            | Self::Trace(_)
            | Self::DroppedCall
            | Self::OtherBlocksTraces
            | Self::UnnamedTraces => &[&TRACES],
            Self::Field(lie) if lie.is_about_receipts() => &[&RECEIPTS],
            Self::Field(_) => &[&BLOCKS],
            Self::ChangedProof => &[&["eth_getProof"]],
            Self::RepeatedKey => &[&BLOCKS],
            Self::EverySender => &[&BLOCKS, &TRANSACTIONS, &RECEIPTS],
        };
        groups.iter().any(|group| group.contains(&method))
    }

    /// `other` is the block whose body may be put under this header.
    pub(super) fn apply(self, text: &Bytes, block: &SimBlock, other: Option<&SimBlock>) -> Bytes {
        let Ok(mut answer) = serde_json::from_slice::<Value>(text) else { return text.clone() };
        match self {
            Self::ChangedValue => on_first_transaction(&mut answer, |tx| bump(tx, "value")),
            Self::ChangedFrom => on_first_transaction(&mut answer, |tx| flip(tx, "from")),
            Self::ChangedTimestamp => bump(&mut answer, "timestamp"),
            Self::DroppedTransaction => drop_last(&mut answer),
            Self::OtherBlocksBody => put_body(&mut answer, block, other),
            Self::WrongParent => flip(&mut answer, "parentHash"),
            Self::WrongParentRehashed => return reparented(text, block),
            Self::DroppedLog => on_first_log(&mut answer, |logs| {
                logs.remove(0);
            }),
            Self::ChangedLogData => on_first_log(&mut answer, |logs| {
                logs.iter_mut().take(1).for_each(|log| grow(log, "data"));
            }),
            Self::SwappedReceipts => swap_receipts(&mut answer, block),
            Self::ChangedTraceValue => tamper_trace::bump_first_inner(&mut answer),
            Self::ChangedTraceRoot => tamper_trace::change_first_root(&mut answer),
            Self::DroppedTrace => tamper_trace::drop_last(&mut answer),
            Self::EmptyTraces => answer = json!([]),
            Self::FailedTrace => tamper_trace::fail_first(&mut answer),
            Self::LargeTraces => return tamper_trace::enlarged(text),
            Self::ChangedProof => bump(&mut answer, "balance"),
            Self::Trace(lie) => drop(lie.apply(&mut answer)),
            Self::DroppedCall => tamper_trace::drop_last_call(&mut answer),
            Self::OtherBlocksTraces => tamper_trace::rename(&mut answer),
            Self::UnnamedTraces => tamper_trace::leave_out_names(&mut answer),
            Self::Field(lie) => drop(lie.apply(&mut answer)),
            Self::RepeatedKey => return repeated(text),
            Self::EverySender => change_senders(&mut answer),
        }
        answer.to_string().into()
    }
}

/// The hash the block has after `WrongParentRehashed`.
pub(super) fn rehashed(block: &SimBlock) -> B256 {
    let mut header = block.header.clone();
    header.parent_hash = keccak256(header.parent_hash);
    header.hash()
}

fn reparented(text: &Bytes, block: &SimBlock) -> Bytes {
    let parent = block.header.parent_hash;
    let text = String::from_utf8_lossy(text)
        .replace(&hex::encode(block.hash), &hex::encode(rehashed(block)))
        .replace(&hex::encode(parent), &hex::encode(keccak256(parent)));
    text.into()
}

/// The same key once more, before the right one: a reader that takes the last sees nothing wrong.
fn repeated(text: &Bytes) -> Bytes {
    let Some(rest) = text.strip_prefix(b"{") else { return text.clone() };
    let miner = br#"{"miner":"0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a","#;
    [miner.as_slice(), rest].concat().into()
}

fn change_senders(answer: &mut Value) {
    let objects = match answer {
        Value::Array(list) => list.as_mut_slice(),
        one if one.get("transactions").is_some() => {
            let list = one.get_mut("transactions").and_then(Value::as_array_mut);
            list.map(Vec::as_mut_slice).unwrap_or_default()
        }
        one => std::slice::from_mut(one),
    };
    objects.iter_mut().filter(|object| object.is_object()).for_each(|object| flip(object, "from"));
}

/// In a block, or where the answer is that transaction itself.
fn on_first_transaction(answer: &mut Value, edit: impl FnOnce(&mut Value)) {
    if answer.get("transactionIndex") == Some(&json!("0x0")) {
        return edit(answer);
    }
    let list = answer.get_mut("transactions").and_then(Value::as_array_mut);
    let first = list.and_then(|list| list.first_mut());
    first.filter(|tx| tx.is_object()).map(edit);
}

/// Finds the logs that begin with the block's first log, in a list of receipts or in one.
fn on_first_log(answer: &mut Value, edit: impl FnOnce(&mut Vec<Value>)) {
    let receipts = match answer {
        Value::Array(list) => list.as_mut_slice(),
        one => std::slice::from_mut(one),
    };
    let is_first =
        |log: Option<&Value>| log.is_some_and(|log| log.get("logIndex") == Some(&json!("0x0")));
    let logs = receipts.iter_mut().filter_map(|r| r.get_mut("logs")?.as_array_mut());
    logs.into_iter().find(|logs| is_first(logs.first())).map(edit);
}

fn drop_last(answer: &mut Value) {
    let list = if answer.is_array() { Some(answer) } else { answer.get_mut("transactions") };
    if let Some(list) = list.and_then(Value::as_array_mut) {
        list.pop();
    }
}

fn put_body(answer: &mut Value, block: &SimBlock, other: Option<&SimBlock>) {
    let Some(place) = answer.get_mut("transactions") else { return };
    let is_full = place.as_array().and_then(|l| l.first()).is_none_or(Value::is_object);
    let Some(text) = other.map(|other| other.block_json(is_full)) else { return };
    let Ok(mut foreign) = serde_json::from_slice::<Value>(&text) else { return };
    let Some(list) = foreign.get_mut("transactions") else { return };
    for tx in list.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        tx.insert("blockHash".into(), json!(block.hash.to_string()));
        tx.insert("blockNumber".into(), json!(format!("{:#x}", block.number())));
        tx.insert("blockTimestamp".into(), json!(format!("{:#x}", block.header.timestamp)));
    }
    *place = list.take();
}

/// Outcome of one, name of the other: status, gas and logs go across, hash and index stay.
fn swap_receipts(answer: &mut Value, block: &SimBlock) {
    let receipts = match answer {
        Value::Array(list) => list.as_mut_slice(),
        one => std::slice::from_mut(one),
    };
    for receipt in receipts {
        let other = match receipt.get("transactionIndex").and_then(Value::as_str) {
            Some("0x0") => 1,
            Some("0x1") => 0,
            _ => continue,
        };
        let Some(text) = block.receipt_json(other) else { continue };
        let Ok(mut outcome) = serde_json::from_slice::<Value>(&text) else { continue };
        for field in ["status", "gasUsed", "cumulativeGasUsed", "logs", "logsBloom"] {
            if let (Some(to), Some(from)) = (receipt.get_mut(field), outcome.get_mut(field)) {
                *to = from.take();
            }
        }
    }
}
