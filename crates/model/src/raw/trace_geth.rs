//! `debug_traceBlockBy…` with callTracer (geth dialect) → frames per transaction.
//!
//! Calls nest up to 1,024 deep on chain, deeper than a JSON reader may recurse. So the reader goes
//! down a fixed number of levels, sets deeper subtrees aside as text and reads those afterwards; a
//! path sorts like the order of entry, so a sort puts everything in place.

use std::borrow::Cow;

use alloy_primitives::B256;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::frame::{Frame, FrameKind, mark_undone};
use super::record::Malformed;
use super::trace_fault::{TraceFault, place_of};
use super::trace_parity::{optional, value_or_zero};
use super::{Key, Tx};

/// Levels of calls read in one go: two JSON levels each, well under the reader's limit of 128.
const LEVELS_AT_ONCE: usize = 24;
/// The EVM's own limit, with some room for tracers that count differently.
const DEPTH_MAX: usize = 1_100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow, default)]
    tx_hash: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<String>,
}

impl Entry<'_> {
    fn hash(&self) -> Option<B256> {
        self.tx_hash.as_deref()?.parse().ok()
    }

    fn read(&self, index: usize) -> Result<Vec<Frame>, TraceFault> {
        match (self.result, &self.error) {
            (_, Some(error)) => Err(TraceFault::missing(index, error)),
            (Some(result), None) if !is_empty_object(result.get()) => Ok(read_tree(result.get())?),
            _ => Err(TraceFault::missing(index, "its trace is empty")),
        }
    }
}

/// Each entry finds its transaction by hash; where no entry has one, by its place in the list. Entries of
/// transactions that are not in the block (bor names its state-sync transaction as it likes) are passed
/// over.
pub fn read_geth_traces(text: &str, txs: &[Tx]) -> Result<Vec<Vec<Frame>>, TraceFault> {
    let entries: Vec<Entry> =
        serde_json::from_str(text).map_err(|e| Malformed::new("debug_trace", &e.to_string()))?;
    let mut by_tx: Vec<Option<&Entry>> = vec![None; txs.len()];
    let is_by_hash = entries.iter().any(|entry| entry.hash().is_some());
    for (i, entry) in entries.iter().enumerate() {
        let place =
            if is_by_hash { entry.hash().and_then(|hash| place_of(txs, hash, i)) } else { Some(i) };
        if let Some(slot) = place.and_then(|place| by_tx.get_mut(place))
            && slot.replace(entry).is_some()
        {
            return Err(TraceFault::missing(i, "two traces are of one transaction"));
        }
    }
    let whole = |(index, entry): (usize, Option<&Entry>)| match entry {
        Some(entry) => entry.read(index),
        None => {
            let why = format!("{} traces for {} transactions", entries.len(), txs.len());
            Err(TraceFault::missing(index, &why))
        }
    };
    if !is_by_hash && entries.len() > txs.len() {
        let got = format!("{} traces for {} transactions", entries.len(), txs.len());
        return Err(TraceFault::missing(txs.len(), &got));
    }
    by_tx.into_iter().enumerate().map(whole).collect()
}

fn is_empty_object(text: &str) -> bool {
    let inside = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inside.is_some_and(|inside| inside.trim().is_empty())
}

fn read_tree(text: &str) -> Result<Vec<Frame>, Malformed> {
    let mut tree = Tree { frames: Vec::new(), pending: vec![(Vec::new(), Below::Root(text))] };
    let mut rounds = 0;
    while let Some((path, below)) = tree.pending.pop() {
        rounds += 1;
        if path.len() > DEPTH_MAX {
            return Err(Malformed::new("debug_trace", "calls nested too deep"));
        }
        let (Below::Root(text) | Below::Calls(text)) = &below;
        let mut reader = serde_json::Deserializer::from_str(text);
        let seed = Calls { tree: &mut tree, path, levels: LEVELS_AT_ONCE };
        match below {
            Below::Root(_) => CallObject(seed).deserialize(&mut reader),
            Below::Calls(_) => seed.deserialize(&mut reader),
        }
        .map_err(|e| Malformed::new("debug_trace", &e.to_string()))?;
    }
    if rounds > 1 {
        tree.frames.sort_by(|a, b| a.path.cmp(&b.path));
    }
    mark_undone(&mut tree.frames);
    Ok(tree.frames)
}

struct Tree<'a> {
    frames: Vec<Frame>,
    pending: Vec<(Vec<u32>, Below<'a>)>,
}

enum Below<'a> {
    Root(&'a str),
    Calls(&'a str),
}

/// Reads a list of calls below `path`.
struct Calls<'t, 'a> {
    tree: &'t mut Tree<'a>,
    path: Vec<u32>,
    levels: usize,
}

impl<'de> DeserializeSeed<'de> for Calls<'_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Calls<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("a list of calls")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        for index in 0u32.. {
            let mut path = self.path.clone();
            path.push(index);
            let call = CallObject(Calls { tree: &mut *self.tree, path, levels: self.levels });
            if seq.next_element_seed(call)?.is_none() {
                break;
            }
        }
        Ok(())
    }
}

/// Reads one call, which stands at `path`.
struct CallObject<'t, 'a>(Calls<'t, 'a>);

impl<'de> DeserializeSeed<'de> for CallObject<'_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for CallObject<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("a call of the call tracer")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let CallObject(Calls { tree, path, levels }) = self;
        // The place is taken before the children's, whatever order the fields come in.
        let place = tree.frames.len();
        tree.frames.push(Frame::default());
        let mut frame = Frame { path: path.clone(), ..Frame::default() };
        let mut seen = 0;
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let bit = if key.0 == "calls" {
                CALLS
            } else {
                let raw: &'de RawValue = map.next_value()?;
                set(&mut frame, &key.0, raw).map_err(serde::de::Error::custom)?
            };
            // Said twice, one would be checked and the other told.
            if seen & bit != 0 {
                return Err(serde::de::Error::custom(format!("`{}` is there twice", key.0)));
            }
            seen |= bit;
            if bit != CALLS {
                continue;
            }
            if levels == 0 {
                let raw: &'de RawValue = map.next_value()?;
                tree.pending.push((path.clone(), Below::Calls(raw.get())));
            } else {
                let path = path.clone();
                map.next_value_seed(Calls { tree: &mut *tree, path, levels: levels - 1 })?;
            }
        }
        if let Some(slot) = tree.frames.get_mut(place) {
            *slot = frame;
        }
        Ok(())
    }
}

/// The bit of `calls`; those of other keys are below it.
const CALLS: u16 = 1 << 15;

/// Says which key it was, as a bit; none for a key that is nothing to us.
fn set(frame: &mut Frame, key: &str, raw: &RawValue) -> Result<u16, Malformed> {
    let raw = Some(raw);
    Ok(match key {
        "type" => {
            let name: &str = raw.map_or("", RawValue::get).trim_matches('"');
            frame.kind =
                FrameKind::from_name(name).ok_or_else(|| Malformed::new("call type", name))?;
            1
        }
        "from" => {
            frame.from = value_or_zero(raw)?;
            1 << 1
        }
        "to" => {
            frame.to = optional(raw)?;
            1 << 2
        }
        "value" => {
            frame.value = value_or_zero(raw)?;
            1 << 3
        }
        "gas" => {
            frame.gas = value_or_zero(raw)?;
            1 << 4
        }
        "gasUsed" => {
            frame.gas_used = value_or_zero(raw)?;
            1 << 5
        }
        "input" => {
            frame.input = value_or_zero(raw)?;
            1 << 6
        }
        "output" => {
            frame.output = value_or_zero(raw)?;
            1 << 7
        }
        "error" => {
            frame.error = raw
                .and_then(|r| serde_json::from_str::<Option<String>>(r.get()).ok().flatten())
                .map(Into::into);
            1 << 8
        }
        _ => 0,
    })
}
