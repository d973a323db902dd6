//! One transaction's calls as callTracer nests them → frames in the order in which they were entered.
//!
//! Calls nest up to 1,024 deep on chain, deeper than a stack may: those that are open stand in a list. Whether
//! `TraceList` would write them just so is noted while they are read, at a fraction of what writing and
//! comparing would cost.

use std::borrow::Cow;

use alloy_primitives::Bytes;

use super::frame::{Frame, FrameKind, mark_undone};
use super::json_value::{JsonValue, Slot};
use super::member_order::{Member, MemberOrder, MemberPlace};
use super::object::takes_too_much;
use super::reader::Reader;
use super::record::Malformed;
use super::trace_list::{quoted, revert_reason};

/// The EVM's own limit, with some room for tracers that count differently.
const DEPTH_MAX: usize = 1_100;

#[derive(Debug)]
pub struct CallTree {
    pub frames: Vec<Frame>,
    /// Whether `TraceList::entry` writes the same JSON, but for the order of keys and for white space.
    pub is_canonical: bool,
}

/// Keys of a call that it may have once, in geth's order. Each is the bit of its place.
mod key {
    pub const NAMES: &[&[u8]] = &[
        b"\"from\":",
        b"\"gas\":",
        b"\"gasUsed\":",
        b"\"to\":",
        b"\"input\":",
        b"\"output\":",
        b"\"error\":",
        b"\"calls\":",
        b"\"value\":",
        b"\"type\":",
    ];
    pub const FROM: u16 = 1;
    pub const GAS: u16 = 1 << 1;
    pub const GAS_USED: u16 = 1 << 2;
    pub const TO: u16 = 1 << 3;
    pub const INPUT: u16 = 1 << 4;
    pub const OUTPUT: u16 = 1 << 5;
    pub const ERROR: u16 = 1 << 6;
    pub const CALLS: u16 = 1 << 7;
    pub const VALUE: u16 = 1 << 8;
    pub const TYPE: u16 = 1 << 9;
    /// Those that every call has.
    pub const ALWAYS: u16 = TYPE | FROM | GAS | GAS_USED | INPUT;
}

/// A call whose object has not ended yet.
struct OpenCall<'a> {
    /// Where its frame is.
    place: usize,
    member: MemberPlace,
    seen: u16,
    calls: u32,
    revert_reason: Option<&'a str>,
}

struct TreeReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    order: &'r mut MemberOrder,
    /// How much text there was at the beginning.
    text: usize,
    tree: CallTree,
    open: Vec<OpenCall<'a>>,
}

impl CallTree {
    /// None for an object without members: it says nothing. `order`: of the members of calls before it.
    pub fn read(
        reader: &mut Reader<'_>,
        order: &mut MemberOrder,
    ) -> Result<Option<Self>, Malformed> {
        let text = reader.rest().len();
        let tree = CallTree { frames: Vec::new(), is_canonical: true };
        let mut calls = TreeReader { reader, order, text, tree, open: Vec::new() };
        calls.enter(Vec::new())?;
        if calls.reader.take(b'}') {
            return Ok(None);
        }
        while let Some(call) = calls.open.last_mut() {
            let next = calls.order.next(calls.reader, &mut call.member, key::NAMES);
            match next.ok_or_else(no_call)? {
                Some(member) => calls.member(member)?,
                None => {
                    calls.leave();
                    calls.next_call()?;
                }
            }
        }
        let mut tree = calls.tree;
        mark_undone(&mut tree.frames);
        Ok(Some(tree))
    }
}

impl<'a> TreeReader<'_, 'a> {
    /// Takes the beginning of a call. Its place is taken before its calls', whatever order its keys come in.
    fn enter(&mut self, path: Vec<u32>) -> Result<(), Malformed> {
        self.reader.expect(b'{').ok_or_else(no_call)?;
        let place = self.tree.frames.len();
        self.tree.frames.push(Frame { path, ..Frame::default() });
        let call = OpenCall {
            place,
            member: MemberPlace::default(),
            seen: 0,
            calls: 0,
            revert_reason: None,
        };
        self.open.push(call);
        Ok(())
    }

    /// In a list of calls, behind its bracket or one of them: enters the next, or takes the end of the list.
    fn next_call(&mut self) -> Result<(), Malformed> {
        let Some(around) = self.open.last_mut() else { return Ok(()) };
        let mut is_first = around.calls == 0;
        if !self.reader.next_item(b']', &mut is_first).ok_or_else(no_call)? {
            return Ok(());
        }
        let above = self.tree.frames.get(around.place).map_or(&[][..], |frame| &frame.path);
        if above.len() >= DEPTH_MAX {
            return Err(Malformed::new("debug_trace", "calls nested too deep"));
        }
        let mut path = Vec::with_capacity(above.len() + 1);
        path.extend_from_slice(above);
        path.push(around.calls);
        around.calls += 1;
        if takes_too_much::<Frame>(self.tree.frames.len(), self.text - self.reader.rest().len()) {
            return Err(Malformed::new("debug_trace", "more calls than their text has room for"));
        }
        self.enter(path)
    }

    fn member(&mut self, member: Member<'a>) -> Result<(), Malformed> {
        let reader = &mut *self.reader;
        let Some(call) = self.open.last_mut() else { return Ok(()) };
        let Some(frame) = self.tree.frames.get_mut(call.place) else { return Ok(()) };
        let (index, is_canonical) = match member {
            // One with an escape is not how we spell it.
            Member::Known { index, is_plain } => (index, is_plain),
            Member::Other(name) => {
                let is_plain = matches!(name, Cow::Borrowed(_));
                let name = std::str::from_utf8(&name).map_err(|_| no_call())?;
                let text = reader.checked().ok_or_else(no_call)?;
                let is_reason =
                    name == "revertReason" && call.revert_reason.replace(text).is_none();
                self.tree.is_canonical &= is_plain & is_reason;
                return Ok(());
            }
        };
        let key = 1 << index;
        // Said twice, one would be checked and the other told.
        if call.seen & key != 0 {
            let name = key::NAMES.get(index).copied().unwrap_or_default();
            let name = String::from_utf8_lossy(name).replace(['"', ':'], "");
            return Err(Malformed::new("debug_trace", &format!("`{name}` is there twice")));
        }
        call.seen |= key;
        if key != key::CALLS {
            self.tree.is_canonical &= is_canonical & read_field(reader, key, frame)?;
            return Ok(());
        }
        self.tree.is_canonical &= is_canonical;
        if reader.take(b'[') {
            return self.next_call();
        }
        if reader.value() == Some(b"null") { Ok(()) } else { Err(no_call()) }
    }

    /// The call that was entered last has ended.
    fn leave(&mut self) {
        let Some(call) = self.open.pop() else { return };
        let Some(frame) = self.tree.frames.get(call.place) else { return };
        self.tree.is_canonical &= call.is_canonical(frame);
    }
}

impl OpenCall<'_> {
    /// Whether it has the keys that `TraceList` gives such a call, and the reason that it finds.
    fn is_canonical(&self, frame: &Frame) -> bool {
        let wanted = [
            (key::ALWAYS, true),
            (key::TO, frame.to.is_some()),
            (key::VALUE, frame.kind != FrameKind::StaticCall),
            (key::OUTPUT, !frame.output.is_empty()),
            (key::ERROR, frame.error.is_some()),
            (key::CALLS, self.calls > 0),
        ];
        let keys =
            wanted.iter().filter(|(_, is_there)| *is_there).fold(0, |all, (key, _)| all | key);
        let reason = frame.error.as_deref().and_then(|error| revert_reason(error, &frame.output));
        self.seen == keys && self.revert_reason == reason.map(quoted).as_deref()
    }
}

/// Says whether the value is spelled as we would.
fn read_field(reader: &mut Reader<'_>, key: u16, frame: &mut Frame) -> Result<bool, Malformed> {
    match key {
        key::TYPE => read_kind(reader, &mut frame.kind),
        key::FROM => read_value(reader, &mut frame.from),
        key::TO => {
            let (to, is_usual) = next_value(reader)?;
            frame.to = to;
            Ok(is_usual)
        }
        key::VALUE => read_value(reader, &mut frame.value),
        key::GAS => read_value(reader, &mut frame.gas),
        key::GAS_USED => read_value(reader, &mut frame.gas_used),
        key::INPUT => read_value::<Bytes>(reader, &mut frame.input),
        key::OUTPUT => read_value::<Bytes>(reader, &mut frame.output),
        key::ERROR => read_error(reader, &mut frame.error),
        _ => Err(no_call()),
    }
}

/// Null is none. Also says whether it is spelled as we would.
fn next_value<T: JsonValue>(reader: &mut Reader<'_>) -> Result<(Option<T>, bool), Malformed> {
    match T::next_slot(reader).ok_or_else(no_call)? {
        Slot::Value(value) => Ok((Some(value), true)),
        Slot::Null => Ok((None, false)),
        Slot::Odd(Some(value), _) => Ok((Some(value), false)),
        Slot::Odd(None, text) => Err(Malformed::new("trace", &text)),
    }
}

/// Null is zero. Says whether the value is spelled as we would.
fn read_value<T: JsonValue>(reader: &mut Reader<'_>, to: &mut T) -> Result<bool, Malformed> {
    let (value, is_canonical) = next_value(reader)?;
    if let Some(value) = value {
        *to = value;
    }
    Ok(is_canonical)
}

fn read_kind(reader: &mut Reader<'_>, kind: &mut FrameKind) -> Result<bool, Malformed> {
    let text =
        reader.value().and_then(|text| std::str::from_utf8(text).ok()).ok_or_else(no_call)?;
    let name = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    *kind = name.and_then(FrameKind::from_name).ok_or_else(|| Malformed::new("call type", text))?;
    Ok(name == Some(kind.name()))
}

/// What is no text says nothing.
fn read_error(reader: &mut Reader<'_>, error: &mut Option<Box<str>>) -> Result<bool, Malformed> {
    let text = reader.checked().ok_or_else(no_call)?;
    let Ok(Some(said)) = serde_json::from_str::<Option<String>>(text) else { return Ok(false) };
    let is_canonical = quoted(&said) == text;
    *error = Some(said.into());
    Ok(is_canonical)
}

/// Whoever has the whole text says more.
fn no_call() -> Malformed {
    Malformed::new("debug_trace", "no call of the call tracer")
}
