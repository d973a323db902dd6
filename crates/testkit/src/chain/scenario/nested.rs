//! Contract calls that pass coins on: several receivers, a deep chain, frames that are undone.

use super::{Plan, ScenarioContext};
use crate::chain::{
    frame::{Frame, FrameError, FrameKind},
    state::Move,
};
use alloy_primitives::Bytes;

const STIPEND: u64 = 6_700;

/// Part of the incoming value goes to each of several receivers; the rest stays in the contract.
pub fn split(context: &mut ScenarioContext) -> Plan {
    let splitter = context.actors.contracts.splitter;
    let [internal_only, ..] = context.actors.internal_only;
    let value = context.amount(context.sender);
    let receivers = [
        internal_only,
        context.actors.any_wallet(context.rng),
        context.actors.any_wallet(context.rng),
    ];
    let part = value / 4;
    let mut root =
        Frame::call(context.sender, splitter, value).gas(9_000).input(context.call_data(3));
    for to in receivers {
        root = root.child(Frame::call(splitter, to, part).gas(STIPEND));
    }
    Plan::call(root).moves(receivers.map(|to| Move { from: splitter, to, value: part }))
}

/// Sender → five hops → a wallet; every hop keeps a little.
pub fn deep_chain(context: &mut ScenarioContext) -> Plan {
    let value = context.amount(context.sender);
    let fee = value / 100;
    let last = context.actors.any_wallet(context.rng);
    let mut path = vec![context.sender];
    path.extend(context.actors.contracts.hops);
    path.push(last);
    let amounts = (0..).map(|hop: u128| value - fee * hop);
    let steps: Vec<Move> = path
        .iter()
        .zip(path.iter().skip(1))
        .zip(amounts)
        .map(|((from, to), value)| Move { from: *from, to: *to, value })
        .collect();
    let mut frame: Option<Frame> = None;
    for step in steps.iter().rev() {
        let mut outer = Frame::call(step.from, step.to, step.value).gas(STIPEND);
        if let Some(inner) = frame {
            outer = outer.input(context.call_data(1)).child(inner);
        }
        frame = Some(outer);
    }
    let root = frame.unwrap_or_else(|| Frame::call(context.sender, last, value));
    Plan::call(root).moves(steps.into_iter().skip(1))
}

/// One payment stands; then a frame pays two receivers and reverts, which undoes both.
/// The last internal-only address is paid in such frames alone: it must never get a row.
pub fn inner_revert(context: &mut ScenarioContext) -> Plan {
    let router = context.actors.contracts.router;
    let [hop, ..] = context.actors.contracts.hops;
    let [.., undone_only] = context.actors.internal_only;
    let value = context.amount(context.sender);
    let part = value / 8;
    let paid = context.actors.any_wallet(context.rng);
    let unpaid = context.actors.any_wallet(context.rng);
    let reverting = Frame::call(router, hop, part * 2)
        .input(context.call_data(1))
        .gas(5_000)
        .child(Frame::call(hop, unpaid, part).gas(STIPEND))
        .child(Frame::call(hop, undone_only, part).gas(STIPEND))
        .output(revert_output("hop: slippage"))
        .error(FrameError::Reverted(Some("hop: slippage")));
    let root = Frame::call(context.sender, router, value)
        .input(context.call_data(2))
        .gas(11_000)
        .child(Frame::call(router, paid, part).gas(STIPEND))
        .child(reverting);
    Plan::call(root).moves([Move { from: router, to: paid, value: part }])
}

/// The whole transaction reverts although its inner call went well: nothing moves but the fee.
pub fn failed_call(context: &mut ScenarioContext) -> Plan {
    let router = context.actors.contracts.router;
    let value = context.amount(context.sender);
    let unpaid = context.actors.any_wallet(context.rng);
    let root = Frame::call(context.sender, router, value)
        .input(context.call_data(2))
        .gas(8_000)
        .child(Frame::call(router, unpaid, value / 2).gas(STIPEND))
        .output(revert_output("router: expired"))
        .error(FrameError::Reverted(Some("router: expired")));
    Plan::call(root)
}

/// The vault is never called by a transaction itself: it receives and pays inside of others only.
pub fn vault_payout(context: &mut ScenarioContext) -> Plan {
    let (router, vault) = (context.actors.contracts.router, context.actors.contracts.vault);
    let [internal_only, ..] = context.actors.internal_only;
    let value = context.amount(context.sender);
    let payout = value / 3;
    let winner = context.actors.any_wallet(context.rng);
    let check = Frame::new(FrameKind::StaticCall, vault, router, 0).gas(2_600);
    let pay = Frame::call(router, vault, value)
        .input(context.call_data(1))
        .gas(7_000)
        .child(check.input(context.call_data(1)).output(vec![1u8; 32]))
        .child(Frame::call(vault, internal_only, payout).gas(STIPEND))
        .child(Frame::call(vault, winner, payout).gas(STIPEND));
    let root = Frame::call(context.sender, router, value).input(context.call_data(3)).gas(9_000);
    Plan::call(root.child(pay)).moves([
        Move { from: router, to: vault, value },
        Move { from: vault, to: internal_only, value: payout },
        Move { from: vault, to: winner, value: payout },
    ])
}

/// `Error(string)` as Solidity encodes it. Reasons here fit in one word.
pub fn revert_output(reason: &str) -> Bytes {
    let mut out = vec![0x08, 0xc3, 0x79, 0xa0];
    out.extend(word(32));
    out.extend(word(reason.len() as u8));
    out.extend(reason.bytes().chain(std::iter::repeat(0)).take(32));
    out.into()
}

fn word(n: u8) -> [u8; 32] {
    let mut word = [0; 32];
    if let Some(last) = word.last_mut() {
        *last = n;
    }
    word
}
