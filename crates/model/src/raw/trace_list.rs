//! Writes frames as nodes write traces. Pure.

use std::fmt::Write;

use alloy_primitives::hex;

use super::Tx;
use super::frame::{Frame, FrameKind};

/// JSON that is being written. Fields are `,"name":value`, so each object begins with a field that is always there.
pub struct TraceList {
    out: String,
    /// Whether creations say by which opcode they were.
    has_methods: bool,
}

impl TraceList {
    pub fn new(has_methods: bool, txs: usize) -> Self {
        let mut out = String::with_capacity(512 * txs + 2);
        out.push('[');
        TraceList { out, has_methods }
    }

    pub fn finish(mut self) -> String {
        self.out.push(']');
        self.out
    }

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
        let _ = write!(self.out, ",\"{name}\":{}", quoted(text));
    }

    fn next(&mut self) {
        if !self.out.ends_with('[') {
            self.out.push(',');
        }
    }

    /// A transaction's tree of calls, in geth's dialect; none where they are no tree.
    pub fn entry(&mut self, tx: &Tx, frames: &[&Frame]) -> Option<()> {
        self.next();
        let _ = write!(self.out, "{{\"txHash\":\"{:#x}\",\"result\":", tx.hash?);
        let mut open: Vec<&Frame> = Vec::new();
        for (place, frame) in frames.iter().copied().enumerate() {
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

    /// A transaction's calls, one row each, in Parity's dialect.
    pub fn rows(&mut self, tx: &Tx, position: usize, frames: &[&Frame]) -> Option<()> {
        let (block, number, hash) = (tx.block_hash?, tx.block_number?, tx.hash?);
        frames.first().filter(|root| root.path.is_empty())?;
        for (place, frame) in frames.iter().copied().enumerate() {
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

/// A text as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What `revert` was given, where that is a text.
pub fn revert_reason<'a>(error: &str, output: &'a [u8]) -> Option<&'a str> {
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
    use super::*;

    #[test]
    fn a_reason_is_read_only_where_it_is_whole() {
        let (at, length) = (format!("{:064x}", 32), format!("{:064x}", 2));
        let no = format!("0x08c379a0{at}{length}6e6f{}", "0".repeat(60));
        let whole = hex::decode(no).unwrap();
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
