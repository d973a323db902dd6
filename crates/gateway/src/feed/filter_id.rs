//! A filter's id: all that is needed to answer it, so that another process on the same store can.

use alloy_primitives::hex;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::ReaderCursor;

/// So long an id may be: a filter may list many addresses.
const ID_CHARS_MAX: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilterKind {
    Blocks,
    Logs,
}

/// What the id says: what is looked for, and since when.
#[derive(Debug, Serialize, Deserialize)]
pub struct FilterId {
    #[serde(rename = "k")]
    pub kind: FilterKind,
    #[serde(rename = "c")]
    pub chain: u64,
    #[serde(rename = "s")]
    pub seq: u64,
    #[serde(rename = "n")]
    pub next: u64,
    /// As the client gave it.
    #[serde(rename = "f", skip_serializing_if = "Option::is_none")]
    pub filter: Option<Box<RawValue>>,
    /// Tells filters apart that are otherwise the same.
    #[serde(rename = "i")]
    pub instance: u64,
}

impl FilterId {
    pub fn text(&self) -> Option<String> {
        serde_json::to_vec(self).ok().map(hex::encode_prefixed)
    }

    /// None where it is not one of ours.
    pub fn read(text: &str) -> Option<Self> {
        if text.len() > ID_CHARS_MAX {
            return None;
        }
        serde_json::from_slice(&hex::decode(text.strip_prefix("0x")?).ok()?).ok()
    }

    /// Where whoever has nothing else to go by begins.
    pub fn cursor(&self) -> ReaderCursor {
        ReaderCursor { seq: self.seq, start: 0, next: self.next }
    }
}
