//! Calls that run foreign code: DELEGATECALL, STATICCALL, CALLCODE and a precompile.
//!
//! Tracers show a value on DELEGATECALL and CALLCODE frames although no coin moves by them. Only the
//! plain CALL below counts.

use super::{Plan, ScenarioContext};
use crate::chain::{
    frame::{Frame, FrameKind},
    state::Move,
};
use alloy_primitives::Address;

/// `ecrecover`.
const PRECOMPILE: Address = Address::with_last_byte(1);

pub fn proxy(context: &mut ScenarioContext) -> Plan {
    let c = &context.actors.contracts;
    let (proxy, implementation, library) = (c.proxy, c.implementation, c.lent_code);
    let value = context.amount(context.sender);
    let paid = context.actors.any_wallet(context.rng);
    let recover = Frame::new(FrameKind::StaticCall, library, PRECOMPILE, 0)
        .input(context.call_data(4))
        .output(context.sender.into_word().to_vec())
        .gas(3_000);
    let check = Frame::new(FrameKind::StaticCall, proxy, library, 0)
        .input(context.call_data(1))
        .output(vec![1u8; 32])
        .gas(2_600)
        .child(recover);
    // CALLCODE runs the library's code on the caller itself: its value goes from the proxy to the proxy.
    let borrowed = Frame::new(FrameKind::CallCode, proxy, library, value / 2)
        .input(context.call_data(1))
        .gas(4_400);
    let pay = Frame::call(proxy, paid, value).gas(6_700);
    let delegated = Frame::new(FrameKind::DelegateCall, proxy, implementation, value)
        .input(context.call_data(2))
        .gas(15_000)
        .child(check)
        .child(borrowed)
        .child(pay);
    let root = Frame::call(context.sender, proxy, value).input(delegated.input.clone()).gas(2_600);
    Plan::call(root.child(delegated)).moves([Move { from: proxy, to: paid, value }])
}
