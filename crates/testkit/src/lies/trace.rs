//! Traces changed in one place each, so that they can no longer be what happened: in either dialect.
//!
//! In: what a node answers about a block's traces. Out: the same with one frame altered. What no tree can tell
//! (another amount, a call left out whole) is not here: [`crate::Tamper`] has those.

use serde_json::{Value, json};

use super::trace_frames::{Frames, Place};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceLie {
    /// The transaction's own call has other input.
    OtherRootInput,
    /// It is a delegate call, by which no value moves.
    OtherRootKind,
    /// It has more gas than the transaction.
    RootGas,
    /// A call is made by somebody who does not act there.
    OtherCaller,
    /// A static call carries value.
    StaticValue,
    /// A call below a static one carries value.
    ValueBelowStatic,
    /// A delegate call shows a value that is not its caller's.
    DelegateValue,
    /// More gas used than there was.
    GasUsed,
    /// More gas than the caller had.
    GasAboveCaller,
    /// Calls below calls, deeper than the EVM goes.
    TooDeep,
    /// Something was made, and has no address.
    NoCreatedAddress,
    /// The transaction made a contract, at another address.
    OtherCreatedAddress,
    /// What destroyed itself goes on calling.
    CallBelowSelfDestruct,
    /// A precompiled contract calls somebody.
    CallBelowPrecompile,
}

const SOMEBODY: &str = "0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

impl TraceLie {
    pub const ALL: [TraceLie; 14] = [
        TraceLie::OtherRootInput,
        TraceLie::OtherRootKind,
        TraceLie::RootGas,
        TraceLie::OtherCaller,
        TraceLie::StaticValue,
        TraceLie::ValueBelowStatic,
        TraceLie::DelegateValue,
        TraceLie::GasUsed,
        TraceLie::GasAboveCaller,
        TraceLie::TooDeep,
        TraceLie::NoCreatedAddress,
        TraceLie::OtherCreatedAddress,
        TraceLie::CallBelowSelfDestruct,
        TraceLie::CallBelowPrecompile,
    ];

    /// False, and nothing changed, where no frame can be changed so.
    pub fn apply(self, traces: &mut Value) -> bool {
        let mut frames = Frames::of(traces);
        let Some(place) = frames.find(|frames, place| self.is_victim(frames, place)) else {
            return false;
        };
        match self {
            Self::OtherRootInput => {
                let input = frames.input(&place);
                frames.set_input(&place, &format!("{input}5a"));
            }
            Self::OtherRootKind => frames.set_kind(&place, "DELEGATECALL"),
            Self::RootGas => frames.set(&place, "gas", json!("0xffffffffff")),
            Self::OtherCaller => frames.set(&place, "from", json!(SOMEBODY)),
            Self::StaticValue => frames.set(&place, "value", json!("0x1")),
            Self::ValueBelowStatic => {
                frames.set_kind(&place, "CALL");
                frames.set(&place, "value", json!("0x1"));
            }
            Self::DelegateValue => frames.set(&place, "value", json!("0x1234567")),
            Self::GasUsed => frames.set(&place, "gasUsed", json!("0xffffffffff")),
            Self::GasAboveCaller => frames.set(&place, "gas", json!("0xffffffffff")),
            Self::TooDeep => frames.nest(&place, 1_026),
            Self::NoCreatedAddress => frames.set_made(&place, Value::Null),
            Self::OtherCreatedAddress => frames.set_made(&place, json!(SOMEBODY)),
            Self::CallBelowSelfDestruct | Self::CallBelowPrecompile => frames.nest(&place, 1),
        }
        true
    }

    fn is_victim(self, frames: &Frames, place: &Place) -> bool {
        let (kind, is_root) = (frames.kind(place), place.parent.is_none());
        let stands = !frames.failed(place);
        match self {
            Self::OtherRootInput | Self::OtherRootKind => is_root && kind == "CALL",
            Self::RootGas => is_root,
            Self::OtherCaller => !is_root,
            Self::StaticValue => kind == "STATICCALL",
            Self::ValueBelowStatic => {
                stands && frames.parent_kind(place) == Some("STATICCALL".into())
            }
            Self::DelegateValue => kind == "DELEGATECALL",
            Self::GasUsed => stands && kind != "SELFDESTRUCT",
            Self::GasAboveCaller => !is_root && kind != "SELFDESTRUCT",
            Self::TooDeep => kind == "CALL" && stands && !frames.has_calls(place),
            Self::NoCreatedAddress => kind.starts_with("CREATE") && stands,
            Self::OtherCreatedAddress => is_root && kind.starts_with("CREATE") && stands,
            Self::CallBelowSelfDestruct => kind == "SELFDESTRUCT",
            Self::CallBelowPrecompile => frames.to(place).ends_with("0000000000000001"),
        }
    }
}
