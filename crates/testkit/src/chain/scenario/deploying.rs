//! Contracts that come and go: creation by transaction, CREATE, CREATE2, SELFDESTRUCT.

use super::{Plan, ScenarioContext, nested::revert_output};
use crate::chain::{
    frame::{Frame, FrameError, FrameKind},
    state::Move,
};
use alloy_primitives::{Address, B256, Bytes, keccak256};
use rand::Rng;

const DEPLOY: u64 = 90_000;

pub fn creation(context: &mut ScenarioContext) -> Plan {
    let made = context.sender.create(context.nonce);
    let value = if context.rng.random_bool(0.5) { context.amount(context.sender) } else { 0 };
    let root = Frame::new(FrameKind::Create, context.sender, made, value)
        .input(init_code(context))
        .output(runtime_code(context))
        .gas(DEPLOY);
    context.state.set_nonce(made, 1);
    Plan { creates: Some(made), ..Plan::call(root) }
}

pub fn failed_creation(context: &mut ScenarioContext) -> Plan {
    let made = context.sender.create(context.nonce);
    let value = context.amount(context.sender);
    let root = Frame::new(FrameKind::Create, context.sender, made, value)
        .input(init_code(context))
        .output(revert_output("no money please"))
        .gas(DEPLOY / 2)
        .error(FrameError::Reverted(Some("no money please")));
    Plan { creates: Some(made), ..Plan::call(root) }
}

/// One CREATE, one CREATE2 and one CREATE that fails and keeps nothing.
pub fn factory(context: &mut ScenarioContext) -> Plan {
    let factory = context.actors.contracts.factory;
    let value = context.amount(context.sender);
    let part = value / 4;
    let first = created(context, FrameKind::Create, part);
    let second = created(context, FrameKind::Create2, part);
    let failed = created(context, FrameKind::Create, part)
        .output(revert_output("constructor"))
        .error(FrameError::Reverted(Some("constructor")));
    let moves = [&first, &second].map(|f| Move { from: factory, to: f.to, value: part });
    for made in [first.to, second.to] {
        context.state.set_nonce(made, 1);
    }
    let root = Frame::call(context.sender, factory, value).input(context.call_data(2)).gas(12_000);
    Plan::call(root.child(first).child(second).child(failed)).moves(moves)
}

/// A contract is made, called, and destroys itself in favour of somebody, all in one transaction.
pub fn self_destruct(context: &mut ScenarioContext) -> Plan {
    let factory = context.actors.contracts.factory;
    let [_, beneficiary, _] = context.actors.internal_only;
    let value = context.amount(context.sender);
    let born = created(context, FrameKind::Create, value);
    let brief = born.to;
    let end = Frame::new(FrameKind::SelfDestruct, brief, beneficiary, value);
    let call = Frame::call(factory, brief, 0).input(context.call_data(0)).gas(12_600).child(end);
    let root = Frame::call(context.sender, factory, value).input(context.call_data(1)).gas(9_000);
    Plan::call(root.child(born).child(call)).moves([
        Move { from: factory, to: brief, value },
        Move { from: brief, to: beneficiary, value },
    ])
}

/// A creation by the factory, at the address the protocol gives it. Uses up one of its nonces.
fn created(context: &mut ScenarioContext, kind: FrameKind, value: u128) -> Frame {
    let factory = context.actors.contracts.factory;
    let init = init_code(context);
    let nonce = context.state.take_nonce(factory);
    let made = match kind {
        FrameKind::Create2 => create2_address(context, factory, &init),
        _ => factory.create(nonce),
    };
    Frame::new(kind, factory, made, value).input(init).output(runtime_code(context)).gas(DEPLOY)
}

fn create2_address(context: &mut ScenarioContext, factory: Address, init: &Bytes) -> Address {
    let salt = B256::from(context.rng.random::<[u8; 32]>());
    factory.create2(salt, keccak256(init))
}

fn init_code(context: &mut ScenarioContext) -> Bytes {
    let mut code = vec![0x60, 0x80, 0x60, 0x40, 0x52];
    code.extend(context.rng.random::<[u8; 32]>());
    code.extend([0x00; 24]);
    code.into()
}

fn runtime_code(context: &mut ScenarioContext) -> Bytes {
    let mut code = vec![0x60, 0x80, 0x60, 0x40, 0x52, 0x00];
    code.extend(context.rng.random::<[u8; 16]>());
    code.into()
}
