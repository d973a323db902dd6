//! Parity's `trace_block`: flat rows in depth-first order, each with its path in the tree.
//!
//! Its habits are kept: block number and position are JSON numbers, a failed frame has no result, and a
//! self-destruct is a row of its own type. Creations name their method only as newer nodes do.

use super::writer::Object;
use crate::chain::{Frame, FrameError, FrameKind, SimBlock, SimTx};

struct Place<'a> {
    block: &'a SimBlock,
    tx: &'a SimTx,
    position: usize,
}

pub(super) fn write(out: &mut Vec<u8>, block: &SimBlock) {
    out.push(b'[');
    for (position, tx) in block.txs.iter().enumerate() {
        let place = Place { block, tx, position };
        rows(out, &place, &tx.trace, &mut Vec::new());
    }
    out.push(b']');
}

fn rows(out: &mut Vec<u8>, place: &Place, frame: &Frame, path: &mut Vec<usize>) {
    if out.last() == Some(&b'}') {
        out.push(b',');
    }
    row(out, place, frame, path);
    for (index, call) in frame.calls.iter().enumerate() {
        path.push(index);
        rows(out, place, call, path);
        path.pop();
    }
}

fn row(out: &mut Vec<u8>, place: &Place, frame: &Frame, path: &[usize]) {
    let mut object = Object::new(out);
    let mut action = object.object("action");
    write_action(&mut action, frame);
    action.end();
    object.hex("blockHash", place.block.hash.as_slice());
    object.number("blockNumber", place.block.number());
    match frame.error {
        Some(FrameError::Reverted(_)) => object.text("error", "Reverted"),
        Some(FrameError::OutOfGas) => object.text("error", "Out of gas"),
        None => write_result(&mut object, frame),
    }
    object.number("subtraces", frame.calls.len() as u64);
    object.array("traceAddress", path, |out, step| out.extend(step.to_string().bytes()));
    object.hex("transactionHash", place.tx.hash.as_slice());
    object.number("transactionPosition", place.position as u64);
    object.text("type", row_type(frame.kind));
    object.end();
}

fn write_action(action: &mut Object, frame: &Frame) {
    match frame.kind {
        FrameKind::SelfDestruct => {
            action.hex("address", frame.from.as_slice());
            action.hex("refundAddress", frame.to.as_slice());
            action.quantity("balance", frame.value);
        }
        FrameKind::Create | FrameKind::Create2 => {
            let is_plain = frame.kind == FrameKind::Create;
            action.text("creationMethod", if is_plain { "create" } else { "create2" });
            action.hex("from", frame.from.as_slice());
            action.quantity("gas", frame.gas.into());
            action.hex("init", &frame.input);
            action.quantity("value", frame.value);
        }
        kind => {
            action.text("callType", call_type(kind));
            action.hex("from", frame.from.as_slice());
            action.quantity("gas", frame.gas.into());
            action.hex("input", &frame.input);
            action.hex("to", frame.to.as_slice());
            action.quantity("value", frame.value);
        }
    }
}

fn write_result(object: &mut Object, frame: &Frame) {
    if frame.kind == FrameKind::SelfDestruct {
        return object.raw("result", "null");
    }
    let mut result = object.object("result");
    result.quantity("gasUsed", frame.gas_used.into());
    if frame.kind.is_create() {
        result.hex("address", frame.to.as_slice());
        result.hex("code", &frame.output);
    } else {
        result.hex("output", &frame.output);
    }
    result.end();
}

fn row_type(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::SelfDestruct => "suicide",
        FrameKind::Create | FrameKind::Create2 => "create",
        _ => "call",
    }
}

fn call_type(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::DelegateCall => "delegatecall",
        FrameKind::StaticCall => "staticcall",
        FrameKind::CallCode => "callcode",
        _ => "call",
    }
}
