//! The frames of one transaction as a tree: each must be possible below the one that made it.
//!
//! In: frames in the order of entry, root first. Out: the first that cannot be. Holds for both trace dialects:
//! what only one of them tells is no rule here. What the EVM leaves open (how much is sent, whether a call
//! fails) cannot be told from the tree: that is what `audit` is for.

use alloy_primitives::{Address, U256};
use model::raw::{Frame, FrameKind};

use super::made_in_tx::MadeInTx;

const TREE: &str = "trace tree";
const CALLER: &str = "trace caller";
const VALUE: &str = "trace value";
const GAS: &str = "trace gas";
const DEPTH: &str = "trace depth";
const CREATION: &str = "trace creation";
const ROLLBACK: &str = "trace rollback";

/// Names of what can be wrong.
pub(super) const CHECKS: [&str; 7] = [TREE, CALLER, VALUE, GAS, DEPTH, CREATION, ROLLBACK];

/// Calls below calls.
const DEPTH_MAX: usize = 1_024;
/// What a call that carries value is given on top.
const STIPEND: u64 = 2_300;
/// The last of the precompiled contracts; they call nobody.
const PRECOMPILE_LAST: u8 = 0x11;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeRules {
    /// Calls are numbered without a gap; a chain with rules of its own is held to no more.
    Shape,
    Evm,
}

pub(super) struct Misfit {
    pub check: &'static str,
    pub expected: String,
    pub got: String,
}

/// A frame whose calls are being looked at.
struct Open<'a> {
    frame: &'a Frame,
    /// The account that acts in it. A creation that failed may not name it: its first call does.
    actor: Option<Address>,
    /// What the code in it sees as sent.
    value: U256,
    is_static: bool,
    /// It, or a frame above it, failed.
    is_undone: bool,
    calls: u32,
    calls_gas_used: u64,
}

pub(super) fn check(frames: &[Frame], rules: TreeRules) -> Result<(), Misfit> {
    let mut open: Vec<Open> = Vec::new();
    let mut made = MadeInTx::default();
    for (i, frame) in frames.iter().enumerate() {
        let depth = frame.path.len();
        let is_next = if depth == 0 { i == 0 } else { depth <= open.len() };
        if is_next {
            open.truncate(depth);
        }
        let is_next = is_next && open.last().is_none_or(|parent| parent.is_next(frame));
        if !is_next {
            let after: Vec<u32> = open.last().map_or(Vec::new(), |last| last.frame.path.clone());
            let got = format!("{:?} after {} calls of {after:?}", frame.path, calls(&open));
            return Err(misfit(TREE, "calls numbered without a gap", got));
        }
        let inner = match open.last_mut() {
            None => Open::root(frame),
            Some(parent) => {
                parent.calls += 1;
                if rules == TreeRules::Evm {
                    parent.can_have(frame)?;
                }
                parent.below(frame)
            }
        };
        if rules == TreeRules::Evm {
            can_be(frame)?;
            if !made.is_possible(frame) {
                return Err(misfit(
                    CREATION,
                    "the address that its maker's nonce gives",
                    show(frame),
                ));
            }
        }
        open.push(inner);
    }
    Ok(())
}

fn calls(open: &[Open]) -> u32 {
    open.last().map_or(0, |parent| parent.calls)
}

impl<'a> Open<'a> {
    fn root(frame: &'a Frame) -> Self {
        let is_undone = frame.error.is_some();
        let actor = actor(frame);
        let (value, is_static) = (frame.value, false);
        Open { frame, actor, value, is_static, is_undone, calls: 0, calls_gas_used: 0 }
    }

    fn below(&self, frame: &'a Frame) -> Self {
        let value = match frame.kind {
            FrameKind::DelegateCall => self.value,
            FrameKind::StaticCall => U256::ZERO,
            _ => frame.value,
        };
        Open {
            value,
            is_static: self.is_static || frame.kind == FrameKind::StaticCall,
            is_undone: self.is_undone || frame.error.is_some(),
            ..Open::root(frame)
        }
    }

    fn is_next(&self, frame: &Frame) -> bool {
        frame
            .path
            .split_last()
            .is_some_and(|(index, above)| *index == self.calls && above == self.frame.path)
    }

    /// What the frame says, seen from the one that it was made in.
    fn can_have(&mut self, frame: &Frame) -> Result<(), Misfit> {
        if self.frame.kind == FrameKind::SelfDestruct || is_precompile(self.frame) {
            let expected = format!("no call below {}", show(self.frame));
            return Err(misfit(TREE, &expected, show(frame)));
        }
        let actor = *self.actor.get_or_insert(frame.from);
        if frame.from != actor {
            return Err(misfit(CALLER, &format!("from {actor}, who acts there"), show(frame)));
        }
        let succeeded = frame.error.is_none();
        let writes = frame.kind.is_create()
            || frame.kind == FrameKind::SelfDestruct
            || frame.kind == FrameKind::Call && !frame.value.is_zero();
        if self.is_static && succeeded && writes {
            return Err(misfit(VALUE, "nothing that writes below a static call", show(frame)));
        }
        let borrowed = frame.kind == FrameKind::DelegateCall && !frame.value.is_zero();
        if borrowed && frame.value != self.value {
            return Err(misfit(VALUE, &format!("its caller's value {}", self.value), show(frame)));
        }
        // A self-destruct has no gas of its own, and some exports leave it out everywhere.
        if self.frame.gas > 0 && frame.gas > self.frame.gas.saturating_add(STIPEND) {
            let expected = format!("no more gas than its caller's {}", self.frame.gas);
            return Err(misfit(GAS, &expected, show(frame)));
        }
        // The root's is less what was refunded, and a frame that failed may not tell what it used.
        self.calls_gas_used = self.calls_gas_used.saturating_add(frame.gas_used);
        let is_told = !self.frame.path.is_empty() && self.frame.error.is_none();
        if is_told && self.calls_gas_used > self.frame.gas_used {
            let expected = format!("calls that use no more than the {}", self.frame.gas_used);
            let got = format!("{} with {}", self.calls_gas_used, show(frame));
            return Err(misfit(GAS, &expected, got));
        }
        // Marks of a file: what nothing above it took back stands.
        if frame.undone && !self.is_undone && frame.error.is_none() {
            return Err(misfit(ROLLBACK, "a frame that failed above it", show(frame)));
        }
        Ok(())
    }
}

/// What the frame says, seen by itself.
fn can_be(frame: &Frame) -> Result<(), Misfit> {
    let ends = frame.error.is_some() || frame.kind == FrameKind::SelfDestruct;
    // One that would be too deep fails there, and may be told of.
    if frame.path.len() > DEPTH_MAX + usize::from(ends) {
        let got = format!("a call at depth {}", frame.path.len());
        return Err(misfit(DEPTH, &format!("calls at most {DEPTH_MAX} deep"), got));
    }
    if frame.to.is_none() && frame.error.is_none() {
        let expected =
            if frame.kind.is_create() { "the address of what was made" } else { "a receiver" };
        return Err(misfit(CREATION, expected, show(frame)));
    }
    if frame.kind == FrameKind::StaticCall && !frame.value.is_zero() {
        return Err(misfit(VALUE, "a static call without value", show(frame)));
    }
    // The root's gas is told with or without what the transaction costs before it runs: held against that.
    if !frame.path.is_empty() && frame.gas > 0 && frame.gas_used > frame.gas {
        return Err(misfit(GAS, &format!("no more than its {} gas used", frame.gas), show(frame)));
    }
    Ok(())
}

/// Who acts in the frame.
fn actor(frame: &Frame) -> Option<Address> {
    match frame.kind {
        FrameKind::DelegateCall | FrameKind::CallCode => Some(frame.from),
        _ => frame.to,
    }
}

fn is_precompile(frame: &Frame) -> bool {
    let Some(to) = frame.to.filter(|_| !frame.kind.is_create()) else { return false };
    matches!(to.as_slice().split_last(), Some((1..=PRECOMPILE_LAST, rest)) if rest.iter().all(|b| *b == 0))
}

fn misfit(check: &'static str, expected: &str, got: String) -> Misfit {
    Misfit { check, expected: expected.to_owned(), got }
}

/// For the evidence.
fn show(frame: &Frame) -> String {
    let Frame { path, kind, from, value, gas, gas_used, .. } = frame;
    let to = frame.to.map_or("nobody".to_owned(), |to| to.to_string());
    let name = kind.name();
    format!("{name} {path:?} from {from} to {to}, value {value}, gas {gas}, used {gas_used}")
}
