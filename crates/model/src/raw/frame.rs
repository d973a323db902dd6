//! One call inside a transaction, the same for both trace dialects.
//!
//! Frames of a transaction are kept in the order they were entered; the first is the transaction
//! itself (its root). A frame that failed carries `error`; one that succeeded but was rolled back
//! because a call around it failed is `undone`: its value never moved.

use alloy_primitives::{Address, Bytes, U256};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FrameKind {
    #[default]
    Call,
    CallCode,
    DelegateCall,
    StaticCall,
    Create,
    Create2,
    SelfDestruct,
}

impl FrameKind {
    const ALL: [(FrameKind, &'static str); 7] = [
        (FrameKind::Call, "CALL"),
        (FrameKind::CallCode, "CALLCODE"),
        (FrameKind::DelegateCall, "DELEGATECALL"),
        (FrameKind::StaticCall, "STATICCALL"),
        (FrameKind::Create, "CREATE"),
        (FrameKind::Create2, "CREATE2"),
        (FrameKind::SelfDestruct, "SELFDESTRUCT"),
    ];

    /// The EVM's own name, as geth and the live service print it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("CALL", |(_, name)| name)
    }

    /// From any of the spellings nodes use (`call`, `CALL`, `suicide` …).
    pub fn from_name(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("suicide") {
            return Some(FrameKind::SelfDestruct);
        }
        Self::ALL.iter().find(|(_, n)| n.eq_ignore_ascii_case(name)).map(|(kind, _)| *kind)
    }

    pub fn is_create(self) -> bool {
        matches!(self, FrameKind::Create | FrameKind::Create2)
    }
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Frame {
    /// Position in the tree: empty for the root, `[1, 0]` for the first call of its second call.
    pub path: Vec<u32>,
    pub kind: FrameKind,
    pub from: Address,
    /// Created address for a creation, heir for a self-destruct; none where a creation failed.
    pub to: Option<Address>,
    pub value: U256,
    pub gas: u64,
    pub gas_used: u64,
    pub input: Bytes,
    pub output: Bytes,
    pub error: Option<Box<str>>,
    pub undone: bool,
}

impl Frame {
    /// Whether native coin really changed hands here. A delegate call shows its caller's value
    /// without moving it, and a call to code moves it from an account to itself.
    pub fn moves_value(&self) -> bool {
        self.error.is_none()
            && !self.undone
            && !self.value.is_zero()
            && !matches!(
                self.kind,
                FrameKind::DelegateCall | FrameKind::StaticCall | FrameKind::CallCode
            )
    }
}

/// Marks what a failing call took back: every frame below one with an error.
pub fn mark_undone(frames: &mut [Frame]) {
    let mut failed: Vec<Vec<u32>> = Vec::new();
    for frame in frames {
        // Entered order: once a path no longer lies below the last failure, that subtree is done.
        while failed.last().is_some_and(|top| !frame.path.starts_with(top)) {
            failed.pop();
        }
        frame.undone |= !failed.is_empty();
        if frame.error.is_some() {
            failed.push(frame.path.clone());
        }
    }
}
