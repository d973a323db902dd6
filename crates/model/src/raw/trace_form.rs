//! Traces as nodes write them. Frames do not say how the node spelled them, so a list that was read is written again at once
//! and compared: where that gives the same JSON, whoever asks for the list later can be answered from the frames.

use std::fmt::Write;

use alloy_primitives::hex;

use super::frame::{Frame, FrameKind};
use super::same_json::is_same_json;
use super::trace_fault::TraceFault;
use super::trace_geth::read_geth_traces;
use super::trace_parity::read_parity_traces;
use super::{Block, Tx};
use crate::proof::Proof;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceForm {
    /// `debug_traceBlockBy…` with callTracer.
    CallTracer,
    /// `trace_block`, as erigon says it.
    TraceBlock,
    /// The same with `creationMethod`, as reth and anvil have it.
    TraceBlockWithMethods,
}

/// The calls of a block's transactions, as they were read.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockTraces {
    pub frames: Vec<Vec<Frame>>,
    /// None where they would be written otherwise than they were.
    pub form: Option<TraceForm>,
}

impl BlockTraces {
    /// A node's answer to `debug_traceBlockBy…` with callTracer.
    pub fn read_call_tracer(text: &str, txs: &[Tx]) -> Result<Self, TraceFault> {
        let frames = read_geth_traces(text, txs)?;
        Ok(Self::in_form_of(text, txs, frames, TraceForm::CallTracer))
    }

    /// A node's answer to `trace_block`.
    pub fn read_trace_block(text: &str, txs: &[Tx]) -> Result<Self, TraceFault> {
        let frames = read_parity_traces(text, txs)?;
        let form = match text.contains("\"creationMethod\"") {
            true => TraceForm::TraceBlockWithMethods,
            false => TraceForm::TraceBlock,
        };
        Ok(Self::in_form_of(text, txs, frames, form))
    }

    fn in_form_of(text: &str, txs: &[Tx], frames: Vec<Vec<Frame>>, form: TraceForm) -> Self {
        let written = form.list(txs, &frames);
        let form = written.filter(|written| is_same_json(text, written)).map(|_| form);
        BlockTraces { frames, form }
    }
}

impl TraceForm {
    pub fn proof(self) -> Proof {
        match self {
            TraceForm::CallTracer => Proof::AS_CALL_TRACER,
            TraceForm::TraceBlock => Proof::AS_TRACE_BLOCK,
            TraceForm::TraceBlockWithMethods => Proof::AS_TRACE_BLOCK_WITH_METHODS,
        }
    }

    pub fn of(proof: Proof) -> Option<Self> {
        let forms =
            [TraceForm::CallTracer, TraceForm::TraceBlock, TraceForm::TraceBlockWithMethods];
        forms.into_iter().find(|form| proof.has(form.proof()))
    }

    /// Whether it is an answer to `trace_block`; else to `debug_traceBlockBy…`.
    pub fn is_trace_block(self) -> bool {
        self != TraceForm::CallTracer
    }

    fn list(self, txs: &[Tx], frames: &[Vec<Frame>]) -> Option<String> {
        let out = String::with_capacity(512 * frames.len() + 2);
        let mut list = List { out, has_methods: self == TraceForm::TraceBlockWithMethods };
        list.out.push('[');
        for (position, (tx, frames)) in txs.iter().zip(frames).enumerate() {
            match self {
                TraceForm::CallTracer => list.entry(tx, frames)?,
                TraceForm::TraceBlock | TraceForm::TraceBlockWithMethods => {
                    list.rows(tx, position, frames)?;
                }
            }
        }
        list.out.push(']');
        Some(list.out)
    }
}

/// JSON that is being written. Fields are `,"name":value`, so each object begins with a field that is always there.
struct List {
    out: String,
    has_methods: bool,
}

impl Block {
    /// Its traces as its node wrote them; none where it has none, or they were in no form that we know.
    pub fn write_traces(&self) -> Option<String> {
        self.trace_form?.list(&self.txs, self.traces.as_deref()?)
    }
}

impl List {
    fn field(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = write!(self.out, ",\"{name}\":\"{value}\"");
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        let _ = write!(self.out, ",\"{name}\":\"0x");
        // Hexadecimal is what most of a trace is.
        self.out.push_str(&hex::encode(bytes));
        self.out.push('"');
    }

    fn quantity(&mut self, name: &str, value: impl std::fmt::LowerHex) {
        let _ = write!(self.out, ",\"{name}\":\"{value:#x}\"");
    }

    fn text(&mut self, name: &str, text: &str) {
        let text = serde_json::Value::from(text);
        let _ = write!(self.out, ",\"{name}\":{text}");
    }

    fn next(&mut self) {
        if !self.out.ends_with('[') {
            self.out.push(',');
        }
    }

    /// A transaction's tree of calls.
    fn entry(&mut self, tx: &Tx, frames: &[Frame]) -> Option<()> {
        self.next();
        let _ = write!(self.out, "{{\"txHash\":\"{:#x}\",\"result\":", tx.hash?);
        let mut open: Vec<&Frame> = Vec::new();
        for (place, frame) in frames.iter().enumerate() {
            if (place == 0) != frame.path.is_empty() {
                return None;
            }
            self.close(&mut open, frame.path.len());
            // Written as one of its parent's calls, whatever else is missing of the tree.
            if frame.path.len() != open.len() {
                return None;
            }
            match open.last() {
                Some(_) if self.out.ends_with('}') => self.out.push(','),
                Some(_) => self.out.push_str(",\"calls\":["),
                None => {}
            }
            self.call(frame);
            open.push(frame);
        }
        self.close(&mut open, 0);
        self.out.push('}');
        (!frames.is_empty()).then_some(())
    }

    /// What stands behind the calls of a frame.
    fn close(&mut self, open: &mut Vec<&Frame>, depth: usize) {
        while open.len() > depth {
            let Some(frame) = open.pop() else { return };
            if self.out.ends_with('}') {
                self.out.push(']');
            }
            if frame.kind != FrameKind::StaticCall {
                self.quantity("value", frame.value);
            }
            self.field("type", frame.kind.name());
            self.out.push('}');
        }
    }

    fn call(&mut self, frame: &Frame) {
        let _ = write!(self.out, "{{\"from\":\"{:#x}\"", frame.from);
        self.quantity("gas", frame.gas);
        self.quantity("gasUsed", frame.gas_used);
        if let Some(to) = frame.to {
            self.field("to", format_args!("{to:#x}"));
        }
        self.bytes("input", &frame.input);
        if !frame.output.is_empty() {
            self.bytes("output", &frame.output);
        }
        if let Some(error) = &frame.error {
            self.text("error", error);
            if let Some(reason) = revert_reason(error, &frame.output) {
                self.text("revertReason", reason);
            }
        }
    }

    /// A transaction's calls, one row each.
    fn rows(&mut self, tx: &Tx, position: usize, frames: &[Frame]) -> Option<()> {
        let (block, number, hash) = (tx.block_hash?, tx.block_number?, tx.hash?);
        for (place, frame) in frames.iter().enumerate() {
            let depth = frame.path.len();
            let below = frames.iter().skip(place + 1);
            let below = below.take_while(|next| next.path.len() > depth);
            let subtraces = below.filter(|next| next.path.len() == depth + 1).count();
            self.next();
            self.action(frame);
            let _ = write!(self.out, ",\"blockHash\":\"{block:#x}\",\"blockNumber\":{number}");
            if let Some(error) = &frame.error {
                self.text("error", error);
            }
            self.result(frame);
            let _ = write!(self.out, ",\"subtraces\":{subtraces},\"traceAddress\":[");
            for (place, step) in frame.path.iter().enumerate() {
                let comma = if place > 0 { "," } else { "" };
                let _ = write!(self.out, "{comma}{step}");
            }
            let _ = write!(
                self.out,
                "],\"transactionHash\":\"{hash:#x}\",\"transactionPosition\":{position},\"type\":\"{}\"}}",
                row_type(frame.kind)
            );
        }
        Some(())
    }

    fn action(&mut self, frame: &Frame) {
        if frame.kind == FrameKind::SelfDestruct {
            let _ = write!(self.out, "{{\"action\":{{\"address\":\"{:#x}\"", frame.from);
            let heir = frame.to.unwrap_or_default();
            self.field("refundAddress", format_args!("{heir:#x}"));
            self.quantity("balance", frame.value);
            self.out.push('}');
            return;
        }
        let _ = write!(self.out, "{{\"action\":{{\"from\":\"{:#x}\"", frame.from);
        self.quantity("gas", frame.gas);
        self.quantity("value", frame.value);
        if frame.kind.is_create() {
            self.bytes("init", &frame.input);
            if self.has_methods {
                self.field("creationMethod", frame.kind.name().to_ascii_lowercase());
            }
        } else {
            self.field("callType", frame.kind.name().to_ascii_lowercase());
            self.field("to", format_args!("{:#x}", frame.to.unwrap_or_default()));
            self.bytes("input", &frame.input);
        }
        self.out.push('}');
    }

    /// Of a call that failed without having used or said anything there is none.
    fn result(&mut self, frame: &Frame) {
        let is_nothing = frame.gas_used == 0 && frame.output.is_empty() && frame.error.is_some();
        if frame.kind == FrameKind::SelfDestruct || is_nothing {
            self.out.push_str(",\"result\":null");
            return;
        }
        let _ = write!(self.out, ",\"result\":{{\"gasUsed\":\"{:#x}\"", frame.gas_used);
        if frame.kind.is_create() {
            if let Some(address) = frame.to {
                self.field("address", format_args!("{address:#x}"));
            }
            self.bytes("code", &frame.output);
        } else {
            self.bytes("output", &frame.output);
        }
        self.out.push('}');
    }
}

fn row_type(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Create | FrameKind::Create2 => "create",
        FrameKind::SelfDestruct => "suicide",
        _ => "call",
    }
}

/// What `revert` was given, where that is a text.
fn revert_reason<'a>(error: &str, output: &'a [u8]) -> Option<&'a str> {
    let words = output.strip_prefix(&[0x08, 0xc3, 0x79, 0xa0])?;
    let word = |at: usize| -> Option<usize> {
        let (high, low) = words.get(at..at.checked_add(32)?)?.split_last_chunk::<4>()?;
        let is_small = high.iter().all(|byte| *byte == 0);
        is_small.then(|| u32::from_be_bytes(*low) as usize)
    };
    let at = word(0)?;
    let text = words.get(at.checked_add(32)?..)?.get(..word(at)?)?;
    std::str::from_utf8(text).ok().filter(|_| error == "execution reverted")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const A: &str = "0x00000000000000000000000000000000000000aa";
    const B: &str = "0x00000000000000000000000000000000000000bb";

    fn tx() -> Tx {
        let hash = Some(alloy_primitives::B256::repeat_byte(7));
        Tx { hash, block_hash: hash, block_number: Some(9), ..Tx::default() }
    }

    fn hash() -> String {
        format!("{:#x}", tx().hash.unwrap())
    }

    /// A call in geth's form, with more of it.
    fn call(kind: &str, more: Value) -> Value {
        let mut call = json!({ "from": A, "gas": "0x5208", "gasUsed": "0x9", "to": B, "input": "0xab",
            "value": "0x5", "type": kind });
        if kind == "STATICCALL" {
            call.as_object_mut().unwrap().remove("value");
        }
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    }

    /// `revert("no")`.
    fn revert() -> String {
        let (at, length) = (format!("{:064x}", 32), format!("{:064x}", 2));
        format!("0x08c379a0{at}{length}6e6f{}", "0".repeat(60))
    }

    fn geth() -> Value {
        let below = [
            call("STATICCALL", json!({ "output": "0x01" })),
            call(
                "DELEGATECALL",
                json!({ "error": "out of gas", "calls": [call("CALL", json!({}))] }),
            ),
            call("SELFDESTRUCT", json!({ "gas": "0x0", "gasUsed": "0x0", "input": "0x" })),
            call("CREATE2", json!({ "output": "0x6001" })),
            call(
                "CALL",
                json!({ "error": "execution reverted", "output": revert(), "revertReason": "no" }),
            ),
        ];
        json!([{ "txHash": hash(), "result": call("CALL", json!({ "calls": below })) }])
    }

    fn row(kind: &str, path: &[u32], action: Value, result: Value) -> Value {
        json!({ "action": action, "result": result, "blockHash": hash(), "blockNumber": 9, "subtraces": 0,
            "traceAddress": path, "transactionHash": hash(), "transactionPosition": 0, "type": kind })
    }

    fn parity() -> Value {
        let action = |kind: &str| json!({ "from": A, "to": B, "callType": kind, "gas": "0x5208", "input": "0xab", "value": "0x5" });
        let used = json!({ "gasUsed": "0x9", "output": "0x" });
        let create = json!({ "from": A, "gas": "0x1", "init": "0x60", "value": "0x0" });
        let made = json!({ "address": B, "code": "0x", "gasUsed": "0x9" });
        let end = json!({ "address": A, "refundAddress": B, "balance": "0x0" });
        let mut rows = vec![
            row("call", &[], action("call"), used.clone()),
            row("call", &[0], action("delegatecall"), used.clone()),
            row("create", &[0, 0], create, made),
            row("call", &[1], action("staticcall"), Value::Null),
            row("call", &[2], action("call"), json!({ "gasUsed": "0x9", "output": "0x08" })),
            row("suicide", &[3], end, Value::Null),
        ];
        rows[0]["subtraces"] = json!(4);
        rows[1]["subtraces"] = json!(1);
        rows[3]["error"] = json!("Out of gas");
        rows[4]["error"] = json!("Reverted");
        json!(rows)
    }

    fn read(form: TraceForm, list: &Value) -> BlockTraces {
        let read = if form.is_trace_block() {
            BlockTraces::read_trace_block
        } else {
            BlockTraces::read_call_tracer
        };
        read(&list.to_string(), &[tx()]).unwrap()
    }

    fn block(traces: BlockTraces) -> Block {
        let mut block = Block { txs: vec![tx()], ..Block::default() };
        block.set_traces(Some(traces));
        block
    }

    #[test]
    fn what_was_read_is_written_again() {
        let mut with_methods = parity();
        with_methods[2]["action"]["creationMethod"] = json!("create");
        for (form, list) in [
            (TraceForm::CallTracer, geth()),
            (TraceForm::TraceBlock, parity()),
            (TraceForm::TraceBlockWithMethods, with_methods),
        ] {
            let traces = read(form, &list);
            assert_eq!(traces.form, Some(form), "{:?}", form.list(&[tx()], &traces.frames));
            let written = block(traces).write_traces().unwrap();
            assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), list);
        }
    }

    #[test]
    fn what_would_be_written_otherwise_is_left_to_the_node() {
        let changes: [(TraceForm, &[&str], &str, Value); 9] = [
            (TraceForm::CallTracer, &["result"], "logs", json!([])),
            (TraceForm::CallTracer, &["result"], "gas", json!("0x05208")),
            (TraceForm::CallTracer, &["result"], "input", json!("0xAB")),
            (TraceForm::CallTracer, &["result"], "output", json!("0x")),
            (TraceForm::CallTracer, &["result"], "revertReason", json!("no")),
            (TraceForm::CallTracer, &[], "txIndex", json!(0)),
            (TraceForm::TraceBlock, &["action"], "creationMethod", json!("create")),
            (TraceForm::TraceBlock, &["result"], "gasUsed", json!("0x09")),
            (TraceForm::TraceBlock, &[], "_stateReverted", json!(false)),
        ];
        for (form, path, key, value) in changes {
            let mut list = if form == TraceForm::CallTracer { geth() } else { parity() };
            let at = path.iter().fold(&mut list[0], |at, key| &mut at[*key]);
            at[key] = value;
            let traces = read(form, &list);
            assert_eq!(traces.form, None, "{key}");
            assert_eq!(block(traces).write_traces(), None, "{key}");
        }
    }

    #[test]
    fn calls_nested_a_thousand_deep_are_written() {
        let mut text = format!("[{{\"txHash\":\"{}\",\"result\":", hash());
        let head = format!(r#"{{"from":"{A}","gas":"0x1","gasUsed":"0x1","to":"{B}","input":"0x""#);
        text.push_str(&format!(r#"{head},"calls":["#).repeat(1_000));
        text.push_str(&format!(r#"{head},"value":"0x0","type":"CALL"}}"#));
        text.push_str(&r#"],"value":"0x0","type":"CALL"}"#.repeat(1_000));
        text.push_str("}]");
        let traces = BlockTraces::read_call_tracer(&text, &[tx()]).unwrap();
        assert_eq!(block(traces).write_traces(), Some(text));
    }

    #[test]
    fn a_reason_is_read_only_where_it_is_whole() {
        let whole = hex::decode(revert()).unwrap();
        assert_eq!(revert_reason("execution reverted", &whole), Some("no"));
        assert_eq!(revert_reason("out of gas", &whole), None);
        for bytes in 0..70 {
            assert_eq!(revert_reason("execution reverted", &whole[..bytes]), None, "{bytes}");
        }
        let mut far = whole;
        far[4..36].fill(0xff);
        assert_eq!(revert_reason("execution reverted", &far), None);
    }
}
