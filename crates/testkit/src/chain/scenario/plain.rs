//! Transactions without internal calls: transfers, an out-of-gas call, a call to a fresh contract.

use super::{Plan, ScenarioContext};
use crate::chain::frame::{Frame, FrameError};

pub fn transfer(context: &mut ScenarioContext) -> Plan {
    let (to, value) = (context.receiver(), context.amount(context.sender));
    Plan::call(Frame::call(context.sender, to, value))
}

pub fn self_transfer(context: &mut ScenarioContext) -> Plan {
    let value = context.amount(context.sender);
    Plan::call(Frame::call(context.sender, context.sender, value))
}

pub fn zero_value(context: &mut ScenarioContext) -> Plan {
    let to = context.receiver();
    Plan::call(Frame::call(context.sender, to, 0))
}

pub fn out_of_gas(context: &mut ScenarioContext) -> Plan {
    let (to, value) = (context.actors.contracts.router, context.amount(context.sender));
    let input = context.call_data(2);
    let root = Frame::call(context.sender, to, value).input(input).gas(40_000);
    Plan::call(root.error(FrameError::OutOfGas))
}

/// Pays into a contract made in the parent block, so that created addresses have a history, too.
pub fn call_new_contract(context: &mut ScenarioContext) -> Plan {
    let Some(to) = context.recent.first().copied() else { return transfer(context) };
    let (value, input) = (context.amount(context.sender), context.call_data(1));
    Plan::call(Frame::call(context.sender, to, value).input(input).gas(12_000))
}
