//! One call frame of a transaction, and the tree of them.
//!
//! Scenarios build the tree with `own_gas` only; `settle_gas` turns that into the gas every frame was
//! given and used. Both trace dialects are rendered from the same tree.

use alloy_primitives::{Address, Bytes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    Call,
    DelegateCall,
    StaticCall,
    CallCode,
    Create,
    Create2,
    SelfDestruct,
}

impl FrameKind {
    pub fn is_create(self) -> bool {
        matches!(self, Self::Create | Self::Create2)
    }

    /// Delegate, static and code calls never move coins, even where a trace shows a value on them.
    pub fn moves_value(self) -> bool {
        matches!(self, Self::Call | Self::Create | Self::Create2 | Self::SelfDestruct)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    Reverted(Option<&'static str>),
    OutOfGas,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: FrameKind,
    pub from: Address,
    /// The callee; for creations the new contract; for a self-destruct who receives the balance.
    pub to: Address,
    pub value: u128,
    /// Call data, or init code of a creation.
    pub input: Bytes,
    /// Returned bytes, or the code of the contract that was made.
    pub output: Bytes,
    pub error: Option<FrameError>,
    /// Gas spent in this frame alone, without its children.
    pub own_gas: u64,
    pub gas: u64,
    pub gas_used: u64,
    pub calls: Vec<Frame>,
}

impl Frame {
    pub fn new(kind: FrameKind, from: Address, to: Address, value: u128) -> Self {
        Self {
            kind,
            from,
            to,
            value,
            input: Bytes::new(),
            output: Bytes::new(),
            error: None,
            own_gas: 0,
            gas: 0,
            gas_used: 0,
            calls: Vec::new(),
        }
    }

    pub fn call(from: Address, to: Address, value: u128) -> Self {
        Self::new(FrameKind::Call, from, to, value)
    }

    pub fn input(mut self, input: impl Into<Bytes>) -> Self {
        self.input = input.into();
        self
    }

    pub fn output(mut self, output: impl Into<Bytes>) -> Self {
        self.output = output.into();
        self
    }

    pub fn gas(mut self, own_gas: u64) -> Self {
        self.own_gas = own_gas;
        self
    }

    pub fn error(mut self, error: FrameError) -> Self {
        self.error = Some(error);
        self
    }

    pub fn child(mut self, child: Frame) -> Self {
        self.calls.push(child);
        self
    }

    /// Gas this frame and everything under it needs.
    pub fn total_gas(&self) -> u64 {
        self.own_gas + self.calls.iter().map(Frame::total_gas).sum::<u64>()
    }

    /// Hands `available` gas down the tree, 63/64 at each step as the EVM does.
    pub fn settle_gas(&mut self, available: u64) {
        if self.kind == FrameKind::SelfDestruct {
            return; // tracers report these without gas
        }
        self.gas = available;
        let mut spent = self.own_gas;
        for call in &mut self.calls {
            let left = available.saturating_sub(spent);
            let given = left - left / 64;
            call.settle_gas(given.max(call.total_gas()));
            spent += call.total_gas();
        }
        self.gas_used = spent;
    }
}
