//! geth's call tracer: a tree of calls per transaction.
//!
//! Its habits are kept: the root's gas includes the intrinsic part, a static call has no value, a failed
//! creation has no address, empty output is left out.

use super::writer::{Object, array};
use crate::chain::{Frame, FrameError, FrameKind, SimBlock, SimTx};

pub(super) fn write(out: &mut Vec<u8>, block: &SimBlock) {
    array(out, &block.txs, |out, tx| {
        let mut object = Object::new(out);
        object.hex("txHash", tx.hash.as_slice());
        let mut result = object.object("result");
        root(&mut result, tx);
        result.end();
        object.end();
    });
}

fn root(object: &mut Object, tx: &SimTx) {
    object.quantity("gas", tx.envelope.tx.gas_limit.into());
    object.quantity("gasUsed", tx.gas_used.into());
    fields(object, &tx.trace);
}

fn inner(out: &mut Vec<u8>, frame: &Frame) {
    let mut object = Object::new(out);
    object.quantity("gas", frame.gas.into());
    object.quantity("gasUsed", frame.gas_used.into());
    fields(&mut object, frame);
    object.end();
}

fn fields(object: &mut Object, frame: &Frame) {
    object.text("type", name(frame.kind));
    object.hex("from", frame.from.as_slice());
    if !(frame.kind.is_create() && frame.error.is_some()) {
        object.hex("to", frame.to.as_slice());
    }
    if frame.kind != FrameKind::StaticCall {
        object.quantity("value", frame.value);
    }
    object.hex("input", &frame.input);
    if !frame.output.is_empty() {
        object.hex("output", &frame.output);
    }
    match frame.error {
        Some(FrameError::Reverted(reason)) => {
            object.text("error", "execution reverted");
            if let Some(reason) = reason {
                object.text("revertReason", reason);
            }
        }
        Some(FrameError::OutOfGas) => object.text("error", "out of gas"),
        None => {}
    }
    if !frame.calls.is_empty() {
        object.array("calls", &frame.calls, inner);
    }
}

fn name(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Call => "CALL",
        FrameKind::DelegateCall => "DELEGATECALL",
        FrameKind::StaticCall => "STATICCALL",
        FrameKind::CallCode => "CALLCODE",
        FrameKind::Create => "CREATE",
        FrameKind::Create2 => "CREATE2",
        FrameKind::SelfDestruct => "SELFDESTRUCT",
    }
}
