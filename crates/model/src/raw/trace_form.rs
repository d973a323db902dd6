//! Traces as nodes write them. Frames do not say how the node spelled them, so this is found out when a list is read: where
//! writing it again gives the same JSON, whoever asks for the list later can be answered from the frames. Of geth's dialect
//! its reader knows (`call_tree`); a list of the other is written at once and compared.

use super::frame::Frame;
use super::reader::Reader;
use super::record::Malformed;
use super::same_json::is_same_json;
use super::trace_fault::TraceFault;
use super::trace_geth::read_geth_traces;
use super::trace_list::TraceList;
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
        let mut reader = Reader::new(text.as_bytes());
        let traces = Self::next_call_tracer(&mut reader, txs)?;
        let malformed = || Malformed::text("debug_trace", text.as_bytes());
        Ok(reader.is_at_end().then_some(traces).ok_or_else(malformed)?)
    }

    /// The same as the next value of a text.
    pub fn next_call_tracer(reader: &mut Reader<'_>, txs: &[Tx]) -> Result<Self, TraceFault> {
        read_geth_traces(reader, txs)
    }

    /// A node's answer to `trace_block`.
    pub fn read_trace_block(text: &str, txs: &[Tx]) -> Result<Self, TraceFault> {
        let frames = read_parity_traces(text, txs)?;
        let form = match text.contains("\"creationMethod\"") {
            true => TraceForm::TraceBlockWithMethods,
            false => TraceForm::TraceBlock,
        };
        let form = Some(form).filter(|form| form.gives(text, txs, &frames));
        Ok(BlockTraces { frames, form })
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

    /// Whether the frames are written as they were read. Where there are no transactions, nobody need be asked: then
    /// the list says nothing of a form.
    fn gives(self, text: &str, txs: &[Tx], frames: &[Vec<Frame>]) -> bool {
        let written = self.list(txs, frames.iter().map(|of_tx| of_tx.iter().collect()));
        written.is_some_and(|written| !txs.is_empty() && is_same_json(text, &written))
    }

    /// None where a transaction's frames are no tree.
    fn list<'a>(
        self,
        txs: &[Tx],
        frames: impl IntoIterator<Item = Vec<&'a Frame>>,
    ) -> Option<String> {
        let mut list = TraceList::new(self == TraceForm::TraceBlockWithMethods, txs.len());
        for (position, (tx, frames)) in txs.iter().zip(frames).enumerate() {
            match self {
                TraceForm::CallTracer => list.entry(tx, &frames)?,
                TraceForm::TraceBlock | TraceForm::TraceBlockWithMethods => {
                    list.rows(tx, position, &frames)?;
                }
            }
        }
        Some(list.finish())
    }
}

impl Block {
    /// Its traces as its node wrote them; none where it has none, or they were in no form that we know.
    pub fn write_traces(&self) -> Option<String> {
        let below = self.traces.as_ref()?.iter().enumerate();
        let whole =
            below.map(|(index, below)| self.trace_roots.get(index).into_iter().chain(below));
        self.trace_form?.list(&self.txs, whole.map(Iterator::collect))
    }
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
            assert_eq!(traces.form, Some(form));
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

    /// Each change of a value, by its text; none where it cannot be made.
    fn spelled_otherwise(value: &str) -> Vec<String> {
        let mut others = vec!["null".to_owned(), "[]".to_owned(), "{}".to_owned(), "7".to_owned()];
        if let Some(hex) = value.strip_prefix("\"0x") {
            others.push(format!("\"0x0{hex}"));
            others.push(format!("\"0x{}", hex.to_ascii_uppercase()));
            others.push("\"0x\"".to_owned());
            others.push("\"0x0\"".to_owned());
        }
        if let Some(text) = value.strip_prefix('"') {
            others.push(format!("\"\\u0061{text}"));
            others.push(format!("\"{}", text.to_ascii_lowercase()));
            others.push(format!(" \"{text}\n"));
            others.push(format!("\"A{text}"));
            others.push("\"\"".to_owned());
        }
        others
    }

    /// Every text that differs from a list in one member: left out, there twice, named or spelled otherwise.
    fn one_member_changed(text: &str) -> Vec<String> {
        let mut changed = Vec::new();
        for (at, _) in text.match_indices("\":") {
            let Some(name_at) = text[..at].rfind('"') else { continue };
            let value = reader_value(&text[at + 2..]);
            let member = &text[name_at..at + 2 + value.len()];
            let (before, after) = (&text[..name_at], &text[at + 2 + value.len()..]);
            let name = &text[name_at + 1..at];
            let mut put = |member: &str| changed.push(format!("{before}{member}{after}"));
            put("\"odd\":1");
            put(&format!("{member},{member}"));
            put(&format!("\"odd\":1,{member}"));
            put(&format!("\"\\u00{:02x}{}\":{value}", name.as_bytes()[0], &name[1..]));
            for other in spelled_otherwise(value) {
                put(&format!("\"{name}\":{other}"));
            }
            changed.push(
                format!("{before}{after}").replace("{,", "{").replace(",,", ",").replace(",}", "}"),
            );
        }
        changed
    }

    fn reader_value(text: &str) -> &str {
        let value = crate::raw::reader::Reader::new(text.as_bytes()).value().unwrap();
        std::str::from_utf8(value).unwrap()
    }

    #[test]
    fn the_reader_of_calls_knows_the_form_that_writing_and_comparing_finds() {
        let other_tx = Tx { hash: Some(alloy_primitives::B256::repeat_byte(8)), ..tx() };
        let txs = [tx(), other_tx];
        let mut list = geth();
        let other = list[0].to_string().replace("0707", "0808");
        list.as_array_mut().unwrap().push(serde_json::from_str(&other).unwrap());
        let text = list.to_string();
        let (one, two) = (list[0].to_string(), list[1].to_string());
        let mut texts = one_member_changed(&text);
        texts.extend([
            text,
            format!("[{two},{one}]"),
            format!("[{one}]"),
            format!("[{one},{two}] "),
        ]);
        let (mut in_form, mut readable) = (0, 0);
        for text in &texts {
            // What cannot be read has no form.
            let Ok(read) = BlockTraces::read_call_tracer(text, &txs) else { continue };
            let expected = TraceForm::CallTracer.gives(text, &txs, &read.frames);
            assert_eq!(read.form.is_some(), expected, "{text}");
            assert!(serde_json::from_str::<Value>(text).is_ok(), "{text}");
            (in_form, readable) = (in_form + usize::from(expected), readable + 1);
        }
        assert!(
            in_form > 50 && readable > 2 * in_form && texts.len() > readable,
            "{in_form} {readable}"
        );
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
}
